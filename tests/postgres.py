"""A private PostgreSQL for the tests of the hub: one server a run, a database a test."""

import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import pytest

_NUMBERS = count(1)


def _programs():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))
    found = found[-1:] or [*filter(None, [shutil.which("postgres")])]
    return Path(found[0]).parent if found else None


class Cluster:
    """A server in a folder, reached by a socket there alone; root runs it as the user postgres."""

    def __init__(self, programs, settings=""):
        self.programs = programs
        self.folder = Path(tempfile.mkdtemp(prefix="ademem-pg-"))
        self.user = "postgres" if os.geteuid() == 0 else None
        if self.user:
            os.chown(self.folder, pwd.getpwnam(self.user).pw_uid, -1)
        os.chmod(self.folder, 0o755)
        self.run(
            "initdb",
            "-D",
            self.folder / "data",
            "--auth=trust",
            "--username=postgres",
            "--no-sync",
            "--encoding=UTF8",
        )
        with (self.folder / "data/postgresql.conf").open("a") as file:
            file.write(settings.format(folder=self.folder))
        self.start()

    def run(self, program, *options):
        """Run a program as the user of the server."""
        subprocess.run(
            [self.programs / program, *options],
            user=self.user,
            cwd=self.folder,
            check=True,
            capture_output=True,
        )

    def copy(self, one, other):
        """Copy a folder as the user of the server, who alone may read it."""
        subprocess.run(["cp", "-a", one, other], user=self.user, check=True)

    def start(self):
        options = f"-F -c listen_addresses= -k {self.folder} -c max_connections=60"
        options += " -c autovacuum=off"  # which looks at the database of each test again and again
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.programs / "postgres", "-D", self.folder / "data", *options.split()],
                user=self.user,
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        for _ in range(600):
            asked = [self.programs / "pg_isready", "-q", "-h", self.folder]
            if subprocess.run(asked, check=False).returncode == 0:
                return
            assert self.process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.05)
        raise AssertionError("PostgreSQL does not start")

    def kill(self):
        """Kill all of its processes, as a power cut would."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        for process in (self.process.pid, *map(int, children.read_text().split())):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.process.wait()
        (self.folder / "data/postmaster.pid").unlink(missing_ok=True)

    def dsn(self, database="postgres", role="postgres"):
        return f"postgresql://{role}@/{database}?host={self.folder}"

    def stop(self):
        self.process.send_signal(signal.SIGINT)  # ends connections, too
        self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)


class Database:
    """One database of a hub, and who may do what in it."""

    def __init__(self, cluster, name):
        self.cluster = cluster
        self.name = name
        self.owner, self.server, self.superuser = (
            cluster.dsn(name, role) for role in ("hub_owner", "hub_server", "postgres")
        )


@contextmanager
def bare(settings=""):
    """A cluster with nothing in it."""
    programs = _programs()
    if programs is None:
        if os.environ.get("CI") == "true":
            pytest.fail("PostgreSQL is not installed")
        pytest.skip("PostgreSQL is not installed")
    made = Cluster(programs, settings)
    try:
        yield made
    finally:
        made.stop()


@contextmanager
def serving(settings=""):
    """A cluster with the hub's roles and the database that others are made of."""
    with bare(settings) as made:
        from ademem.plugins.hub.store import database

        with database.connect(made.dsn()) as db:
            db.execute("create role hub_owner login createrole")
            db.execute("create database template_hub owner hub_owner")
        with database.connect(made.dsn("template_hub", "hub_owner")) as db:
            database.migrate(db)
            db.execute("create role hub_server login in role ademem_hub_server")
        yield made


@pytest.fixture(scope="session")
def cluster():
    with serving() as made:
        yield made


def make_database(cluster):
    """Make a database with the hub's schema, and nobody in it."""
    from ademem.plugins.hub.store import database

    name = f"hub_{next(_NUMBERS)}"
    with database.connect(cluster.dsn()) as db:
        # From 15 on all pages go through the log unless files are copied, as before.
        way = "strategy file_copy" if db.info.server_version >= 150_000 else ""
        db.execute(f"create database {name} template template_hub owner hub_owner {way}")
    return Database(cluster, name)


@pytest.fixture
def hub_database(cluster):
    return make_database(cluster)

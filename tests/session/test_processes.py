"""Hooks as Claude Code starts them, on disks and databases as they are on a bad day."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from compileall import compile_dir
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

import ademem
from ademem import operations
from ademem.core import trust
from ademem.core.memory import Draft
from ademem.core.project import at
from ademem.operations import doctor, files, install, searching, writing
from ademem.operations.install.registration import EVENTS
from ademem.search.engine import Filters
from ademem.worker import read_only as read_only_copies
from tests import persons
from tests.examples import examples
from tests.repositories import Repository
from tests.session.mutants import mutants
from tests.session.payloads import LESSON, NAMES, ODD, payload, understood

pytestmark = pytest.mark.slow

TIMEOUT_S = {event.hook: event.timeout for event in EVENTS}
SESSION_END_S = 1.5
"""What the client grants, whatever is registered."""

MUTANTS = examples(300, share=10)

RULE = "Login sessions expire after ten minutes"

WITHOUT_PRIVILEGES = (
    ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
)
"""What makes the modes of files count for root as well."""

LIMITED = ["sh", "-c", 'ulimit -f 16; exec "$@"', "sh"]
"""No file grows beyond 8 or 16 KB, which is less than a database needs to be opened."""

SMALL_DISK = """
cp -a "$1" "$1.kept" && mount -t tmpfs -o size=2m tmpfs "$1" && cp -a "$1.kept/." "$1" || exit 1
cat /dev/zero >"$1/filler" 2>/dev/null
echo full
read -r _
rm "$1/filler"
cp -a "$1/." "$1.kept"
"""
PRIVATE_MOUNTS = ["unshare", "--map-root-user", "--mount"]


@dataclass
class Ran:
    """What came of one hook."""

    hook: str
    code: int
    said: str
    complaint: str
    seconds: float

    @property
    def well(self):
        return (self.code, self.complaint) == (0, "") and understood(self.hook, self.said)


IDLE = "post_tool_batch"
"""The shell answers this one unless a denial carried memories."""


class Machine:
    """A project with the hooks that `ademem install` registers, and a shell to start them in."""

    def __init__(self, folder):
        self.folder = folder
        self.root = folder / "my project"
        self.ade = self.root / ".ade"
        self.database = self.ade / "ade.db"
        self.within = []
        """A command line that starts the command line given to it."""
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "CLAUDE_PROJECT_DIR": str(self.root),
            "ADEMEM_JOBS_AUTO": "false",
            "ADEMEM_GUARD_MODE": "strict",
        }
        self.root.mkdir()
        operations.init(str(self.root), environment=self.environment)
        python, hooks = sys.executable, install.hooks_folder()
        install.install(str(self.root), install.Where.LOCAL, python=python, hooks=hooks)
        self.commands = install.find_commands(str(self.root), install.Where.LOCAL)

    def fire(self, hook, raw=None, **keys):
        if raw is None:
            raw = json.dumps(payload(hook, cwd=str(self.root)) | keys).encode()
        started = time.monotonic()
        command = [*self.within, "sh", "-c", self.commands[NAMES[hook]]]
        if hook in ("session_start", "user_prompt_submit"):
            ran = persons.type_prompt(command, raw, self.environment, self.root)
        else:
            ran = subprocess.run(
                command,
                input=raw,
                capture_output=True,
                cwd=self.root,
                env=self.environment,
                timeout=60,
            )
        seconds = time.monotonic() - started
        return Ran(hook, ran.returncode, ran.stdout.decode(), ran.stderr.decode(), seconds)

    def type(self, *arguments):
        command = [str(Path(sys.executable).with_name("ademem")), *arguments]
        ran = persons.type_command(command, self.environment, self.root)
        assert ran.returncode == 0, ran.stderr

    def fire_all(self, given, *, at_once=2):
        """Fire each (hook, raw), so many at a time."""
        with ThreadPoolExecutor(at_once) as pool:
            return list(pool.map(lambda one: self.fire(*one), given))

    def memories(self):
        return operations.open_memories(str(self.root), environment=self.environment)

    def live(self):
        with self.memories() as memories:
            found = searching.list_memories(memories, Filters(statuses=("promoted", "candidate")))
        return sorted(memory.content for memory in found)

    def settle(self):
        """Leave the database as one file, as whoever closes it last does."""
        self.memories().close()

    def arm(self):
        """A turn that has to consult memory, in a project that has something to recall."""
        with self.memories() as memories:
            writing.write(memories, Draft(content=RULE, category="convention", promoted=True))
        self.fire("user_prompt_submit", prompt="Repair the login")

    def denies(self, id):
        return '"deny"' in self.fire("pre_tool_use", tool_use_id=id).said

    def failures(self):
        logs = [self.ade / "log" / "hooks.log", *self.folder.glob("ademem-*/hooks.log")]
        lines = [line for log in logs if log.exists() for line in log.read_text().splitlines()]
        return [json.loads(line) for line in lines]

    def check(self, check):
        now = datetime.now(UTC)
        project = at(str(self.root))
        return check(doctor.Patient(project=project, environment=self.environment, now=now))


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Have the package compiled: where files stay short, a hook would leave half of a module."""
    compile_dir(os.path.dirname(ademem.__file__), quiet=2)


@pytest.fixture
def machine(tmp_path):
    machine = Machine(tmp_path)
    yield machine
    copies = read_only_copies.list_folders(at(str(machine.root)), machine.environment)
    shutil.rmtree(copies[-1], ignore_errors=True)


def read_only(machine):
    return _read_only(machine, machine.ade)


@contextmanager
def _read_only(machine, folder):
    machine.within = WITHOUT_PRIVILEGES
    modes = {path: path.stat().st_mode for path in (folder, *folder.rglob("*"))}
    for path, mode in modes.items():
        path.chmod(mode & 0o555)
    yield
    for path, mode in modes.items():
        path.chmod(mode)


@contextmanager
def no_room_in_files(machine):
    machine.within = LIMITED
    yield


def full_disk(machine):
    return _full_disk(machine, machine.ade)


def full_disk_of_all(machine):
    """Neither the project nor the home has room for a copy; memory has."""
    return _full_disk(machine, machine.folder)


@contextmanager
def _full_disk(machine, folder):
    """The folder lies on a disk of its own for as long, which has no room left."""
    keeper = subprocess.Popen(
        [*PRIVATE_MOUNTS, "sh", "-c", SMALL_DISK, "sh", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with keeper:
        assert keeper.stdout.readline() == b"full\n"
        target = f"--target={keeper.pid}"
        machine.within = ["nsenter", target, "--user", "--mount", "--preserve-credentials"]
        yield
        keeper.stdin.close()
    shutil.rmtree(folder)
    folder.with_name(f"{folder.name}.kept").rename(folder)


def _can_mount():
    if not shutil.which("unshare") or not shutil.which("nsenter"):
        return False
    mount = [*PRIVATE_MOUNTS, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(mount, capture_output=True).returncode == 0


@contextmanager
def locked(machine):
    """Somebody writes, and does not stop."""
    with closing(sqlite3.connect(machine.database, isolation_level=None)) as db:
        db.execute("begin exclusive")
        yield


@contextmanager
def unreadable(machine):
    """Somebody has the database for himself."""
    with closing(sqlite3.connect(machine.database, isolation_level=None)) as db:
        db.execute("pragma locking_mode = exclusive")
        db.execute("begin exclusive")
        yield


@contextmanager
def no_database(machine):
    machine.settle()
    kept = machine.folder / "kept.db"
    machine.database.rename(kept)
    yield
    kept.rename(machine.database)


@contextmanager
def read_only_without_database(machine):
    with no_database(machine), read_only(machine):
        yield


@contextmanager
def no_room_for_a_database(machine):
    with no_database(machine), no_room_in_files(machine):
        yield


@contextmanager
def overwritten(machine, first, last=None):
    machine.settle()
    kept = machine.database.read_bytes()
    end = len(kept) if last is None else last
    machine.database.write_bytes(kept[:first] + b"\xa5" * (end - first) + kept[end:])
    yield
    machine.database.write_bytes(kept)


def damaged_header(machine):
    return overwritten(machine, 0, 100)


def damaged_pages(machine):
    return overwritten(machine, 4096)


TROUBLES = [
    *(no_room_in_files, no_room_for_a_database, *([full_disk] if _can_mount() else [])),
    damaged_header,
    damaged_pages,
]


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.__name__)
def test_in_trouble_hooks_end_well_fail_open_and_lose_nothing(machine, trouble):
    """Row E33 of hooks."""

    machine.arm()
    assert machine.denies("toolu_1")

    with trouble(machine):
        ran = machine.fire_all((hook, None) for hook in NAMES)
    assert [one for one in ran if not one.well] == []
    said = {one.hook: one.said for one in ran if one.said}
    failed = {failure["event"] for failure in machine.failures()}
    guarded = {"pre_tool_use"} if trouble is full_disk else set()
    assert failed >= NAMES.keys() - {"pre_compact", IDLE} - guarded
    assert failed.isdisjoint(guarded)
    notices = {hook: json.loads(said.pop(hook)) for hook in failed & said.keys()}
    assert notices
    assert all(
        f"its hook {hook} failed" in notice["systemMessage"] for hook, notice in notices.items()
    )
    assert guarded <= said.keys() <= {"pre_compact"} | guarded
    finding = machine.check(doctor.hooks_do_not_fail)
    assert not finding.ok
    assert ("the guard let calls pass" in finding.message) is not bool(guarded)

    machine.within = []
    assert machine.check(doctor.database_is_sound).ok
    assert machine.live() == [RULE]
    assert machine.denies("toolu_2")
    assert machine.fire("post_tool_use").well
    assert machine.live() == [RULE, LESSON]
    assert list(machine.ade.glob("*.new*")) == []


@pytest.mark.parametrize("trouble", [read_only, read_only_without_database])
def test_where_nothing_can_be_written_a_session_is_briefed_from_a_copy(machine, trouble):
    machine.arm()
    with trouble(machine):
        ran = machine.fire_all((hook, None) for hook in NAMES)
        dictated = machine.fire("user_prompt_submit", prompt="remember: deploys need a ticket")
    machine.within = []

    assert json.loads(dictated.said)["systemMessage"].endswith("; your text was not stored")
    assert [one for one in ran if not one.well] == []
    assert "session_start" in {one.hook for one in ran if one.said}
    assert machine.failures() == []
    assert machine.live() == [RULE]
    assert machine.denies("toolu_2")


@pytest.mark.parametrize(
    "trouble", [read_only, *([full_disk, full_disk_of_all] if _can_mount() else [])]
)
def test_where_nothing_can_be_written_a_rule_denies_once_from_a_copy(machine, trouble):
    machine.environment["ADEMEM_GUARD_MODE"] = "consult"
    machine.type("add", RULE, "--path", "src/auth.py", "--stop")
    call = {"tool_input": {"file_path": str(machine.root / "src/auth.py"), "content": "x"}}
    with trouble(machine):
        ran = [machine.fire("pre_tool_use", tool_use_id=f"t{n}", **call) for n in range(2)]
        machine.within = []
        failures = machine.failures()

    assert all(one.well for one in ran)
    assert [RULE in one.said and '"deny"' in one.said for one in ran] == [True, False]
    assert failures == []


def test_where_the_own_memories_cannot_be_opened_a_session_gets_the_project_s(machine):
    machine.environment["ADEMEM_GUARD_MODE"] = "consult"
    machine.type("add", RULE)
    machine.type("add", "Functions are short", "--scope", "personal")
    with _read_only(machine, Path(trust.data_folder(machine.environment))):
        ran = machine.fire("session_start")
    machine.within = []

    assert ran.well
    assert RULE in ran.said
    assert machine.failures() == []
    assert "Functions are short" in machine.fire("session_start", session_id="s2").said


@pytest.mark.parametrize("lock", [locked, unreadable])
def test_a_locked_database_is_waited_for_no_longer_than_the_client_waits(machine, lock):
    """Row E33 of hooks."""

    machine.arm()

    with lock(machine):
        ran = machine.fire_all([(hook, None) for hook in NAMES], at_once=len(NAMES))
        (last,) = machine.fire_all([("session_end", None)])
    assert [one for one in ran if not one.well] == []
    assert [one for one in ran if one.seconds >= TIMEOUT_S[one.hook]] == []
    assert last.seconds < SESSION_END_S
    readers = {"pre_compact"} if lock is locked else set()
    assert [one.hook for one in ran if '"deny"' in one.said] == ["pre_tool_use"]
    readers.add("pre_tool_use")
    notices = [one for one in ran if one.said and one.hook not in readers]
    assert notices
    assert all(
        f"its hook {one.hook} failed" in json.loads(one.said)["systemMessage"] for one in notices
    )
    expected = sorted([*(NAMES.keys() - readers - {IDLE}), "session_end"])
    assert sorted(failure["event"] for failure in machine.failures()) == expected

    assert machine.denies("toolu_2")
    assert machine.fire("post_tool_use").well
    assert machine.live() == [RULE, LESSON]


@pytest.mark.parametrize("database", ["there", "missing"])
def test_hooks_that_run_at_once_store_what_each_has_learned(machine, database):
    if database == "missing":
        machine.settle()
        machine.database.unlink()
    lessons = [
        "TaskGroup requires Sendable closures",
        "Migrations run inside one transaction",
        "Vite caches resolved dependencies aggressively",
        "Postgres folds unquoted identifiers to lower case",
        "Terraform locks its state in DynamoDB",
        "Nginx buffers uploads before proxying them",
        "Redis evicts volatile keys first",
        "Webpack aliases need absolute paths",
    ]
    calls = [
        {"tool_input": {"command": f'bd comment B "LEARNED: {lesson}"'}, "tool_use_id": f"t{n}"}
        for n, lesson in enumerate(lessons)
    ]
    given = [("post_tool_use", json.dumps(payload("post_tool_use", **call))) for call in calls]

    ran = machine.fire_all([(hook, text.encode()) for hook, text in given], at_once=len(given))
    assert [one for one in ran if not one.well] == []
    assert machine.failures() == []
    assert machine.live() == sorted(lessons)
    assert machine.check(doctor.database_is_sound).ok


def test_the_same_event_seen_by_four_hooks_at_once_is_stored_once(machine):
    ran = machine.fire_all([("post_tool_use", None)] * 4, at_once=4)

    assert [one for one in ran if not one.well] == []
    assert machine.failures() == []
    with machine.memories() as memories:
        (memory,) = searching.list_memories(memories)
    assert (memory.content, memory.observation_count) == (LESSON, 1)


@pytest.mark.parametrize(("raw", "readable"), ODD.values(), ids=ODD)
def test_odd_input_is_no_trouble_for_a_process(machine, raw, readable):
    """Row E33 of hooks."""

    hooks = ["pre_tool_use", "session_start", "stop"]

    ran = machine.fire_all((hook, raw) for hook in hooks)
    assert [one for one in ran if not one.well] == []
    failures = sorted((failure["event"], failure["error"][:11]) for failure in machine.failures())
    assert failures == ([] if readable else [(hook, "BadPayload:") for hook in hooks])


def test_what_a_lesson_writes_stands_in_the_database_alone(machine, tmp_path):
    spilled = tmp_path / "spilled"
    spilled.mkdir()
    machine.environment["SQLITE_TMPDIR"] = str(spilled)
    before = spilled.stat().st_mtime_ns
    call = {"tool_input": {"command": 'bd comment B "LEARNED: the ledger closes at noon"'}}
    machine.fire("post_tool_use", tool_use_id="t1", **call)

    assert machine.live() == ["the ledger closes at noon"]
    assert spilled.stat().st_mtime_ns == before


def test_a_database_that_somebody_deleted_does_not_haunt_the_next(machine):
    with machine.memories() as memories:
        for n in range(100):
            writing.write(memories, f"{n} {'needless words about nothing much ' * 20} {n}")
    machine.arm()
    machine.fire("stop")
    machine.database.unlink()

    assert machine.fire("post_tool_use").well
    assert machine.live() == [LESSON]
    assert machine.check(doctor.database_is_sound).ok


@pytest.mark.parametrize("hook", NAMES)
def test_the_first_hook_of_all_makes_the_database(machine, hook):
    machine.settle()
    machine.database.unlink()

    assert machine.fire(hook).well
    assert machine.failures() == []
    assert machine.check(doctor.database_is_sound).ok


def test_five_megabytes_pass_through_the_shell(machine):
    given = [
        ("user_prompt_submit", {"prompt": "Fix the login, then. " * 250_000}),
        ("pre_tool_use", {"tool_input": {"content": "x = 1\n" * 850_000}}),
        ("post_tool_use", {"tool_response": {"stdout": "LEARNED: x\n" * 500_000}}),
        ("stop", {"last_assistant_message": "It is done now. " * 320_000}),
    ]
    ran = [machine.fire(hook, **keys) for hook, keys in given]

    assert all(one.well and one.seconds < TIMEOUT_S[one.hook] for one in ran), ran
    assert machine.failures() == []


def test_mutants_end_as_the_client_likes_it(machine):
    machine.arm()

    ran = machine.fire_all(mutants(300, MUTANTS))
    assert [one for one in ran if not one.well] == []
    errors = [failure["error"].partition(":")[0] for failure in machine.failures()]
    assert set(errors) == {"BadPayload"}
    assert len(errors) < MUTANTS * 0.4
    assert machine.check(doctor.database_is_sound).ok


def test_a_memory_of_the_file_is_shown_once_whichever_process_runs_the_hook(machine):
    with machine.memories() as memories:
        writing.write(memories, Draft(content=RULE, path="src/**", promoted=True))
    machine.fire("user_prompt_submit", prompt="Thanks!")
    call = {"tool_input": {"file_path": str(machine.root / "src/auth.py")}}
    raw = json.dumps(payload("pre_tool_use", cwd=str(machine.root)) | call).encode()
    ran = machine.fire_all([("pre_tool_use", raw)] * 4, at_once=4)
    later = machine.fire("pre_tool_use", raw)

    assert all(each.well for each in [*ran, later])
    assert sorted(RULE in each.said for each in ran) == [False, False, False, True]
    assert later.said == ""
    assert (
        machine.ade / "run/keys" / f"{payload('pre_tool_use')['session_id']}.words"
    ).stat().st_size == 0
    assert machine.failures() == []


def end_workers(machine):
    """Kill the workers of the project, whatever they are at."""
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if str(machine.root).encode() in place.read_bytes().split(b"\0"):
                os.kill(int(place.parent.name), signal.SIGKILL)


@pytest.mark.parametrize("auto", [pytest.param("false", id="off"), pytest.param("true", id="dead")])
def test_a_rule_that_was_pulled_is_said_at_the_next_call_though_the_worker_is(machine, auto):
    machine.environment["ADEMEM_GUARD_MODE"] = "soft"
    with machine.memories() as memories:
        text = "Changes of src/auth.py need a migration"
        writing.write(memories, Draft(content=text, category="convention", promoted=True))
        files.refresh_files(memories)
    ours, mate = Repository(machine.root), Repository(machine.folder / "mate")
    ours.git("add", ".ade/memory")
    ours.git("commit", "-q", "-m", "Remember")
    mate.git("pull", "-q", str(machine.root), "main")
    machine.fire("session_start", session_id="s1")
    machine.fire("user_prompt_submit", session_id="s1", prompt="Go on")
    for path in (mate.root / ".ade/memory").iterdir():
        path.write_text(path.read_text().replace("src/auth.py", "src/billing.py"))
    mate.git("commit", "-q", "-a", "-m", "Move it", author="Ben")
    ours.git("pull", "-q", str(mate.root), "main")
    machine.environment["ADEMEM_JOBS_AUTO"] = auto
    began = machine.fire("session_start", session_id="s1", source="resume")
    end_workers(machine)
    call = {"file_path": str(machine.root / "src/billing.py"), "content": "x = 1"}
    given = payload("pre_tool_use", cwd=str(machine.root), session_id="s1", tool_input=call)
    said = machine.fire("pre_tool_use", json.dumps(given, separators=(",", ":")).encode())

    assert began.well
    assert "src/billing.py need a migration" in said.said

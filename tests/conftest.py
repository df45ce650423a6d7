"""What every test stands on."""

import gc
import os
from contextlib import closing
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer.main
from hypothesis import HealthCheck, settings

from ademem import operations
from ademem.core import who
from ademem.doors.cli import typer_app
from ademem.operations import doctor
from ademem.session import session_start, shell_notes
from ademem.store import database
from ademem.store.runtime import Runtime
from tests import persons
from tests.builders import open_project, project
from tests.examples import examples
from tests.world import World

pytest_plugins = ["pytester", "tests.environments", "tests.postgres", "tests.skips"]

# How fast the machine is decides no test; each property gets a twelfth of the usual 100 examples.
settings.register_profile(
    "patient",
    parent=settings(),
    deadline=None,
    max_examples=examples(100, share=12),
    suppress_health_check=[HealthCheck.too_slow, *settings().suppress_health_check],
)
settings.load_profile("patient")


def pytest_collection_modifyitems(items):
    """Begin with the tests that wait longest, and leave short files for the end.

    So no process ends long after the others.
    """
    items.sort(key=lambda item: not item.nodeid.startswith(("tests/worker/", "tests/test_")))


def pytest_collection_finish():
    """Leave all that is loaded out of collections: one of them takes longer than a hook may."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def who_acts():
    """In this process a person acts, or the agent whose client's variables a test sets.

    Only tests of the edge look at processes, and build them.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(who, "of_process", lambda: persons.acting(os.environ))
        patch.setattr(Runtime, "by", persons.By(), raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def time_to_read():
    """In this process a session that starts imports what is new however busy the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session_start, "READING_S", 600.0)
        patch.setattr(shell_notes, "READING_S", 600.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_work_behind_a_test():
    """In this process doors start no worker, which would work on when the test is over."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operations, "start_worker", lambda _memories: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def doctor_starts_no_process():
    """In this process the doctor leaves out the checks that start commands, servers and hooks.

    Tests of these checks call them, or set all of `doctor.CHECKS`.
    """
    starting = (doctor.commands_run, doctor.servers_answer, doctor.hooks_fire)
    checks = tuple(check for check in doctor.CHECKS if check not in starting)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(doctor, "CHECKS", checks)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_waste():
    """Wait for no disk: no test cuts the power. Build the commands once, not for each call."""
    build = typer.main.get_command
    all_commands = cache(lambda: build(typer_app.load()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _file: None)
        patch.setattr(typer.main, "get_command", lambda _app: all_commands())
        yield


@pytest.fixture(scope="session", autouse=True)
def one_schema(tmp_path_factory):
    """Let every new database be a copy of one, but for its secret."""
    file = tmp_path_factory.mktemp("schema") / "memory.db"
    secret = bytes.fromhex(database.fill(str(file)))
    before, after = file.read_bytes().split(secret)

    def fill_with_copy(path):
        own = os.urandom(database.SECRET_BYTES)
        Path(path).write_bytes(before + own + after)
        return own.hex()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "fill", fill_with_copy)
        yield


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    """A home of its own, so that no test reads or writes what the person has in theirs."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def models():
    """An environment in which the real model is installed; `.ci/run` makes one."""
    place = os.environ.get("ADEMEM_MODELS_DIR")
    if not place:
        pytest.skip("ADEMEM_MODELS_DIR names no folder with an installed model")
    return {"ADEMEM_MODELS_DIR": place}


@pytest.fixture
def here(tmp_path):
    """A project of which nothing is known yet."""
    return project(tmp_path)


@pytest.fixture
def store(tmp_path):
    """The database of that project."""
    with closing(open_project(tmp_path)) as opened:
        yield opened


@pytest.fixture
def world(tmp_path):
    """A project and the client that works in it; where others are at work, these are the world."""
    root = tmp_path / "project"
    root.mkdir()
    return World(root)


@pytest.fixture
def calls():
    """Tool calls as the client describes them."""

    def bash(command, number=1):
        return {
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": f"toolu_bash_{number}",
        }

    def write(path="/p/x.py", number=1):
        return {
            "tool_name": "Write",
            "tool_input": {"file_path": path, "content": "x"},
            "tool_use_id": f"toolu_write_{number}",
        }

    def ran(command, number=1):
        response = {"stdout": "", "stderr": "", "interrupted": False}
        return bash(command, number) | {"tool_response": response}

    return SimpleNamespace(bash=bash, write=write, ran=ran)

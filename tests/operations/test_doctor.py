"""What the doctor finds before anybody runs into it."""

import pytest

from ademem import operations
from ademem.core import project, shared_files
from ademem.core.memory import Draft, Origin, Trust
from ademem.core.registers import Record
from ademem.operations import writing
from ademem.operations.doctor import (
    CHECKS,
    Patient,
    ai_can_be_asked,
    database_is_sound,
    disk_is_local,
    files_are_current,
    journal_is_sound,
    reader_can_ask,
    settings_are_readable,
)
from ademem.operations.files import refresh_files
from ademem.store import replication, stamps
from ademem.store.memories import Change
from tests.builders import NOW

MODEL = 'model = "small"\n'


@pytest.fixture
def examined(tmp_path):
    """What is found of these settings where `claude` is installed, or is not."""
    operations.init(str(tmp_path))

    def examine(settings="", *, claude=False, **variables):
        own = tmp_path / ".config/ademem/config.toml"
        own.parent.mkdir(parents=True, exist_ok=True)
        if settings or not variables:
            own.write_text(f"[ai]\n{settings}", encoding="utf-8")
        folder = tmp_path / "bin"
        if claude:
            folder.mkdir()
            (folder / "claude").write_text("#!/bin/sh\nexit 1\n")
            (folder / "claude").chmod(0o755)
        environment = {"PATH": str(folder), "HOME": str(tmp_path), "ADEMEM_AI_KEY": "k" * 20}
        environment |= variables
        at = project.at(str(tmp_path))
        return ai_can_be_asked(Patient(project=at, environment=environment, now=NOW))

    return examine


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        pytest.param("", "no provider is set", id="none"),
        pytest.param('provider = "claude"\n', "`claude -p`, at most 40 times a day", id="claude"),
        pytest.param(
            f'provider = "openai"\n{MODEL}url = "http://localhost:11434/v1"\n',
            "small at http://localhost:11434/v1",
            id="an API",
        ),
    ],
)
def test_an_ai_that_can_be_asked_is_named(examined, settings, said):
    finding = examined(settings, claude=True)

    assert finding.ok
    assert said in finding.message


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        pytest.param('provider = "claude"\n', "no program `claude` on PATH", id="no client"),
        pytest.param(f'provider = "openai"\n{MODEL}', "ai.url has to be", id="no address"),
        pytest.param(
            f'provider = "openai"\n{MODEL}url = "localhost:11434"\n',
            "ai.url has to be",
            id="no scheme",
        ),
        pytest.param(
            f'provider = "openai"\n{MODEL}url = "http://[::1/v1"\n',
            "ai.url has to be",
            id="a broken host",
        ),
        pytest.param(
            f'provider = "openai"\n{MODEL}url = "http://localhost:llm/v1"\n',
            "ai.url has to be",
            id="a broken port",
        ),
        pytest.param(
            'provider = "openai"\nurl = "http://localhost/v1"\n',
            "ai.model has to name",
            id="no model",
        ),
        pytest.param(
            f'provider = "openai"\n{MODEL}url = "http://example.com/v1"\n',
            "only sent to an address with https",
            id="a key in the open",
        ),
        pytest.param(
            'provider = "claude"\ndaily_calls = 0\n', "ai.daily_calls is 0", id="no calls a day"
        ),
    ],
)
def test_an_ai_that_cannot_be_asked_is_found_unasked(examined, settings, said):
    finding = examined(settings)

    assert not finding.ok
    assert said in finding.message
    assert "config.toml" in finding.hint


def test_the_hint_names_the_variables_that_set_it(examined):
    unfinished = {"ADEMEM_AI_PROVIDER": "openai", "ADEMEM_AI_URL": "localhost"}
    variables, both = examined(**unfinished).hint, examined(MODEL, **unfinished).hint

    assert variables == "see ADEMEM_AI_PROVIDER, ADEMEM_AI_URL; without it, rules decide"
    assert "ademem/config.toml, ADEMEM_AI_PROVIDER, ADEMEM_AI_URL; " in both


@pytest.mark.parametrize(
    ("text", "ok", "message", "hint"),
    [
        pytest.param("", True, "the defaults", "", id="none"),
        pytest.param("[search]\nlimit = 3\n", True, "readable", "", id="good ones"),
        pytest.param("[ai]\nprovider =", False, "not valid TOML", "config list", id="no TOML"),
        pytest.param("[gurad]\n", False, "did you mean 'guard'", "config list", id="unknown"),
        pytest.param("guard.mode = 'warn'\n", True, "no longer there", "list", id="a former mode"),
        pytest.param("[ai]\nmodel = 'x'\n", True, "sets ai.model", "trust", id="waiting ones"),
    ],
)
def test_settings_that_do_not_count_are_found(tmp_path, text, ok, message, hint):
    at = project.at(str(tmp_path))
    (tmp_path / ".ade").mkdir()
    (tmp_path / ".ade/config.toml").write_text(text)
    patient = Patient(project=at, environment={"HOME": str(tmp_path)}, now=NOW)

    finding = settings_are_readable(patient)
    assert finding.ok is ok
    assert message in finding.message
    assert hint in finding.hint


def test_a_replica_whose_clock_is_far_ahead_is_named(tmp_path):
    operations.init(str(tmp_path))
    patient = Patient(project=project.at(str(tmp_path)), environment={}, now=NOW)
    assert database_is_sound(patient).ok

    with operations.open_memories(str(tmp_path), environment={}) as memories:
        stamps.follow(memories.store, "2400-01-31T12:00:00.000Z-0000-1a2b3c4d", NOW)

    finding = database_is_sound(patient)
    assert not finding.ok
    assert "replica 1a2b3c4d wrote at 2400-01-31T12:00:00.000Z" in finding.message


def test_records_that_cannot_be_applied_yet_are_counted(tmp_path):
    operations.init(str(tmp_path))
    patient = Patient(project=project.at(str(tmp_path)), environment={}, now=NOW)
    written = ("2026-01-31T12:00:00.000Z-0000-1a2b3c4d", "archived")
    gone = Record(id="m1", registers={"life": written})
    with operations.open_memories(str(tmp_path), environment={}) as memories:
        change = Change(operation="import", actor="import", at=NOW)
        replication.apply(memories.store, gone, change)

    finding = journal_is_sound(patient)
    assert finding.ok
    assert "1 record deferred" in finding.message


def test_every_check_is_made(examined):
    assert ai_can_be_asked in CHECKS


@pytest.fixture
def files(tmp_path):
    """What is found of the files of a project to which a memory was just added."""
    operations.init(str(tmp_path))
    with operations.open_memories(str(tmp_path), environment={}) as memories:
        refresh_files(memories)
        said = Origin(trust=Trust.USER, source_type="user")
        writing.write(memories, Draft(content="the port is 8081", origin=said))
    patient = Patient(project=project.at(str(tmp_path)), environment={}, now=NOW)
    return tmp_path / ".ade/memory", lambda: files_are_current(patient)


def test_files_that_the_worker_will_write_are_in_order(files):
    _, look = files
    finding = look()

    assert finding.ok
    assert "will say what is new when the worker next runs" in finding.message
    assert finding.hint == "`ademem files refresh`"


def test_an_edit_by_hand_that_nobody_took_over_is_not(files):
    """Row E31 of the doctor."""

    folder, look = files
    page = folder / "facts.md"
    page.write_text("- the port is 9090\n")
    finding = look()

    assert not finding.ok
    assert finding.message.startswith(".ade/memory/facts.md: was changed by hand or by git")


@pytest.mark.parametrize(
    ("name", "mounts", "kind"),
    [
        pytest.param("a", "/ ext4; {root}/a nfs4", "nfs4", id="of another machine"),
        pytest.param("a", "/ ext4; {root}/a autofs; {root}/a nfs4", "nfs4", id="mounted on demand"),
        pytest.param("a b", "/ ext4; {root}/a\\040b nfs4", "nfs4", id="with a blank in its name"),
        pytest.param(
            "a", "/ ext4; {root}/a nfs4; {root}/a/.ade ext4", "ext4", id="a local one in it"
        ),
        pytest.param("ab", "/ ext4; {root}/a nfs4", "ext4", id="beside the database"),
    ],
)
def test_a_database_on_a_network_file_system_is_found(tmp_path, monkeypatch, name, mounts, kind):
    (tmp_path / name).mkdir()
    operations.init(str(tmp_path / name))
    lines = [f"device {mount} rw 0 0" for mount in mounts.format(root=tmp_path).split("; ")]
    monkeypatch.setattr(shared_files, "read_text", lambda _path: "\n".join(lines))
    patient = Patient(project=project.at(str(tmp_path / name)), environment={}, now=NOW)

    finding = disk_is_local(patient)
    assert finding.ok is (kind == "ext4")
    assert kind in finding.message


READER = '[learn]\nreader = "on"\n'


@pytest.mark.parametrize(
    ("own", "program", "ok", "message"),
    [
        pytest.param("", False, True, "learn.reader is off", id="off"),
        pytest.param(READER, True, True, "`claude -p`, at most 20 sessions a day", id="on"),
        pytest.param(READER, False, False, "no program `claude` on PATH", id="no client"),
        pytest.param(
            f"{READER}[ai]\ndaily_calls = 0\n", True, False, "ai.daily_calls is 0", id="no calls"
        ),
    ],
)
def test_the_doctor_says_whether_sessions_can_be_read(tmp_path, own, program, ok, message):
    home = tmp_path / "home"
    (home / ".config/ademem").mkdir(parents=True)
    (home / ".config/ademem/config.toml").write_text(own)
    if program:
        (tmp_path / "claude").write_text("#!/bin/sh\n")
        (tmp_path / "claude").chmod(0o755)
    environment = {"PATH": str(tmp_path), "HOME": str(home)}
    at = project.at(str(tmp_path))
    found = reader_can_ask(Patient(project=at, environment=environment, now=NOW))

    assert (found.ok, message in found.message) == (ok, True)

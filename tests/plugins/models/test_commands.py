"""`ademem model …` as people type it, with a small model in its place."""

import json
import os

import pytest
from typer.testing import CliRunner

from ademem import operations, worker
from ademem.core.errors import UsageError
from ademem.core.memory import Draft
from ademem.doors.cli import app, model
from ademem.operations import writing
from ademem.search.embedding import install
from ademem.search.embedding.install import NotThere
from ademem.store import jobs, sessions
from ademem.worker import running


@pytest.fixture
def typed(published, tmp_path, monkeypatch):
    """What a command prints and its exit code, in a folder that is no project."""
    monkeypatch.setattr(install, "SPACE", dict.fromkeys(install.SPACE, 0))
    monkeypatch.setenv("ADEMEM_MODELS_DIR", str(tmp_path / "models"))
    monkeypatch.setenv("ADEMEM_PROJECT", "")
    monkeypatch.chdir(tmp_path)

    def run(*words):
        done = CliRunner().invoke(app, ["model", *map(str, words)])
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.exit_code, done.output

    return run


def test_a_model_is_installed_looked_at_and_removed(typed, published, tmp_path):
    before = json.loads(typed("status", "--json")[1])
    code, told = typed("install", "--from", published.root)

    assert (before["state"], before["bytes"]) == ("missing", 0)
    assert code == 0
    assert told == (
        f"installed from {published.root} into {tmp_path}/models/all-MiniLM-L6-v2/int8; "
        "every file is the published one\n"
    )
    status = json.loads(typed("status", "--json")[1])
    assert (status["state"], status["progress"], status["trust"]) == ("installed", 100, "hash")
    assert [file["present"] for file in status["files"]] == [True, True, True]
    assert typed("install")[1].startswith("was installed already in ")
    assert typed("remove", "--dry-run")[1].startswith(f"would free {status['bytes']:,} bytes in ")
    assert typed("remove")[1] == f"freed {status['bytes']:,} bytes\n"
    assert typed("remove")[1] == "no model was installed\n"


def test_status_reads_well(typed, published):
    typed("install", "--from", published.root)

    _, shown = typed("status")
    assert (
        "model: all-MiniLM-L6-v2/int8/256/words/headings\nstate: installed\nactivity: ready\n"
        in shown
    )


def test_verify_tells_what_is_wrong_by_its_exit_code(typed, published, tmp_path):
    missing = typed("status", "--verify")
    typed("install", "--from", published.root, "--dtype", "fp32")
    sound = typed("status", "--verify", "--dtype", "fp32", "--json")
    with (tmp_path / "models/all-MiniLM-L6-v2/fp32/tokenizer.json").open("r+") as file:
        file.write("[")

    assert missing == (1, "no model is installed (`ademem model install` repairs it)\n")
    assert (sound[0], json.loads(sound[1])) == (0, {"problems": []})
    code, told = typed("status", "--verify", "--dtype", "fp32")
    assert (code, told[:40]) == (1, "tokenizer.json is not what was installed")


def test_a_failure_is_the_error_that_the_command_line_shows(typed, tmp_path):
    with pytest.raises(NotThere):
        typed("install", "--from", tmp_path)


def test_a_source_and_a_folder_exclude_each_other(typed, tmp_path):
    with pytest.raises(UsageError, match="exclude each other"):
        typed("install", "--from", tmp_path, "--source", "pip")


@pytest.mark.parametrize("terminal", [True, False], ids=["a terminal", "a pipe"])
def test_progress_is_shown_on_a_terminal_only(terminal, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(model.model, "install_model", break_off)
    with pytest.raises(UsageError, match="no space"):
        model.install(source=None, path="")

    shown = capsys.readouterr().err
    assert shown == (f"\r\x1b[Kdownloading {'█' * 15}{'·' * 15}  50%\n" if terminal else "")


def break_off(bar, **_):
    bar("downloading", 50)
    raise UsageError("no space")


@pytest.fixture
def enrolled(typed, tmp_path, monkeypatch):
    """The folder as a project with two memories, and the workers that would be started in it."""
    started = []
    monkeypatch.delenv("ADEMEM_PROJECT")
    monkeypatch.delenv("ADEMEM_JOBS_AUTO", raising=False)
    monkeypatch.setattr(operations, "start_worker", worker.start)
    operations.init(str(tmp_path))
    with operations.open_memories(environment=QUIET | dict(os.environ)) as memories:
        for text in ("Tokens expire in UTC", "Never write local time"):
            writing.write(memories, Draft(content=text))
    monkeypatch.setattr(worker, "_detach", lambda command: started.append(command[-1]))
    return started


QUIET = {"ADEMEM_JOBS_AUTO": "false"}
START = {"source": "startup", "branch": None}


def test_an_installed_model_makes_the_vectors_of_the_project_at_once(
    typed, enrolled, published, tmp_path
):
    with operations.open_memories() as memories:
        place = START | {"directory": str(tmp_path), "now": memories.now}
        sessions.start(memories.store, "s1", **place)
        running.run_due(running.JobContext(memories, memories.clock, None))
        for job in jobs.list_due(memories.store, "embed", memories.now):
            jobs.finish(memories.store, job)
    enrolled.clear()

    told = typed("install", "--from", published.root)[1].splitlines()
    assert told[1] == (
        "2 memories get their vectors now, in the background; `ademem status` counts them"
    )
    assert enrolled == [str(tmp_path)]


def test_where_no_worker_starts_by_itself_the_command_is_named(
    typed, enrolled, published, monkeypatch
):
    monkeypatch.setenv("ADEMEM_JOBS_AUTO", "false")

    told = typed("install", "--from", published.root)[1].splitlines()
    assert told[1] == "`ademem work` makes the vectors of 2 memories"
    assert enrolled == []

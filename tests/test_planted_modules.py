"""Python files of the project that have names of the standard library or of pip: none is run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ademem import operations, worker
from ademem.core import process
from ademem.core.memory import Draft
from ademem.operations import doctor, install, upkeep, writing
from ademem.search.embedding import cache
from ademem.search.embedding import install as model_install
from tests.examples import some

ROOT = Path(__file__).parents[1]
ADEMEM = str(Path(sys.executable).with_name("ademem"))
NAMES = """
    venv pip ensurepip logging subprocess sitecustomize usercustomize json os re sqlite3 tempfile
    typing types enum threading socket shutil pathlib argparse inspect ademem numpy typer orjson
    onnxruntime tokenizers yaml
""".split()


class Planted:
    """A project in which each of these modules leaves a mark when it is run."""

    def __init__(self, root: Path) -> None:
        self.project, self.marks, self.home = root / "project", root / "marks", root / "home"
        for folder in (self.project, self.marks, self.home):
            folder.mkdir()
        operations.init(str(self.project))
        for name in NAMES:
            mark = f"open({str(self.marks / name)!r}, 'w')\n"
            (self.project / f"{name}.py").write_text(mark)
        self.environment = {
            "HOME": str(self.home),
            "PATH": f"{self.home}/bin:/usr/bin:/bin",
            "CLAUDE_PROJECT_DIR": str(self.project),
            "ADEMEM_JOBS_AUTO": "false",
        }

    def start(
        self, *command: str, text: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.project,
            env=self.environment | variables,
            input=text,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def run(self, *command: str, text: str = "", **variables: str) -> str:
        done = self.start(*command, text=text, **variables)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def executed(self) -> list[str]:
        return sorted(os.listdir(self.marks))


@pytest.fixture
def planted(tmp_path):
    return Planted(tmp_path)


def test_the_project_would_run_them_where_it_is_not_kept_out(planted):
    """The control: a module started the usual way is the project's."""
    planted.start(sys.executable, "-m", "venv")

    assert planted.executed


PYTHON = f"""#!/bin/sh
# Starts the real Python as it is asked to, but each module only for its help.
dash_i=
[ "$1" != -I ] || {{ dash_i=-I; shift; }}
[ "$1" != -m ] || "{sys.executable}" $dash_i -m "$2" --help >/dev/null
[ "$1" != -c ] || exec "{sys.executable}" $dash_i -c "import json; $2"
case "$1 $2" in
"-m venv")
  mkdir -p "$3/bin"
  cp "$0" "$3/bin/python"
  ln -s "{ADEMEM}" "$3/bin/ademem"
  ;;
esac
"""


@pytest.mark.parametrize("pythonpath", some([".", "{project}", ""]), ids=repr)
def test_the_installer_runs_none(planted, pythonpath):
    (planted.home / "bin").mkdir()
    python = planted.home / "bin/python3"
    python.write_text(PYTHON)
    python.chmod(0o755)
    variables = {"PYTHONPATH": pythonpath.format(project=planted.project)} if pythonpath else {}
    told = planted.run("sh", str(ROOT / "install.sh"), "--no-model", **variables)

    assert "ready. What to try next" in told
    assert planted.executed == []


@pytest.mark.parametrize("event", [event for event, _ in doctor.SCENE])
def test_a_hook_runs_none(planted, event):
    keys = dict(doctor.SCENE)[event]
    payload = {"session_id": "s", "cwd": str(planted.project), "hook_event_name": event} | keys
    planted.run("sh", "-c", install.own_commands()[event], text=json.dumps(payload))

    assert planted.executed == []
    assert not (planted.project / ".ade/log/hooks.log").exists()


def test_what_hooks_and_commands_start_in_the_background_runs_none(planted, monkeypatch):
    """The worker, the process that keeps the model loaded, and the download of the model."""
    started = []
    monkeypatch.setattr(process, "detach", lambda command, _: started.append(command))
    monkeypatch.setattr("ademem.store.memories.any_vector", lambda _: True)
    monkeypatch.setattr(cache, "state", lambda _: cache.State.INSTALLED)
    environment = planted.environment | {"ADEMEM_JOBS_AUTO": "true"}
    with operations.open_memories(str(planted.project), environment=environment) as memories:
        writing.write(memories, Draft(content="the port is 8081"))
        worker.start(memories)
        worker.start_server(memories)
        upkeep.download_model(memories)
    assert len({tuple(command) for command in started}) == 3
    for command in started:
        if "install" in command:
            command[command.index("install")] = "status"  # of the same group, without the network
        planted.run(*command)

    assert planted.executed == []


def test_a_detached_process_does_not_work_in_the_folder_of_the_project(planted, monkeypatch):
    monkeypatch.chdir(planted.project)
    fifo = planted.home / "fifo"
    os.mkfifo(fifo)
    program = f"import os; open({str(fifo)!r}, 'w').write(os.getcwd())"
    process.detach([sys.executable, "-I", "-c", program], planted.environment)

    assert fifo.read_text() == "/"


def test_the_download_by_pip_runs_none(planted, monkeypatch):
    monkeypatch.chdir(planted.project)
    command = [sys.executable, "-I", "-m", *model_install.DOWNLOAD]
    planted.run(*command[: command.index("download") + 1], "--help")

    assert planted.executed == []


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["add", "the port is 8081"], id="add"),
        pytest.param(["status"], id="status"),
        pytest.param(["files", "refresh"], id="files"),
        pytest.param(["doctor"], id="doctor"),
        pytest.param(["mcp", "--config", "claude"], id="server"),
    ],
)
def test_a_command_runs_none(planted, arguments):
    planted.start(ADEMEM, *arguments)

    assert planted.executed == []


def test_every_python_that_ademem_starts_is_isolated():
    """Also in CI and the benchmarks: `-I` is the first argument of each interpreter."""
    places = [
        *(ROOT / "ademem").rglob("*.py"),
        *(ROOT / "bench").glob("*.py"),
        *(ROOT / ".ci").iterdir(),
        *(ROOT / "hooks").rglob("*.sh"),
        ROOT / "install.sh",
    ]
    starts = [
        line.strip()
        for place in places
        for line in place.read_text(encoding="utf-8").splitlines()
        if 'sys.executable, "-' in line
        or any(f"{python} -" in line for python in ('python"', "python3", 'PYTHON:-python3}"'))
        if "--version" not in line  # for which no module is loaded
    ]

    assert len(starts) > 10
    assert [line for line in starts if not ('"-I"' in line or " -I" in line)] == []

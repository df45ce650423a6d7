"""install.sh with a stand-in for Python: what it asks for, and what it leaves behind."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "install.sh"
INSTALLS = "-I -m pip install --no-compile --disable-pip-version-check"

PYTHON = """#!/bin/sh
echo "python $*" >>"$CALLS"
case "$*" in
*"sys.exit(sys.version_info"*) exit "${TOO_OLD:-0}" ;;
"-I -m venv "*)
  mkdir -p "$4/bin"
  cp "$0" "$4/bin/python"
  printf '#!/bin/sh\\necho "ademem $*" >>"$CALLS"\\n' >"$4/bin/ademem"
  printf '[ "$1$ADEMEM_INSTALLING" != init ] || echo "ademem install is next"\\n' >>"$4/bin/ademem"
  printf '[ "$1" != "$BROKEN" ]\\n' >>"$4/bin/ademem"
  printf 'exit\\n%s' "$OF_PIP" >>"$4/bin/ademem"
  chmod +x "$4/bin/ademem"
  ;;
"-I -m pip "*) [ "$BROKEN" != pip ] ;;
esac
"""


OF_PIP = r"""import re
import sys
from ademem.doors.cli import program
if __name__ == '__main__':
    sys.argv[0] = re.sub(r'(-script\.pyw|\.exe)?$', '', sys.argv[0])
    sys.exit(program())
"""
"""The script of a command as pip 23 writes it."""


class Machine:
    """A home, a project, and a `python3` that only writes down what it is asked."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = root / "my project"
        self.calls = root / "calls"
        self.prefix = self.home / ".local/share/ademem"
        self.link = self.home / ".local/bin/ademem"
        for folder in (self.home, self.project, root / "bin"):
            folder.mkdir()
        python = root / "bin/python3"
        python.write_text(PYTHON)
        python.chmod(0o755)
        self.environment = {
            "HOME": str(self.home),
            "PATH": f"{root / 'bin'}:/usr/bin:/bin",
            "CALLS": str(self.calls),
            "OF_PIP": OF_PIP,
        }

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", str(SCRIPT), *arguments],
            capture_output=True,
            text=True,
            cwd=self.project,
            env=self.environment | environment,
            timeout=60,
        )

    def asked(self, who: str) -> list[str]:
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        return [line.removeprefix(who + " ") for line in lines if line.startswith(who + " ")]

    def files(self) -> list[Path]:
        return sorted(path for path in self.home.rglob("*") if not path.is_dir())


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


@pytest.mark.parametrize(
    ("options", "extras"),
    [
        pytest.param((), "", id="none"),
        pytest.param(("--page",), "[web,tui]", id="page"),
        pytest.param(("--mcp",), "[mcp]", id="server"),
        pytest.param(("--page", "--mcp"), "[web,tui,mcp]", id="both"),
    ],
)
def test_extras_are_installed_where_they_are_asked_for(machine, options, extras):
    shown = machine.run(*options).stdout

    assert f"{INSTALLS} {SCRIPT.parent}{extras}" in machine.asked("python")
    assert ("type `ademem web`" in shown) == ("--page" in options)


def test_one_run_installs_enrols_registers_and_proves_it(machine):
    done = machine.run()

    assert (done.returncode, done.stderr) == (0, "")
    assert "is next" not in done.stdout
    assert f"{INSTALLS} {SCRIPT.parent}" in machine.asked("python")
    assert machine.asked("ademem") == [
        f"init --project {machine.project}",
        f"install --project {machine.project}",
        f"model install --project {machine.project}",
        f"doctor --project {machine.project}",
    ]
    assert os.readlink(machine.link) == str(machine.prefix / "bin/ademem")


def test_the_size_is_told_first_and_what_nothing_uses_is_left_out(machine):
    first, *_ = machine.run().stdout.splitlines()
    pip = [asked for asked in machine.asked("python") if asked.startswith("-I -m pip ")]

    assert first.endswith("about 200 MB")
    assert [asked.split()[3] for asked in pip] == ["install", "uninstall"]
    assert pip[1].endswith(" hf_xet huggingface_hub setuptools")


@pytest.mark.parametrize(
    ("script", "short"),
    [
        pytest.param(OF_PIP, True, id="as pip writes it"),
        pytest.param(OF_PIP + "re.purge()\n", False, id="another that uses the module"),
    ],
)
def test_the_command_does_not_load_a_module_for_its_name_on_windows(machine, script, short):
    machine.run(OF_PIP=script)

    written = (machine.prefix / "bin/ademem").read_text()
    assert ("re." not in written) == short == ("import re\n" not in written)
    assert "sys.exit(program())\n" in written


def test_without_the_model_it_goes_on_and_says_so(machine):
    done = machine.run(BROKEN="model")

    assert (done.returncode, done.stderr) == (0, "")
    assert (
        "going on without the model: words alone decide until `ademem model install`" in done.stdout
    )
    assert machine.asked("ademem")[-1] == f"doctor --project {machine.project}"


def test_the_model_can_be_left_alone(machine):
    machine.run("--no-model")
    machine.run("--no-model", "--uninstall")

    assert not any(asked.startswith("model ") for asked in machine.asked("ademem"))


def test_a_second_run_upgrades_in_place(machine):
    machine.run()
    files = machine.files()

    done = machine.run()

    assert (done.returncode, done.stderr) == (0, "")
    assert machine.files() == files


@pytest.mark.parametrize("where", ["--shared", "--user"])
def test_the_choice_of_settings_is_passed_on(machine, where):
    machine.run(where)

    assert f"install --project {machine.project} {where}" in machine.asked("ademem")


def test_project_and_prefix_may_be_relative_and_elsewhere(machine):
    (machine.project / "sub").mkdir()

    machine.run("--project", "sub", "--prefix", "pre fix")

    assert f"init --project {machine.project}/sub" in machine.asked("ademem")
    assert os.readlink(machine.link) == f"{machine.project}/pre fix/bin/ademem"


@pytest.mark.parametrize(
    ("path", "told"),
    [pytest.param("", True, id="not on PATH"), pytest.param(":{bin}", False, id="on PATH")],
)
def test_a_command_that_is_not_on_path_is_reported(machine, path, told):
    path = machine.environment["PATH"] + path.format(bin=machine.link.parent)

    done = machine.run(PATH=path)

    assert done.stdout.count(" to PATH") == told
    assert (f"add {machine.link.parent} to PATH" in done.stdout) is told


def test_the_last_lines_say_what_to_try_next(machine):
    *_, first, second = machine.run(
        PATH=f"{machine.environment['PATH']}:{machine.link.parent}"
    ).stdout.splitlines()

    assert f"start `claude` in {machine.project} and type: remember:" in first
    assert "/ademem:review" in second


def test_shared_hooks_in_another_prefix_need_it_in_the_environment(machine):
    done = machine.run("--shared", "--prefix", "other")

    assert f"add ADEMEM_PREFIX={machine.project}/other to your environment" in done.stdout


def test_a_command_of_somebody_else_stays(machine):
    machine.link.parent.mkdir(parents=True)
    machine.link.write_text("theirs")

    done = machine.run()

    assert f"left {machine.link} as it is" in done.stdout
    assert machine.link.read_text() == "theirs"


@pytest.mark.parametrize("action", [[], ["--uninstall"]], ids=["install", "uninstall"])
def test_a_dry_run_does_nothing(machine, action):
    if action:
        machine.run()
        machine.calls.unlink()
    files = machine.files()

    done = machine.run("--dry-run", *action)

    verb = "uninstall" if action else "install"
    assert f"    {machine.prefix}/bin/ademem {verb} --project {machine.project}\n" in done.stdout
    assert machine.files() == files
    assert machine.asked("ademem") == []


def test_uninstall_removes_what_install_made_and_keeps_the_memories(machine):
    machine.run("--user")
    memories = machine.project / ".ade/ade.db"
    memories.parent.mkdir()
    memories.touch()

    done = machine.run("--uninstall", "--user")

    assert (done.returncode, done.stderr) == (0, "")
    uninstall = f"uninstall --project {machine.project} --user"
    *_, first, others, model, last = machine.asked("ademem")
    assert (first, model, last) == (uninstall, "model remove", "model remove multilingual")
    assert others.startswith("uninstall --agent=codex")
    assert machine.files() == []
    assert f"stays in {machine.project}/.ade" in done.stdout
    assert memories.exists()


def test_uninstall_without_install_is_no_mistake(machine):
    assert machine.run("--uninstall").returncode == 0


def test_uninstall_stops_while_the_hooks_are_still_registered(machine):
    machine.run()

    done = machine.run("--uninstall", BROKEN="uninstall")

    assert done.returncode == 1
    assert "the hooks are still registered" in done.stderr
    assert (machine.prefix / "bin/ademem").exists()


def test_a_folder_that_is_not_ours_is_neither_taken_nor_removed(machine):
    machine.prefix.mkdir(parents=True)
    (machine.prefix / "thesis.tex").touch()

    refused = machine.run()
    machine.run("--uninstall")

    assert refused.returncode == 1
    assert "holds something else; choose another folder with --prefix DIR" in refused.stderr
    assert machine.files() == [machine.prefix / "thesis.tex"]


def test_help_is_no_mistake(machine):
    done = machine.run("--help")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: sh install.sh ")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        pytest.param(["--frobnicate"], 2, "unknown argument --frobnicate", id="unknown option"),
        pytest.param(["here"], 2, "unknown argument here", id="no option"),
        pytest.param(["--project"], 2, "--project needs a folder", id="no project"),
        pytest.param(["--prefix", ""], 2, "--prefix needs a folder", id="empty prefix"),
        pytest.param(["--shared", "--user"], 2, "exclude each other", id="two settings files"),
        pytest.param(["--project", "/no/such"], 1, "no folder /no/such", id="no such project"),
        pytest.param(["--prefix", "/dev/null/x"], 1, "cannot write to /dev/null/x", id="no prefix"),
    ],
)
def test_a_mistake_is_one_line_with_the_way_on(machine, arguments, code, told):
    done = machine.run(*arguments)

    assert done.returncode == code
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert machine.files() == []


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        pytest.param({"TOO_OLD": "1"}, "no Python 3.11 or newer on PATH", id="old Python"),
        pytest.param({"BROKEN": "pip"}, "is a package index in reach?", id="no package"),
    ],
)
def test_what_is_missing_is_one_line_with_the_way_on(machine, environment, told):
    # Without /usr/bin no other Python is found.
    tools = machine.home / "tools"
    tools.mkdir()
    for tool in ("sh", "cat", "chmod", "cp", "dirname", "ls", "mkdir", "touch"):
        (tools / tool).symlink_to(shutil.which(tool))
    first = machine.environment["PATH"].partition(":")[0]

    done = machine.run(PATH=f"{first}:{tools}", **environment)

    assert done.returncode == 1
    assert told in done.stderr
    assert done.stderr.count("\n") == 1

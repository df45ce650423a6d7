"""Slash commands in `.claude/commands/ademem/`, and git's list of ignored files."""

import subprocess

import pytest

from ademem.api.install import command_files, hooks_folder
from ademem.session import slash_commands

NAMES = ["/ademem:recall", "/ademem:remember", "/ademem:review", "/ademem:why"]


@pytest.fixture
def claude(tmp_path):
    return tmp_path / ".claude"


def git(folder, *arguments):
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True)
    return done.stdout.decode()


def test_every_command_is_written_once_and_removed_without_a_trace(claude):
    claude.mkdir()

    assert command_files.install(str(claude), hooks_folder()) == NAMES
    assert command_files.install(str(claude), hooks_folder()) == []
    assert command_files.uninstall(str(claude)) == NAMES
    assert list(claude.iterdir()) == []


def test_each_command_is_answered_by_the_prompt_hook():
    answered = {f"/ademem:{name}" for name in slash_commands.COMMANDS}

    assert answered | {"/ademem:remember"} == set(NAMES)


def test_a_dry_run_names_the_commands_and_writes_nothing(claude):
    assert command_files.install(str(claude), hooks_folder(), dry_run=True) == NAMES
    assert not claude.exists()


def test_an_outdated_command_is_replaced_and_a_foreign_file_is_kept(claude):
    folder = claude / command_files.FOLDER
    folder.mkdir(parents=True)
    (folder / "why.md").write_text("ademem's hook of an earlier version")
    (folder / "recall.md").write_text("a command of the person")

    assert "/ademem:why" in command_files.install(str(claude), hooks_folder())
    assert "/ademem:recall" not in command_files.uninstall(str(claude))
    assert [path.name for path in folder.iterdir()] == ["recall.md"]


@pytest.mark.parametrize("inside", [".", "packages/app"], ids=["root", "subfolder"])
def test_git_ignores_the_files_of_one_person_until_uninstall(tmp_path, inside):
    git(tmp_path, "init", "-q")
    project = tmp_path / inside
    for name in (".claude/settings.local.json", ".claude/commands/ademem/why.md"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("x")
    exclude = tmp_path / ".git/info/exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("*.own without an end of line")

    assert command_files.hide(str(project))
    assert not command_files.hide(str(project))
    assert git(tmp_path, "status", "--short") == ""
    command_files.unhide(str(project))
    assert exclude.read_text() == "*.own without an end of line"


def test_a_folder_without_git_has_nothing_to_ignore(tmp_path):
    assert not command_files.hide(str(tmp_path))
    command_files.unhide(str(tmp_path))

"""Slash commands in `.claude/commands/ademem/`."""

import pytest

from ademem.operations import install
from ademem.operations.install import hooks_folder
from ademem.session import slash_commands

COMMANDS = "adopt drop edit keep pin recall remember review terminal undo why"
NAMES = [f"/ademem:{name}" for name in COMMANDS.split()]


@pytest.fixture
def claude(tmp_path):
    return tmp_path / ".claude"


def test_every_command_is_written_once_and_removed_without_a_trace(claude):
    claude.mkdir()

    assert install.add_commands(str(claude), hooks_folder()) == NAMES
    assert install.add_commands(str(claude), hooks_folder()) == []
    assert install.remove_commands(str(claude)) == NAMES
    assert list(claude.iterdir()) == []


def test_each_command_is_answered_by_the_prompt_hook():
    answered = {f"/ademem:{name}" for name in slash_commands.COMMANDS}

    assert answered | {"/ademem:remember"} == set(NAMES)


def test_a_dry_run_names_the_commands_and_writes_nothing(claude):
    assert install.add_commands(str(claude), hooks_folder(), dry_run=True) == NAMES
    assert not claude.exists()


def test_an_outdated_command_is_replaced_and_a_foreign_file_is_kept(claude):
    folder = claude / install.COMMANDS
    folder.mkdir(parents=True)
    (folder / "why.md").write_text("ademem's hook of an earlier version")
    (folder / "recall.md").write_text("a command of the person")

    assert "/ademem:why" in install.add_commands(str(claude), hooks_folder())
    assert "/ademem:recall" not in install.remove_commands(str(claude))
    assert [path.name for path in folder.iterdir()] == ["recall.md"]

"""No tool writes the places that are ademem's and the person's."""

import pytest

from ademem.core.settings import GuardSettings
from ademem.guard.own_places import named_in

PLACES = ("/home/anna/own", "/srv/app/.ade/ade.db", "/srv/app/.ade/run", "/cfg/ademem")


def found(tool, *, path="", command="", **tool_input):
    return named_in(tool, path, command, tool_input, PLACES, GuardSettings())


@pytest.mark.parametrize(
    "path",
    ["/cfg/ademem/config.toml", "/srv/app/.ade/run/clear/x", "/srv/app/.ade/ade.db-wal"],
)
def test_no_file_tool_writes_them(path):
    assert found("Write", path=path)


@pytest.mark.parametrize(
    "command",
    [
        "echo 'mode = \"off\"' > ~/.config/ademem/config.toml",
        "printf x >> $HOME/.config/ademem/config.toml",
        "mkdir -p ~/.config/ademem && cp x ~/.config/ademem/config.toml",
        "cd ~/.config/ademem && echo x > config.toml",
        "sqlite3 .ade/ade.db \"update unified_memories set status = 'promoted'\"",
        "python3 -c \"import sqlite3; sqlite3.connect('.ade/ade.db').execute('delete from x')\"",
        "rm -rf .ade/run",
        "touch .ade/run/clear/turn-1",
        "f=~/.config/ademem/config.toml; echo x > $f",
        "sed -i s/a/b/ ~/.local/share/ademem/share/ademem/hooks/start.sh",
        "tee /cfg/ademem/config.toml < x",
        "bash -c 'echo x > ~/.config/ademem/config.toml'",
        "rm ~/.local/share/ademem-data/stores/0a",
    ],
)
def test_no_command_writes_them(command):
    assert found("Bash", command=command)


@pytest.mark.parametrize(
    "command",
    [
        "cat ~/.config/ademem/config.toml",
        "ls .ade/run",
        "ademem add 'The database is .ade/ade.db'",
        "echo '- x' >> .ade/memory/gotchas.md",
        "rm build.log",
        "ademem config set search.limit 9",
    ],
)
def test_reading_them_and_other_files_pass(command):
    assert not found("Bash", command=command)


def test_no_tool_of_another_server_writes_them_and_one_that_reads_passes():
    given = {"file": "/srv/app/.ade/ade.db", "content": "x"}

    assert found("mcp__files__write_file", **given)
    assert found("mcp__files__edit", edits=[{"file": "/home/anna/.config/ademem/config.toml"}])
    assert not found("mcp__files__read_file", **given)


def test_files_of_memory_are_not_among_them():
    assert not found("Write", path="/srv/app/.ade/memory/gotchas.md")

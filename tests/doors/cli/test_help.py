"""Help, completion, and which commands are listed."""

import pytest

from ademem import __version__
from ademem.doors.cli import help
from ademem.doors.cli.commands import PANELS, hidden, modules, panels
from tests.docs_tables import leaves

COMMANDS = dict(leaves())
GROUPS = sorted({name.partition(" ")[0] for name in COMMANDS if " " in name})
LISTED = [name for name in COMMANDS if not COMMANDS[name].hidden]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_argument_and_option_is_explained(name):
    unexplained = [given.name for given in COMMANDS[name].params if not given.help]

    assert not unexplained


@pytest.mark.parametrize("name", ["", *GROUPS, "list", "recall", "import"])
def test_a_short_option_shows_the_same_help(ademem, name):
    shown = ademem(*name.split(), "-h")

    assert ademem.exit_code == 0
    assert shown == ademem(*name.split(), "--help")
    assert "-h" in shown


@pytest.mark.parametrize("group", ["", *GROUPS])
def test_a_list_of_commands_cuts_no_sentence(ademem, monkeypatch, group):
    monkeypatch.setenv("COLUMNS", "80")

    listed = ademem(*filter(None, [group]), "--help").partition("--help")[2]
    assert "..." not in listed


def test_the_help_lists_at_most_45_commands_and_groups_in_six_panels(ademem):
    listed = ademem("--help")

    words = {name.partition(" ")[0] for name in LISTED}
    assert (len(PANELS), len(words) <= 45) == (6, True)
    assert all(f"\n╭─ {panel} ─" in listed for panel, _ in panels())
    assert words == {word for _, names in panels(whole=True) for word in names}
    unlisted = {n for n in COMMANDS if not hidden().isdisjoint((n, n.partition(" ")[0]))}
    assert unlisted == set(COMMANDS) - set(LISTED)


@pytest.mark.parametrize(("columns", "in_a_row"), [(100, 2), (99, 1)])
def test_panels_stand_side_by_side_where_a_hundred_columns_hold_two(
    ademem, monkeypatch, columns, in_a_row
):
    monkeypatch.setenv("COLUMNS", str(columns))
    boxes = [line for line in ademem("--help").splitlines() if line[:1] in tuple("╭│╰ ")]

    assert max(map(len, boxes)) <= columns
    assert max(line.count("╭") for line in boxes) == in_a_row


def test_a_sentence_of_the_help_has_at_most_34_characters():
    shown = [row for _, names in panels(whole=True) for row in help.sentences(names).values()]

    assert max(map(len, shown)) <= 34
    assert all(shown)


def test_every_command_names_the_module_that_defines_it():
    words = {name.partition(" ")[0]: command for name, command in COMMANDS.items()}
    defined = {word: module for module, names in modules().items() for word in names.split()}

    assert words.keys() == defined.keys()
    for word, command in words.items():
        module = defined[word] if "." in defined[word] else f"ademem.doors.cli.{defined[word]}"
        assert command.callback.__wrapped__.__module__ == module


def test_a_shell_completes_listed_commands(ademem, monkeypatch):
    monkeypatch.setenv("_ADEMEM_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "ademem e")
    monkeypatch.setenv("COMP_CWORD", "1")

    assert sorted(ademem().split()) == ["edit", "export"]


def test_the_version_is_shown(ademem):
    assert ademem("--version") == f"ademem {__version__}\n"
    assert ademem.exit_code == 0

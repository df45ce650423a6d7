"""Help, completion, and which commands are listed."""

import pytest

from ademem import __version__
from ademem.doors.cli.commands import INSTEAD, MODULES, PANELS
from tests.docs_tables import leaves

COMMANDS = dict(leaves())
GROUPS = sorted({name.partition(" ")[0] for name in COMMANDS if " " in name})
LISTED = [name for names in PANELS.values() for name in names]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_argument_and_option_is_explained(name):
    unexplained = [given.name for given in COMMANDS[name].params if not given.help]

    assert not unexplained


@pytest.mark.parametrize("group", ["", *GROUPS])
def test_a_list_of_commands_cuts_no_sentence(ademem, monkeypatch, group):
    monkeypatch.setenv("COLUMNS", "80")

    listed = ademem(*filter(None, [group]), "--help").partition("--help")[2]
    assert "..." not in listed


def test_the_help_lists_at_most_45_commands_in_panels(ademem):
    listed = ademem("--help")

    assert len(LISTED) <= 45
    assert set(LISTED) | set(INSTEAD) == set(COMMANDS)
    assert set(LISTED).isdisjoint(INSTEAD)
    assert all(f"\n{panel}:\n" in listed for panel in PANELS)
    assert {name for name in COMMANDS if COMMANDS[name].hidden} == set(INSTEAD)


def test_every_command_names_the_module_that_defines_it():
    words = {name.partition(" ")[0]: command for name, command in COMMANDS.items()}
    modules = {word: module for module, names in MODULES.items() for word in names.split()}

    assert words.keys() == modules.keys()
    for word, command in words.items():
        assert command.callback.__wrapped__.__module__ in (
            f"ademem.doors.cli.{modules[word]}",
            "ademem.doors.cli.curating",
        )


@pytest.mark.parametrize("instead", sorted({form.split(" --")[0] for form in INSTEAD.values()}))
def test_a_hidden_command_has_a_listed_form(instead):
    assert not instead or any(instead.startswith(name) for name in LISTED)


def test_a_shell_completes_listed_commands(ademem, monkeypatch):
    monkeypatch.setenv("_ADEMEM_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "ademem re")
    monkeypatch.setenv("COMP_CWORD", "1")

    assert ademem().split() == ["recall", "reject", "restore", "review"]


def test_the_version_is_shown(ademem):
    assert ademem("--version") == f"ademem {__version__}\n"
    assert ademem.exit_code == 0

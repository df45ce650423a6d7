"""What `--help` tells somebody who is new here."""

import pytest

from ademem import __version__
from tests.docs_tables import leaves

COMMANDS = dict(leaves())
GROUPS = sorted({name.partition(" ")[0] for name in COMMANDS if " " in name})


@pytest.mark.parametrize("name", COMMANDS)
def test_every_argument_and_option_is_explained(name):
    unexplained = [given.name for given in COMMANDS[name].params if not given.help]

    assert not unexplained


@pytest.mark.parametrize("group", ["", *GROUPS])
def test_a_list_of_commands_cuts_no_sentence(ademem, monkeypatch, group):
    monkeypatch.setenv("COLUMNS", "80")

    listed = ademem(*filter(None, [group]), "--help")
    assert "Commands:" in listed
    assert "..." not in listed.partition("Commands:")[2]


def test_the_version_is_told(ademem):
    assert ademem("--version") == f"ademem {__version__}\n"
    assert ademem.exit_code == 0

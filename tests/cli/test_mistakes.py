"""What goes wrong at the terminal: one line, the next step, and whose turn it is by the code."""

import pytest


def mistake(ademem, *arguments):
    """The one line that is printed, and the exit code."""
    said = ademem(*arguments)
    assert said.count("\n") == 1, said
    return said.removeprefix("ademem: ").rstrip(), ademem.exit_code


@pytest.mark.parametrize("arguments", [["list"], ["add", "x"], ["recall", "x", "--json"]], ids=str)
def test_a_damaged_database_is_told_with_what_rebuilds_it(ademem, arguments):
    for left in (ademem.root / ".ade").glob("ade.db*"):
        left.write_bytes(b"no database" * 1000)

    told, code = mistake(ademem, *arguments)
    assert (told, code) == (
        "the database cannot be used: file is not a database"
        " (`ademem doctor --fix` rebuilds it from the files)",
        1,
    )

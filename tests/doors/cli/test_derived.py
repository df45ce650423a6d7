"""The command of an operation follows from its signature."""

from typing import Annotated, Any

import pytest

from ademem.core.errors import UsageError
from ademem.doors.cli import derived, show
from ademem.doors.cli.commands import commands
from ademem.doors.cli.options import flags_of, parse
from ademem.operations.signatures import About, Answer, Operations
from tests.docs_tables import names_of

operation = Operations()


@operation(reads=True, command="shout")
def shout(
    runtime: Any,
    call: Any,
    text: Annotated[str, About(help="What to shout.", chars=5)],
    times: Annotated[int, About(help="How often.", least=1, most=3)] = 1,
    tone: Annotated[str, About(choices=("high", "low"))] = "high",
    twice_a_day: bool = False,
) -> Annotated[dict[str, Any], Answer(always=("said",))]:
    """Say a text loudly."""
    said = " ".join([text.strip().upper()] * times)
    return {"said": said, "by": call.door, "tone": tone, "is_twice": twice_a_day}


(OPERATION,) = operation.all


@pytest.fixture
def command():
    derived.define(OPERATION)
    yield commands["shout"]
    del commands["shout"]


def test_a_function_is_a_command_with_the_limits_of_its_signature(command, ademem, monkeypatch):
    given = parse(command.parameters, ["hello", "--times", "2", "--twice-a-day", "--json"])

    assert parse(command.parameters, ["hello", "--times", "4"]) is None, "typer says why"
    command.call(given)
    assert '"said": "HELLO HELLO"' in ademem.capsys.readouterr().out
    monkeypatch.setattr(show, "as_json", False)
    command.call(parse(command.parameters, ["hello", "--tone", "low"]))
    lines = ademem.capsys.readouterr().out.split()
    assert lines[:6] == ["said:", "HELLO", "by:", "cli", "tone:", "low"]
    with pytest.raises(UsageError, match="no tone 'middle'"):
        command.call(parse(command.parameters, ["hello", "--tone", "middle"]))


def test_its_rows_of_the_reference_follow_from_its_signature(command):
    assert names_of(OPERATION.parameters) == "**`text`** `times` (1–3) `tone` `twice_a_day`"
    assert [name for each in command.parameters for name in flags_of(each)] == [
        *("--times", "--tone", "--twice-a-day", "--project", "--json"),
    ]

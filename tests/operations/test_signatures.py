"""What a door reads off the signature of an operation."""

from typing import Annotated, Any, Literal

import pytest

from ademem.core.memory import Importance
from ademem.operations.signatures import (
    About,
    Answer,
    Operation,
    Operations,
    bind,
    read_parameters,
)

Row = Annotated[dict[str, Any], Answer(always=("id",), sometimes=("why",))]


def weigh(
    runtime: None,
    call: None,
    id: Annotated[str, About(help="Of a memory", chars=64)],
    importance: Importance | None = None,
    tags: Annotated[tuple[str, ...], About(items=3)] = (),
    from_: Annotated[str, About(name="from")] = "",
    limit: Annotated[int, About(least=1, most=9)] = 5,
    way: Literal["up", "down"] = "up",
    number: int | str = "",
    fields: dict[str, Any] | None = None,
    *,
    quietly: bool = False,
) -> Row:
    """Weigh a memory,
    and nothing else.

    The rest is for the reader of the code.
    """
    return {"id": id, "given": (importance, tags, from_, limit, way, number, fields, quietly)}


OPERATION = Operation(run=weigh)


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("id", {"type": "string", "description": "Of a memory", "maxLength": 64}),
        ("importance", {"enum": ["low", "medium", "high"]}),
        ("tags", {"type": "array", "items": {"type": "string"}, "maxItems": 3}),
        ("from", {"type": "string"}),
        ("limit", {"type": "integer", "minimum": 1, "maximum": 9, "default": 5}),
        ("way", {"enum": ["up", "down"], "default": "up"}),
        ("number", {"type": ["integer", "string"]}),
        ("fields", {"type": "object"}),
        ("quietly", {"type": "boolean", "default": False}),
    ],
)
def test_a_parameter_has_the_schema_of_its_type_and_limits(name, schema):
    (parameter,) = (each for each in OPERATION.parameters if each.name == name)

    assert parameter.schema == schema
    assert parameter.is_required == (name == "id")


def test_a_caller_gives_names_and_the_function_gets_values_of_its_types():
    given = {"id": "a", "importance": "high", "tags": ["x"], "from": "b", "quietly": True}
    answer = OPERATION.call(None, None, given)

    assert answer["given"] == (Importance.HIGH, ("x",), "b", 5, "up", "", None, True)
    assert isinstance(answer["given"][0], Importance)
    assert bind(OPERATION.parameters, {}) == {}


def test_the_first_paragraph_and_the_keys_of_the_answer_are_for_callers():
    assert OPERATION.summary == "Weigh a memory, and nothing else."
    assert OPERATION.answer == Answer(always=("id",), sometimes=("why",))


def test_operations_are_listed_in_the_order_of_their_definitions():
    operation = Operations(shows_text=True)
    reading = Operations(into=operation, reads=True)
    operation()(weigh)
    reading(repeats=True)(read_parameters)
    first, second = operation.all

    assert (first.run, first.reads, first.shows_text) == (weigh, False, True)
    assert (second.reads, second.repeats, second.shows_text) == (True, True, True)

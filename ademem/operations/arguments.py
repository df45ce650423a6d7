"""Arguments of a call, checked against the schemas of its parameters."""

from __future__ import annotations

from ademem.core.errors import UsageError
from ademem.core.text import with_article

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from ademem.operations.signatures import Parameter

TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def parse_typed(parameter: Parameter, typed: Any) -> Any:
    """Return what a person typed as a program gives it: a list of joined words, a choice."""
    if not isinstance(typed, str):
        return typed
    typed.encode()  # bytes of another encoding would be stored as question marks
    if parameter.about.is_joined:
        return [word.strip() for word in typed.split(",") if word.strip()]
    if "enum" not in parameter.schema:
        return typed
    choice = typed.strip().lower()
    return {"global": "personal"}.get(choice, choice)


def check_arguments(
    schema: Mapping[str, Any], given: Mapping[str, Any], *, cuts: bool = True
) -> dict[str, Any]:
    """Return the arguments with the defaults of the schema; raise UsageError for a wrong one.

    Of JSON Schema it reads `type`, `enum`, `minimum`, `maximum`, `maxLength`, `maxItems`, `items`,
    `default` and `required`. A longer text than `maxLength` is cut, or refused without *cuts*.
    """
    properties = schema.get("properties", {})
    _check_names(given, properties, schema.get("required", ()))
    values = {name: each["default"] for name, each in properties.items() if "default" in each}
    for name, value in given.items():
        if value is not None:
            if not cuts:
                _check_length(name, value, properties[name])
            values[name] = _check(name, value, properties[name])
    return values


def _check_names(
    given: Mapping[str, Any], properties: Mapping[str, Any], required: Iterable[str]
) -> None:
    for name in given:
        if name not in properties:
            raise UsageError(f"no argument {name!r}", _nearest(name, list(properties)))
    for name in required:
        if given.get(name) is None:
            raise UsageError(f"the argument {name!r} is missing", f"give {name!r}")


def _check_length(name: str, value: Any, schema: Mapping[str, Any]) -> None:
    most = schema.get("maxLength")
    if most and isinstance(value, str) and len(value) > most:
        raise UsageError(f"{name!r} has {len(value):,} characters", f"at most {most:,}")


def _check(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    """Return a value as the schema has it; raises UsageError for another one."""
    value = _check_type(name, value, schema)
    if isinstance(value, list):
        if len(value) > (most := schema.get("maxItems", len(value))):
            raise UsageError(f"{name!r} has {len(value)} items", f"give at most {most}")
        return [_check(name, each, schema.get("items", {})) for each in value]
    if isinstance(value, str):
        value = _check_text(name, value[: schema.get("maxLength")])
    elif not isinstance(value, bool | dict):
        low, high = schema.get("minimum", value), schema.get("maximum", value)
        if not low <= value <= high:
            raise UsageError(f"{name!r} is {value}", f"give {name!r} from {low} to {high}")
    if "enum" in schema and value not in schema["enum"]:
        raise UsageError(f"no {name} {value!r}", _nearest(str(value), schema["enum"]))
    return value


def _check_type(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    """Return the value; a number without a fraction may be an integer, and a flag is no number."""
    kind = schema.get("type", "string")
    kinds = kind if isinstance(kind, list) else [kind]
    if isinstance(value, float) and value.is_integer() and "integer" in kinds:
        return int(value)  # the same number in JSON
    types = [TYPES[each] for each in kinds if (each == "boolean") is isinstance(value, bool)]
    if not any(isinstance(value, each) for each in types):
        kind = with_article(" or ".join(kinds))
        raise UsageError(f"{name!r} is not {kind}", f"give {name!r} as {kind}")
    return value


def _check_text(name: str, text: str) -> str:
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise UsageError(f"{name!r} is not text: it has a NUL or half a character", "leave it out")
    return text


def _nearest(name: str, allowed: list[str]) -> str:
    from difflib import get_close_matches  # slow to load, and for a mistake alone

    close = get_close_matches(name, allowed, n=1, cutoff=0.5)
    names = ", ".join(sorted(allowed))
    return f"did you mean {close[0]!r}? Known: {names}" if close else f"known: {names}"

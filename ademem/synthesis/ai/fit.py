"""An answer held against its schema: what fits is kept within bounds, what does not is refused."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

TEXT_CHARS = 4_000
"""Longest text in an answer whose schema sets no bound."""
ITEMS = 100
"""The same for a list."""


class Misfit(ValueError):
    """What is wrong, and where."""


def fitted(value: Any, schema: Mapping[str, Any], clean: Callable[[str], str], at: str = "") -> Any:
    """The value by the words of JSON Schema that we use; each text went through *clean*.

    `type`, `properties`, `required`, `items`, `enum`, `minimum`, `maximum`, `minLength` and
    `minItems` are demanded; what is longer than `maxLength` or `maxItems` is cut, and properties
    that nobody asked for are left out. Raises Misfit.
    """
    kind = schema["type"]
    if not _is(value, kind):
        raise Misfit(f"{at or 'the answer'} is no {kind}")
    fitting = _FITTING.get(kind)
    value = fitting(value, schema, clean, at) if fitting else value
    if "enum" in schema and value not in schema["enum"]:
        raise Misfit(f"{at} is none of {', '.join(map(str, schema['enum']))}")
    return value


def found_in(text: str) -> dict[str, Any]:
    """The first JSON object in a text that may have words or a fence around it; raises Misfit."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    tries = 0
    while start >= 0 and tries < _TRIES:
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            tries += 1
            start = text.find("{", start + 1)
            continue
        if isinstance(value, dict):
            return value
    raise Misfit("there is no JSON object in the answer")


_TRIES = 50
"""Braces from which an object may begin; text of nothing but braces would take for ever."""


def _is(value: Any, kind: str) -> bool:
    types = _TYPES[kind]
    return isinstance(value, types) and (kind == "boolean" or not isinstance(value, bool))


_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
}


def _object(value: Any, schema: Mapping[str, Any], clean: Callable[[str], str], at: str) -> Any:
    for name in schema.get("required", ()):
        if name not in value:
            raise Misfit(f"{_below(at, name)} is missing")
    return {
        name: fitted(value[name], inner, clean, _below(at, name))
        for name, inner in schema.get("properties", {}).items()
        if value.get(name) is not None or name in schema.get("required", ())
    }


def _array(value: Any, schema: Mapping[str, Any], clean: Callable[[str], str], at: str) -> Any:
    if len(value) < schema.get("minItems", 0):
        raise Misfit(f"{at or 'the answer'} has only {len(value)} items")
    kept = value[: schema.get("maxItems", ITEMS)]
    return [fitted(item, schema["items"], clean, f"{at}[{i}]") for i, item in enumerate(kept)]


def _string(value: Any, schema: Mapping[str, Any], clean: Callable[[str], str], at: str) -> Any:
    text = clean(value)[: schema.get("maxLength", TEXT_CHARS)].strip()
    if len(text) < schema.get("minLength", 0):
        raise Misfit(f"{at} is too short")
    return text


def _number(value: Any, schema: Mapping[str, Any], clean: Callable[[str], str], at: str) -> Any:
    if not schema.get("minimum", float("-inf")) <= value <= schema.get("maximum", float("inf")):
        raise Misfit(f"{at} is out of range")
    return value


_FITTING = {
    "object": _object,
    "array": _array,
    "string": _string,
    "number": _number,
    "integer": _number,
}


def _below(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name

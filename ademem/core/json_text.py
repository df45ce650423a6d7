"""JSON by the C scanner and encoder of `json`, whose Python part takes a third of a hook's time."""

from __future__ import annotations

from _json import encode_basestring, make_encoder, make_scanner
from _json import encode_basestring_ascii as quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

__all__ = ["quoted"]


class _Context:
    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


_scan: Any = make_scanner(_Context())  # type: ignore[arg-type]
_encode: Any = make_encoder(None, str, encode_basestring, None, ": ", ", ", True, False, True)


def _refuse(value: object) -> str:
    raise TypeError(f"{type(value).__name__} is no value of JSON")


_compact: Any = make_encoder(None, _refuse, encode_basestring, None, ":", ",", False, False, True)


def loads(text: str) -> Any:
    """Raises ValueError or RecursionError."""
    text = text.strip(" \t\r\n")
    try:
        value, end = _scan(text, 0)
    except (StopIteration, SystemError):  # without `json`, 3.11 cannot say what is wrong
        import json

        return json.loads(text)
    if end != len(text):
        raise ValueError(f"more than one JSON value, the second at {end}")
    return value


def array(items: Iterable[str | int]) -> str:
    written = [quoted(item) if isinstance(item, str) else str(int(item)) for item in items]
    return f"[{','.join(written)}]"


def compact(value: object) -> str:
    """Write a value without blanks, and names as they come; raises TypeError or RecursionError."""
    return "".join(_compact(value, 0))


def flat(items: Mapping[str, Any]) -> str:
    """Write an object with sorted names."""
    return "".join(_encode(items, 0))

"""JSON by the C scanner and encoder of `json`, whose Python part takes a third of a hook's time."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

try:
    from _json import encode_basestring as _quoted
    from _json import encode_basestring_ascii as quoted
    from _json import make_encoder as _make_encoder
    from _json import make_scanner as _make_scanner
except ImportError:
    from json.encoder import py_encode_basestring_ascii as quoted

    _make_scanner = _make_encoder = _quoted = None  # type: ignore[assignment, misc]

__all__ = ["quoted"]


class _Context:
    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


_scan: Any = _make_scanner(_Context()) if _make_scanner is not None else None  # type: ignore[arg-type]
_encode: Any = _make_encoder and _make_encoder(  # type: ignore[truthy-function]
    None, str, _quoted, None, ": ", ", ", True, False, True
)


def loads(text: str) -> Any:
    """Parse a JSON text; raises ValueError or RecursionError."""
    if _scan is None:
        return _slowly(text)
    text = text.strip(" \t\r\n")
    try:
        value, end = _scan(text, 0)
    except (StopIteration, SystemError):  # without `json`, 3.11 cannot say what is wrong
        return _slowly(text)
    if end != len(text):
        raise ValueError(f"more than one JSON value, the second at {end}")
    return value


def _slowly(text: str) -> Any:
    import json

    return json.loads(text)


def array(items: Iterable[str | int]) -> str:
    """Write texts and whole numbers as a JSON array."""
    written = [quoted(item) if isinstance(item, str) else str(int(item)) for item in items]
    return f"[{','.join(written)}]"


def flat(items: Mapping[str, str | float | None]) -> str:
    """Write an object of texts, numbers and nulls, with sorted names."""
    if _encode is None:
        import json

        return json.dumps(items, ensure_ascii=False, sort_keys=True)
    return "".join(_encode(items, 0))

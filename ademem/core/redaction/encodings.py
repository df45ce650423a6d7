"""Secrets that are not written as they are: escaped, or encoded."""

from __future__ import annotations

_ESCAPE = r"\\(?:u00([2-7][0-9a-fA-F])|(/))|%([2-7][0-9a-fA-F])"


def unescaped(text: str) -> tuple[str, list[int]] | None:
    """The text without the escapes of JSON and URLs, and where each of its signs, and its end, was.

    None where it has no escapes.

    `\\u0067hp_` is a key all the same; what stands for a quote or a line break stays as it is.
    """
    import re

    escapes = list(re.finditer(_ESCAPE, text))
    if not escapes:
        return None
    plain: list[str] = []
    places: list[int] = []
    end = 0
    for escape in escapes:
        code = escape[1] or escape[3]
        plain += text[end : escape.start()], chr(int(code, 16)) if code else "/"
        places += [*range(end, escape.start()), escape.start()]
        end = escape.end()
    plain.append(text[end:])
    places += range(end, len(text) + 1)
    return "".join(plain), places


def may_be_escaped(text: str) -> bool:
    return "%" in text or "\\u00" in text or "\\/" in text


def is_basic(encoded: str) -> bool:
    """Whether it is `user:password` in base64."""
    from binascii import Error, a2b_base64

    try:
        user, colon, password = a2b_base64(encoded).partition(b":")
    except Error:
        return False
    return bool(colon and user and password) and (user + password).decode("latin-1").isprintable()

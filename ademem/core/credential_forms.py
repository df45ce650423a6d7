"""The form of a value: which signs it has and in which order, and forms that no password has."""

from __future__ import annotations

from itertools import pairwise

MOST_DIGITS = 12
COMMIT_CHARS = 15
"""Longest short name of a commit."""
FEWEST_CHARS, MOST_CHARS = 5, 200
OPAQUE_CHARS = 28
"""Characters without a blank from which a value is one of chance, whatever its signs."""
LENGTHS = (4, 5, 7, 9, 12, 16, 20, 28, 40, 64)
_HEX = frozenset("0123456789abcdefABCDEF")
_SIGNS = frozenset("!@#$%^&*?~+=")
_NO_JOINS = dict.fromkeys(map(ord, "/-_.:"))
_NEVER = frozenset("()[]{}<>;")
NOT_SECRET = ("./", "..", "x:", "ssh-", "age1", "AAAA", "MII", "SHA", "sha", "md5", "h1:", "eyJ")
_CLASSES = dict.fromkeys("-_", "-") | dict.fromkeys("./:,", ".") | {" ": " "}


class Form:
    """Which signs a value has, and in which order."""

    def __init__(self, value: str) -> None:
        inner = value[1:-1]
        self.has_digit = any(map(str.isdigit, value))
        self.has_letter = any(map(str.isalpha, value))
        self.has_upper = any(map(str.isupper, inner))
        self.has_lower = any(map(str.islower, value))
        self.has_sign = not _SIGNS.isdisjoint(inner)
        has = (self.has_digit, self.has_upper, self.has_sign, *(each in inner for each in "-._ "))
        self.flags = "".join(flag for flag, is_so in zip("9A!-._ ", has, strict=True) if is_so)
        self.mask = _mask(value)
        self.is_slug = _is_slug(value)
        self.parts = str(min(_count_parts(value), 5))
        self.features = [
            "parts" + self.parts,
            f"L{next((most for most in LENGTHS if len(value) <= most), 99)}",
            "k=" + self.mask,
            "fl=" + self.flags,
            *(f"has{flag}" for flag in self.flags),
            *(["lo"] if self.has_lower else []),
            *([] if value.isascii() else ["nonascii"]),
            *(["end=" + value[-2:]] if value.isalpha() and value.islower() else []),
            *("w=" + word for word in (value.lower().split() if " " in value else ())),
            *(["endsign"] if value[-1] in "!#$%&*?" else []),
            *("has" + sign for sign in "/:," if sign in inner),
        ]


def _is_slug(value: str) -> bool:
    """Tell of words and short numbers between dashes, a name of a text: `port-5432-is-taken`."""
    parts = value.split("-")
    return len(parts) > 2 and all(
        (part.islower() and part.isalpha()) or (part.isdigit() and len(part) < FEWEST_CHARS)
        for part in parts
    )


def _count_parts(value: str) -> int:
    """Return how many words are joined by signs or by capitals."""
    humps = sum(one.islower() and two.isupper() for one, two in pairwise(value))
    joins = sum(one.isalnum() and not two.isalnum() for one, two in pairwise(value))
    return humps + joins + 1


def _mask(value: str) -> str:
    """Return a sign for each run of a class: `Aa-9` for "Rack-88"; long ones are shortened."""
    runs: list[str] = []
    for char in value:
        kind = _CLASSES.get(char, "!")
        if char.isalnum():
            kind = (
                "9" if char.isdigit() else "a" if char.islower() else "A" if char.isupper() else "x"
            )
        if not runs or runs[-1] != kind:
            runs.append(kind)
    mask = "".join(runs)
    if " " in value and "a a" in mask:
        return "phrase" + str(min(mask.count(" ") + 1, 4))
    if mask == "9":
        return mask + str(min(len(value), 9))
    if _is_digest(value):
        return "hex" + str(len(value)) if len(value) > COMMIT_CHARS else "commit"
    if " " not in value and len(value) >= OPAQUE_CHARS:
        return "opaque"
    if value.isalnum() and len(value) > COMMIT_CHARS and mask.count("9") > 2:
        return "random"
    return mask if len(mask) < 7 else mask[:3] + "~" + "".join(c for c in "!-." if c in mask)


def is_harmless(value: str, is_quoted: bool) -> bool:
    """Tell of a form that no password has, or that another rule decides about."""
    fewest = FEWEST_CHARS - value.isdigit()
    if not fewest <= len(value) <= MOST_CHARS:
        return True
    if not _NEVER.isdisjoint(value) or value != value.strip() or (not is_quoted and "\\" in value):
        return True
    if (" " in value and max(map(len, value.split())) > COMMIT_CHARS) or value[-2:] == "==":
        return True
    return any(is_form(value) for is_form in HARMLESS) or (not is_quoted and _is_option(value))


def _is_digest(value: str) -> bool:
    digits = value.replace("-", "")
    return len(digits) >= 7 and _HEX.issuperset(digits) and not digits.isdigit()


def _is_color(value: str) -> bool:
    return (value[0] == "#" and _HEX.issuperset(value[1:])) or value[:2] == "0x"


def _is_reference(value: str) -> bool:
    return value[0] in "$%&@*~/:<{[(" or "://" in value or value.startswith(NOT_SECRET)


def is_pairs_of_digits(value: str) -> bool:
    parts = value.replace(" ", "-").split("-")
    return len(parts) > 1 and all(len(part) == 2 and part.isdigit() for part in parts)


def _is_number(value: str) -> bool:
    """Tell of versions, dates, times and sizes."""
    if is_pairs_of_digits(value):
        return False
    if value.rstrip("#*").isdigit():
        return len(value) > MOST_DIGITS
    parts = value.lstrip("vV").replace("-", ".").replace("/", ".").split(".")
    is_dotted = len(parts) > 1 and parts[0].isdigit() and parts[1][:1].isdigit()
    return not any(map(str.isalpha, value)) or (is_dotted and len(parts[0]) < 5)


def _is_name(value: str) -> bool:
    """Tell of files, addresses, paths and tickets."""
    _, dot, suffix = value.rpartition(".")
    if dot and len(suffix) < 5 and suffix.isalpha() and suffix.islower():
        return True
    user, at, host = value.partition("@")
    if at and "/" in user and _is_digest(host):  # a place in a file, with the digest of its line
        return True
    if at and ("." in host or (user.isalpha() and user.islower() and host.islower())):
        return True
    if _is_numbered(value) or value.count(":") > 1:
        return True
    signs = value.translate(_NO_JOINS)
    return "/" in value and signs.isalnum() and signs.islower()


def _is_numbered(value: str) -> bool:
    """Tell of a ticket, an image with its version, a host with its port, and an id of a cloud."""
    kind, sign, number = value.partition("-") if "-" in value else value.partition(":")
    if not sign or not kind.isalpha():
        return False
    if number.isdigit():
        return kind.isupper() or sign == ":"
    return kind.islower() and len(number) >= 8 and _is_digest(number)


HARMLESS = (_is_color, _is_reference, _is_number, _is_name)


def is_setting(value: str) -> bool:
    """Tell of `timeout=10`, whose name and value have no blank."""
    name, sign, rest = value.partition("=")
    is_name = name.replace(".", "_").replace("-", "_").lstrip("_").isidentifier()
    return is_name and bool(sign and rest) and " " not in value


def _is_option(value: str) -> bool:
    if value[0] == "-":
        return True
    name, _, rest = value.replace(":", "=").partition("=")
    return (
        bool(rest.strip("=")) and name.replace("_", "").replace("-", "").replace(".", "").isalnum()
    )

"""The form of a value: which signs it has and in which order, and forms that no password has."""

from __future__ import annotations

from itertools import groupby, pairwise

from ademem.core import regex
from ademem.core.caching import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_DIGITS = 12
COMMIT_CHARS = 15
"""Longest short name of a commit."""
FEWEST_CHARS, MOST_CHARS = 5, 200
OPAQUE_CHARS = 28
"""Characters without a blank from which a value is one of chance, whatever its signs."""
LENGTHS = (4, 5, 7, 9, 12, 16, 20, 28, 40, 64)
_HEX = frozenset("0123456789abcdefABCDEF")
_SIGNS = frozenset("!@#$%^&*?~+=")
NO_KEYS = dict.fromkeys(map(ord, "#*"))
"""Keys of a door beside its digits."""
_NO_JOINS = dict.fromkeys(map(ord, "/-_.:"))
_NEVER = frozenset("()[]{}<>")
NOT_SECRET = (
    *("./", "..", "x:", "ssh-", "age1", "AAAA", "MII", "SHA", "sha", "md5", "h1:", "eyJ"),
    *("WPA2-", "WPA3-", "pk_test_", "pk_live_"),
)
_SQLSTATE = r"(?:[0-5][0-9A-Z]|F0|HV|P0|XX)(?:0[02][0-9A-Z]|09[01]|P[0-2]\d)"
_VERSIONED = r"[a-z]+(?:[-_.:][a-z]+)*[.:]v\d{1,2}"
_CHANCE = (
    r"(?=[a-z0-9]*[A-Z])(?=[A-Z0-9]*[a-z])(?=(?:[A-Za-z]*\d){2})[A-Za-z0-9]{16}"
    r"|\A&[^\s/]*[!?^%*+&]"
)
"""Sixteen letters of both cases and digits, as no folder is named, or `&` with another sign."""
_UNSPEAKABLE = r"(?i)[b-df-hj-np-tv-xz]{5}"
_SHORTCUT = r"(?:[A-Z][a-z]+\+)+(?:[A-Z0-9]|F\d\d?)"
KEY_ID_CHARS = (16, 40)
_SETTING = frozenset("=:#")
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
        self.is_year = self.mask == "94" and value[:2] in ("19", "20")
        self.parts = str(min(_count_parts(value), 5))
        self.features = list(self._features(value))

    def _features(self, value: str) -> Iterator[str]:
        yield "parts" + self.parts
        yield _length_class(value)
        yield "k=" + self.mask
        yield "fl=" + self.flags
        yield from map("has".__add__, self.flags)
        if self.has_lower:
            yield "lo"
        if not value.isascii():
            yield "nonascii"
        if value.isalpha() and value.islower():
            yield "end=" + value[-2:]
        if " " in value:
            yield from map("w=".__add__, value.lower().split())
        if value[-1] in "!#$%&*?":
            yield "endsign"
        inner = value[1:-1]
        yield from ("has" + sign for sign in "/:,;" if sign in inner)
        if regex.search(_UNSPEAKABLE, value):
            yield "unspeakable"


def _length_class(value: str) -> str:
    return f"L{next((most for most in LENGTHS if len(value) <= most), 99)}"


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
    mask = "".join(kind for kind, _ in groupby(map(_kind, value)))
    if " " in value and "a a" in mask:
        return "phrase" + str(min(mask.count(" ") + 1, 4))
    if mask == "9":
        return mask + str(min(len(value), 9))
    if _is_digest(value):
        if len(value) > COMMIT_CHARS:
            return "hex" + str(len(value))
        if "-" not in value and value.islower():
            return "commit"
    if " " not in value and len(value) >= OPAQUE_CHARS and not _is_slug(value):
        return "opaque"
    return "random" if _is_random(value, mask) else _shorten(mask)


@lru_cache(maxsize=512)
def _kind(char: str) -> str:
    """Return the class of a character: `a`, `A`, `9`, `x` for other letters, or a sign."""
    if not char.isalnum():
        return _CLASSES.get(char, "!")
    if char.isdigit():
        return "9"
    return "a" if char.islower() else "A" if char.isupper() else "x"


def _is_random(value: str, mask: str) -> bool:
    return value.isalnum() and len(value) > COMMIT_CHARS and mask.count("9") > 2


def _shorten(mask: str) -> str:
    return mask if len(mask) < 7 else mask[:3] + "~" + "".join(c for c in "!-." if c in mask)


def is_harmless(value: str, is_quoted: bool) -> bool:
    """Tell of a form that no password has, or that another rule decides about."""
    fewest = FEWEST_CHARS - value.isdigit()
    if not fewest <= len(value) <= MOST_CHARS or _has_harmless_form(value):
        return True
    return not is_quoted and ("\\" in value or _is_option(value))


@lru_cache(maxsize=1024)
def _has_harmless_form(value: str) -> bool:
    return any(is_form(value) for is_form in HARMLESS)


def _is_range(value: str) -> bool:
    """Tell of two commits with dots between them."""
    first, dots, last = value.partition("..")
    return bool(dots) and _is_digest(first) and _is_digest(last.lstrip("."))


def _is_key_id(value: str) -> bool:
    """Tell of the short or the whole fingerprint of a key of OpenPGP, 8 or 20 bytes."""
    return len(value) in KEY_ID_CHARS and value.isupper() and _is_digest(value)


def _is_shortcut(value: str) -> bool:
    """Tell of keys that are pressed together, `Ctrl+Shift+P`."""
    return "+" in value and regex.fullmatch(_SHORTCUT, value) is not None


def _is_digest(value: str) -> bool:
    digits = value.replace("-", "")
    return len(digits) >= 7 and _HEX.issuperset(digits) and not digits.isdigit()


def _is_hexadecimal(value: str) -> bool:
    """Tell of a colour, and of numbers as a program has them."""
    digits = value[1:].replace(",0x", "").lstrip("x").rstrip("uUlL")
    return (value[0] == "#" or value[:2] == "0x") and _HEX.issuperset(digits)


def _ends_in_colour(value: str) -> bool:
    """Tell of a list in CSS, `90deg,#c1292e`."""
    _, sign, digits = value.rpartition(",#")
    return bool(sign) and len(digits) in (3, 6) and _HEX.issuperset(digits)


def _is_reference(value: str) -> bool:
    if value[0] == "*" and value[1:].rstrip("*#").isdigit():
        return False  # typed at a door, "*4711"
    if value[0] in "/&" and regex.search(_CHANCE, value):
        return False  # of base64, and of signs by chance
    return value[0] in "$%&@*~/:<{[(\\" or "://" in value or value.startswith(NOT_SECRET)


def is_groups_of_digits(value: str) -> bool:
    """Tell of groups of one length, and of the short ones of a lock, `5-31-08`."""
    parts = value.replace(" ", "-").split("-")
    if not all(map(str.isdigit, parts)):
        return False
    lengths = {len(part) for part in parts}
    if lengths == {1, 2}:
        return 2 < len(parts) < 6
    if lengths == {1}:
        return len(parts) > 3
    return len(parts) > 1 and len(lengths) == 1 and max(lengths) <= 4


def _is_number(value: str) -> bool:
    """Tell of versions, dates, times and sizes."""
    if is_groups_of_digits(value):
        return False
    if value.translate(NO_KEYS).isdigit():
        return len(value) > MOST_DIGITS
    parts = value.lstrip("vV").replace("-", ".").replace("/", ".").split(".")
    is_dotted = len(parts) > 1 and parts[0].isdigit() and parts[1][:1].isdigit()
    return not any(map(str.isalpha, value)) or (is_dotted and len(parts[0]) < 5)


def _is_quantity(value: str) -> bool:
    """Tell of a number of at most four digits with its unit, `800ms` or `4-way`."""
    number = value.rstrip("abcdefghijklmnopqrstuvwxyz")
    most = 4 if number[-1:] == "-" else 2
    digits = number.removesuffix("-")
    return digits.isdigit() and len(digits) < 5 and 0 < len(value) - len(number) <= most


def _is_sqlstate(value: str) -> bool:
    """Tell of a state of SQL with a letter, `28P01` or `0A000` (Appendix A of PostgreSQL)."""
    return len(value) == 5 and not value.isdigit() and regex.fullmatch(_SQLSTATE, value) is not None


def _has_odd_signs(value: str) -> bool:
    """Tell of brackets, outer blanks, settings in a row, a long word, and the end of base64."""
    if not _NEVER.isdisjoint(value) or value != value.strip():
        return True
    if value[-2:] == "==" and (len(value) < OPAQUE_CHARS or _is_text_in_base64(value)):
        return True
    if ";" in value and (value.count(";") > 1 or not _SETTING.isdisjoint(value)):
        return True
    return " " in value and max(map(len, value.split())) > COMMIT_CHARS


def _is_text_in_base64(value: str) -> bool:
    from binascii import Error, a2b_base64

    try:
        return a2b_base64(value).decode("ascii").isprintable()
    except (Error, ValueError):
        return False


def _is_file(value: str) -> bool:
    _, dot, suffix = value.rpartition(".")
    return bool(dot) and len(suffix) < 5 and suffix.isalpha() and suffix.islower()


def _is_address(value: str) -> bool:
    """Tell of a user at a host, and of a file or an image with a digest behind it."""
    user, at, host = value.partition("@")
    if not at:
        return False
    is_user = user.isalpha() and user.islower() and host.islower()
    is_host = "." in host and host.replace(".", "").replace("-", "").isalnum()
    return is_user or is_host or ("/" in user and _is_digest(host.removeprefix("sha256:")))


def _is_versioned_name(value: str) -> bool:
    """Tell of words between dots or colons with a version at the end, `notes.session.v3`."""
    return value[-1].isdigit() and regex.fullmatch(_VERSIONED, value) is not None


def _is_path(value: str) -> bool:
    signs = value.translate(_NO_JOINS)
    return value.count(":") > 1 or ("/" in value and signs.isalnum() and signs.islower())


def _is_numbered(value: str) -> bool:
    """Tell of a ticket, an image with its version, a host with its port, and an id of a cloud."""
    kind, sign, number = value.rpartition("-") if "-" in value else value.partition(":")
    if not sign or not kind.replace("-", "").isalpha():
        return False
    if number.isdigit():
        return "-" not in kind and (kind.isupper() or sign == ":")
    return kind.islower() and _is_digest(number) and not number.isalpha()


HARMLESS = (
    _has_odd_signs,
    _is_range,
    _is_key_id,
    _is_shortcut,
    _is_hexadecimal,
    _ends_in_colour,
    _is_reference,
    _is_number,
    _is_quantity,
    _is_sqlstate,
    _is_file,
    _is_address,
    _is_numbered,
    _is_versioned_name,
    _is_path,
)


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

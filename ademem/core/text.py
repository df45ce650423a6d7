"""Normalize, compare, truncate and digest texts."""

from __future__ import annotations

from ademem.core import regex
from ademem.core.caching import cache, lru_cache
from ademem.core.errors import suppress

try:
    from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # before 3.12 the built-in module had another name
    try:
        from _sha256 import sha256  # type: ignore[import-not-found, unused-ignore]
    except ImportError:  # which loads OpenSSL
        from hashlib import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, Literal

MONTHS = tuple(
    "january february march april may june july august september october november december".split()
)
RECENT = 16
"""Texts whose forms are cached, as many rules read the same draft."""
COMPARED = 1024
"""Texts whose words are cached, as many drafts are compared with the same memories."""

LONG = 1 << 20
"""Characters of a text above which its digest is computed in parts."""
DIGESTED_FAST = 1 << 18
"""Characters from which OpenSSL digests it, in a sixth of the time; loading that takes 2 ms."""

_AROUND = ".,;:!?…()[]{}\"'`“”‘’«»*"
_SENTENCE_ENDS = (". ", "! ", "? ", "; ", "。", "！", "？")
_BETWEEN_WORDS = {code: " " for code in range(128) if not (chr(code).isalnum() or code == ord("_"))}
_CONTROL = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160))) | {13: 10}


def clean(text: str) -> str:
    """Normalize to NFC, without control characters, lone surrogates and repeated blanks."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    text = normal("NFC", without_controls(text))
    lines = (regex.sub(r"[^\S\n]+", " ", line).rstrip() for line in text.split("\n"))
    return "\n".join(lines).strip()


def without_controls(text: str) -> str:
    """Return a text from elsewhere without characters that neither a terminal nor git may get."""
    if text.isprintable():
        return str(text)
    return replace_surrogates(text.replace("\r\n", "\n")).translate(_CONTROL)


def in_one_line(text: str) -> str:
    """Return a name, path or anchor from elsewhere, which has no line break."""
    return without_controls(text).replace("\n", " ").strip()


def replace_surrogates(text: str) -> str:
    """Return the text with "?" for half a character, which no database and no file takes."""
    return str(text) if text.isascii() else text.encode("utf-8", "replace").decode()


def normal(form: Literal["NFC", "NFD", "NFKC"], text: str) -> str:
    if text.isascii():
        return text
    import unicodedata

    return unicodedata.normalize(form, text)


@lru_cache(maxsize=RECENT)
def fold(text: str) -> str:
    return " ".join(normal("NFKC", text).casefold().split())


def with_title(title: str | None, content: str) -> str:
    return f"{title}\n{content}" if title else content


@lru_cache(maxsize=RECENT)
def dedupe_key(content: str, topic_key: str | None = None) -> str:
    return sha256_hex(topic_key or "", fold(content))


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


@lru_cache(maxsize=COMPARED)
def words(text: str) -> frozenset[str]:
    """Return the folded words of any script; CJK runs, which have no blanks, as bigrams."""
    if text.isascii():
        return frozenset(word_runs(text.lower()))
    found: set[str] = set()
    for token in word_runs(fold(text)):
        if len(token) > 2 and is_cjk(token):
            found.update(token[at : at + 2] for at in range(len(token) - 1))
        else:
            found.add(token)
    return frozenset(found)


def is_cjk(text: str) -> bool:
    return not text.isascii() and any(
        "\u2e80" <= char <= "\u9fff"
        or "\uac00" <= char <= "\ud7af"
        or "\uf900" <= char <= "\ufaff"
        or "\U00020000" <= char <= "\U0003ffff"
        or "\u0e00" <= char <= "\u0eff"
        for char in text
    )


def have_same_words(left: str, right: str) -> bool:
    """True if the texts differ in case, blanks and the punctuation around words alone.

    Signs that compare, as in `x < 5`, and those of an option belong to words.
    """
    return list_words(left) == list_words(right)


@lru_cache(maxsize=COMPARED)
def list_words(text: str) -> tuple[str, ...]:
    """Return the folded words in order, without the punctuation around them."""
    return tuple(word for raw in fold(text).split() if (word := raw.strip(_AROUND)))


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared) if shared else 0.0


def truncate(text: str, limit: int) -> str:
    """Return at most *limit* characters, without splitting a combined one."""
    if len(text) <= limit:
        return text
    end = limit
    while end > 0 and _is_joined(text[end - 1], text[end]):
        end -= 1
    return text[: end or limit].rstrip()


def whole_words(text: str, limit: int) -> str:
    """Return at most *limit* characters of whole words, as half a secret is not found."""
    if len(text) <= limit:
        return text
    head = text[:limit]
    return head.rsplit(None, 1)[0] if head.split(None, 1)[1:] else head


def truncate_bytes(text: str, limit: int) -> str:
    raw = text.encode("utf-8", "replace")
    return text if len(raw) <= limit else raw[:limit].decode("utf-8", "ignore")


def preview(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else truncate(line, limit - 1) + "…"


def opening(text: str, limit: int) -> str:
    """Return one line of the sentences, else of the words, that fit; "…" if it was cut."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    head = truncate(line, limit - 2)
    end = max((head + " ").rfind(mark) + len(mark) for mark in _SENTENCE_ENDS)
    if end > limit // 2:
        return head[:end].rstrip() + " …"
    words = line[:limit].rpartition(" ")[0]
    return (words if len(words) > limit // 2 else head) + "…"


def is_list_item(line: str) -> bool:
    head = line.lstrip(" \t").partition(" ")[0].partition("\t")[0]
    return head in ("-", "*", "+") or (head[-1:] in (".", ")") and head[:-1].isdecimal())


def slug(text: str, limit: int = 60) -> str:
    return "-".join(word_runs(fold(text[:limit]).replace("_", "-")))


def split_humps(text: str) -> str:
    """Put a blank between the words of a name: `getURLs` is `get URLs`."""
    return regex.sub(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)


def word_runs(text: str) -> list[str]:
    r"""Return what `\w+` finds in a text; a search that loads no `re` starts in a tenth less."""
    if not text.isascii():
        text = "".join(char if char.isalnum() or char == "_" else " " for char in text)
    return text.translate(_BETWEEN_WORDS).split()


def _is_joined(left: str, right: str) -> bool:
    import unicodedata

    return (
        left == "\u200d"
        or right in "\u200d\ufe0e\ufe0f"
        or "\U0001f3fb" <= right <= "\U0001f3ff"
        or unicodedata.combining(right) > 0
    )


def counted(count: int, noun: str) -> str:
    """“0 memories”, “1 memory”, “1,000 memories”."""
    if count == 1:
        return f"1 {noun}"
    many = noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeiou" else noun + "s"
    return f"{count:,} {many}"


def with_article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def join_counts(counts: Mapping[str, int], *, zeros: bool = False) -> str:
    """“1 memory, 2,000 prompts, 3 new” of counts by words in the plural."""
    parts = []
    for many, count in counts.items():
        one = many[:-3] + "y" if many.endswith("ies") else many.removesuffix("s")
        if count or zeros:
            parts.append(f"{count:,} {one if count == 1 else many}")
    return ", ".join(parts)


def unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


def is_one_edit(one: str, other: str) -> bool:
    """True for one letter more, less or different, or two swapped; and for equal texts."""
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    one, other = one[same:], other[same:]
    return (
        one[1:] == other[1:]
        or one[1:] == other
        or one == other[1:]
        or (one[:2] == other[1::-1] and one[2:] == other[2:])
    )


def sha256_hex(*parts: str) -> str:
    """Return the hex digest of the parts, by which ("ab", "c") differs from ("a", "bc")."""
    if len(parts) == 1 and len(parts[0]) > DIGESTED_FAST:
        return of_stream(slices(parts[0]), len(parts[0]))
    framed = "".join([f"{len(part)}:{part}" for part in parts])
    digest: str = sha256(framed.encode("utf-8", "surrogatepass")).hexdigest()
    return digest


def of_stream(parts: Iterable[str], length: int) -> str:
    """Return `sha256_hex` of one text of *length* characters, read in parts."""
    digest = _load_fast_sha256()(f"{length}:".encode())
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass"))
    return str(digest.hexdigest())


@cache
def _load_fast_sha256() -> Any:
    with suppress(ImportError):
        from _hashlib import openssl_sha256  # `hashlib` loads all other digests with it

        return openssl_sha256
    return sha256


def slices(text: str) -> Iterator[str]:
    return (text[start : start + LONG] for start in range(0, len(text), LONG))


def number(text: str) -> int:
    return int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def bytes_hex(data: bytes) -> str:
    digest: str = sha256(data).hexdigest()
    return digest

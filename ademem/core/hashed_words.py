"""The words of a text and what stands beside them, hashed into buckets for a linear model."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from zlib import crc32

from ademem.core import regex
from ademem.core.caching import lru_cache
from ademem.core.text import normal

BUCKETS = 1 << 17
PIECE, STEP, WHOLE = 32, 8, 320
"""Words of a piece that is judged alone, from one piece to the next, and judged at once at most."""
FEWEST = 4
"""Words of a text below which nothing is judged: labels and names, of which no author wrote any."""
LENGTH_STEP, LENGTHS = 3, 10
"""Words by which lengths of sentences differ, and how many lengths are told apart."""

_GRAM = crc32(b"g")
"""The checksum with which that of a part of a word goes on."""
_ASCII_WORD = r"[A-Za-z]+|\d+|[^\w\s]|_"
_WORD = r"[\u2e80-\ua4cf\uf900-\ufaff]|[^\W\d_\u2e80-\ua4cf\uf900-\ufaff]+|\d+|[^\w\s]|_"
"""The same for any text, which takes 2 ms to compile."""


class HashedWords:
    """Words with their places in the normalized text, and the buckets that begin at each."""

    def __init__(self, text: str) -> None:
        self.text = normal("NFKC", text)
        pattern = _ASCII_WORD if self.text.isascii() else _WORD
        self.places = [found.span() for found in regex.finditer(pattern, self.text)]
        lower = [self.text[start:end].lower() for start, end in self.places]
        self.words = ["0" if word.isdigit() else word for word in lower]
        self._alone = list(map(_buckets_of, self.words))
        self._near = [_bucket(f"b{one} {other}") for one, other in pairwise(self.words)]
        apart = zip(self.words, self.words[2:], strict=False)
        self._apart = [_bucket(f"s{one} {other}") for one, other in apart]

    def features(self, start: int, end: int) -> set[int]:
        opening = _bucket("f" + " ".join(self.words[start : min(start + 2, end)]))
        found = {opening}.union(*self._alone[start:end])
        return found.union(self._near[start : end - 1], self._apart[start : max(end - 2, start)])

    def sentence_features(self) -> set[int]:
        """Return the buckets of all words, of how they begin and end, and of their number."""
        words = self.words
        if not words:
            return set()
        number = _bucket(f"n{min(len(words) // LENGTH_STEP, LENGTHS)}")
        begins = (_bucket("f" + " ".join(words[:some])) for some in (1, 3))
        ends = (_bucket("l" + " ".join(words[-some:])) for some in (1, 2, 3))
        found = self.features(0, len(words)) | {number, *begins, *ends}
        return found.union(*map(_buckets_of_letters, filter(_is_hangul, words)))

    def lines(self) -> list[tuple[int, int]]:
        """Return start and end of each line."""
        starts = [start for start, _ in self.places]
        ends, end = [0], 0
        for line in self.text.splitlines(keepends=True):
            end += len(line)
            ends.append(bisect_left(starts, end))
        return list(pairwise(ends))

    def pieces(self, first: int = 0, last: int | None = None) -> list[tuple[int, int]]:
        """Return start and end of the text, or of a part of it, and of all its short pieces.

        A long text is read in several parts.
        """
        last = len(self.words) if last is None else last
        if last - first < FEWEST:
            return []
        short = range(first, last - PIECE + STEP, STEP) if last - first > PIECE else ()
        whole = range(first, last, WHOLE)
        parts = [*((at, WHOLE) for at in whole), *((at, PIECE) for at in short)]
        return [(start, min(start + size, last)) for start, size in parts]

    def quote(self, start: int, end: int) -> str:
        """Return words as they are spelled in the text."""
        return self.text[self.places[start][0] : self.places[end - 1][1]]


@lru_cache(maxsize=4096)
def _buckets_of(word: str) -> tuple[int, ...]:
    """Return the buckets of a word, and of each three and each five of its characters."""
    text = f"^{word}$"
    if text.isascii():  # as most words are, whose characters are bytes
        data = text.encode()
        grams = {crc32(data[at:end], _GRAM) % BUCKETS for at, end in _grams(text)}
    else:
        grams = {_bucket(f"g{text[at:end]}") for at, end in _grams(text)}
    return (_bucket(f"w{word}"), *grams)


def _is_hangul(word: str) -> bool:
    return "\uac00" <= word[0] <= "\ud7a3"


@lru_cache(maxsize=1024)
def _buckets_of_letters(word: str) -> tuple[int, ...]:
    """Return the same of the letters of Korean syllables, of which one has two or three."""
    text = f"^{normal('NFD', word)}$"
    return tuple(_bucket(f"j{text[at:end]}") for at, end in _grams(text))


def _grams(text: str) -> list[tuple[int, int]]:
    """Return start and end of each three and each five characters."""
    return [(at, at + n) for n in (3, 5) for at in range(len(text) - n + 1)]


def _bucket(text: str) -> int:
    return crc32(text.encode("utf-8", "replace")) % BUCKETS

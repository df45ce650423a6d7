"""Numbers of which two texts have one in common when they share most of their words.

Words are dealt into parts by their hash; a signature is the sum of one part. Two sets that differ
in fewer words than there are parts agree in one part at least: nothing is overlooked, and hardly
anything else is found, as a part has about six words.
"""

from __future__ import annotations

import math
from functools import lru_cache

from ademem.core.digest import number

SHARE = 0.85
"""Jaccard similarity from which two sets of words have a signature in common."""
WEAK = 8
"""Letters below which a part says so little that half of all texts may have it."""
ROUNDS = 3
"""How often words are dealt anew because a part was weak."""
BITS = 47
"""Of a signature, and of a sketch: SQLite keeps each in six bytes."""

ROUNDING = 1e-9
"""What a quotient may be off."""
_SPREAD = 0x9E3779B97F4A7C15
_ALL = 2**64 - 1


def own(words: frozenset[str], home: str) -> set[int]:
    """The signatures a text is found by, among those of the same *home*; none without words."""
    band = _band(len(words))
    return _signatures(band, _dealt(words), number(home), parts(band)) if words else set()


def of_likes(words: frozenset[str], home: str) -> set[int]:
    """The signatures of which every text that shares so much has one.

    Of each band as many parts as can differ, and one more, which cannot.
    """
    dealt, salt = _dealt(words), number(home)
    enough = most_apart(len(words), SHARE) + 1
    band = _band(math.ceil(len(words) * SHARE - ROUNDING))
    found = _signatures(band, dealt, salt, enough) if words else set()
    while band < int(len(words) / SHARE + ROUNDING):
        band = _band(band + 1)
        found |= _signatures(band, dealt, salt, enough)
    return found


def sketch(words: frozenset[str]) -> int:
    """A bit for each place on which an odd number of words falls.

    Two sketches differ in no more bits than their sets in words.
    """
    found = 0
    for hashed, _ in _dealt(words):
        found ^= 1 << hashed % BITS
    return found


def parts(band: int) -> int:
    """One more than the words in which a set of the band and its like differ."""
    return most_apart(band, SHARE) + 1


def most_apart(size: int, share: float) -> int:
    """Of a set of this size and one that shares so much with it: how many words are not in both.

    They are |x ∪ y| - |x ∩ y| ≤ |x| (1 / share - 1), as |x ∪ y| ≤ |x| / share.
    """
    return int(size * (1 / share - 1) + ROUNDING)


@lru_cache(maxsize=2**10)
def _band(size: int) -> int:
    """The largest size whose sets are dealt into as many parts, so that they can be compared.

    Wider bands make a few more signatures, and fewer to be asked for: likes lie in one or two.
    """
    end = 0
    while end < size:
        end = int((end + 1) / SHARE**2 + ROUNDING)
    return end


@lru_cache(maxsize=4)
def _dealt(words: frozenset[str]) -> tuple[tuple[int, int], ...]:
    """Hash and length of each word."""
    return tuple([(_number(word), len(word)) for word in words])


@lru_cache(maxsize=2**15)
def _number(word: str) -> int:
    return number(word)


def _signatures(
    band: int, dealt: tuple[tuple[int, int], ...], salt: int, enough: int, round_: int = 0
) -> set[int]:
    """Of the strongest parts, so many as are *enough*.

    Weak parts are left out; who needs one is also found by parts dealt another way.
    """
    count = parts(band)
    sums, letters = [0] * count, [0] * count
    shift = 20 * round_
    for hashed, length in dealt:
        part = (hashed >> shift) % count
        sums[part] += hashed
        letters[part] += length
    last = count == 1 or round_ == ROUNDS - 1
    strong = [part for part in range(count) if last or letters[part] >= WEAK]
    place = (band * ROUNDS + round_) << 16
    found = {
        ((sums[part] ^ salt) + (place | part) * _SPREAD & _ALL) >> 64 - BITS
        for part in sorted(strong, key=letters.__getitem__, reverse=True)[:enough]
    }
    if len(strong) < min(enough, count):
        found |= _signatures(band, dealt, salt, enough, round_ + 1)
    return found

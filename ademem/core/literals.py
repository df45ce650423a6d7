"""Find which of some hundred literals a text may have, by looking into its distinct words.

A file says most of its words several times, and the files of a project share them, so a process
that reads files searches a word once.
"""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from operator import add

    _Parts = dict[str, list[tuple[str, frozenset[str]]]]
    """Strings by their first two characters, each with its pairs of characters."""
else:
    from _operator import add  # the module around it defines all of it once more

READ_CHARS = 4000
"""Characters that a process searches for each literal before it makes an index in a millisecond."""
MOST_WORDS, WORD_CHARS = 16384, 24
"""Words that are remembered, and the longest of them: longer ones are mostly said once."""


class Literals:
    """Literals in lower case are meant in any case, and as *simplify* spells a text, too.

    What it spells has the length of the text.
    """

    def __init__(self, literals: Iterable[str], simplify: Callable[[str], str]) -> None:
        self._literals = frozenset(literals)
        self._simplify = simplify
        self._searched = 0
        self._small: _Parts = {}
        """Parts in lower case; a part is a literal, of one with blanks the longest word."""
        self._capital: _Parts = {}
        """Other parts."""
        self._signs: list[str] = []
        self._with_blanks: dict[str, list[str]] = {}
        """Literals with blanks by their parts."""
        self._without: set[str] = set()
        """Words without any; most are."""
        self._with: dict[str, set[str]] = {}

    def find(self, text: str) -> frozenset[str]:
        """Return the literals that are in the text."""
        self._searched += len(text)
        if self._searched < READ_CHARS:
            spelled = self._spell(text)
            return frozenset([each for each in self._literals if each in spelled])
        if not self._small:
            self._make_index()
        return self._find_by_words(text)

    def _make_index(self) -> None:
        for part in self._literals:
            if part.split() != [part]:
                each, part = part, max(part.split(), key=len)
                self._with_blanks.setdefault(part, []).append(each)
            if len(part) == 1:
                self._signs.append(part)
                continue
            parts = self._small if part == part.lower() else self._capital
            parts.setdefault(part[:2], []).append((part, frozenset(map(add, part, part[1:]))))

    def _find_by_words(self, text: str) -> frozenset[str]:
        parts = {sign for sign in self._signs if sign in text}
        new = []
        for word in set(text.split()).difference(self._without):
            known = self._with.get(word)
            if known is None:
                new.append(word)
            else:
                parts |= known
        parts.update(*self._read(new).values() if new else ())
        found = self._literals.intersection(parts)
        divided = self._with_blanks.keys() & parts
        if not divided:
            return found
        small = text.lower()
        plain = small if small.isascii() else self._simplify(small)
        spelled = small if plain == small else f"{small}\n{plain}"
        whole = [
            each
            for part in divided
            for each in self._with_blanks[part]
            if each in (spelled if each == each.lower() else text)
        ]
        return found.union(whole)

    def _spell(self, text: str) -> str:
        """Return the text as it may be meant, one spelling after the other."""
        lowered = text.lower()
        spelled = text if lowered == text else f"{text}\n{lowered}"
        return spelled if text.isascii() else f"{spelled}\n{self._simplify(lowered)}"

    def _read(self, words: Sequence[str]) -> dict[str, set[str]]:
        """Return the parts that each word has, if any, and remember them."""
        small = "\n".join(words).lower()
        plain = small if small.isascii() else self._simplify(small)
        lines = small.split("\n")
        found: dict[str, set[str]] = {}
        self._find_in(self._small, lines, words, found)
        if small != "\n".join(words):
            capital = [word for word, line in zip(words, lines, strict=True) if word != line]
            self._find_in(self._capital, capital, capital, found)
        if plain != small:
            spelled = zip(words, lines, plain.split("\n"), strict=True)
            accented = {word: plain for word, line, plain in spelled if plain != line}
            self._find_in(self._small, list(accented.values()), list(accented), found)
        self._remember(words, found)
        return found

    def _find_in(
        self,
        parts: _Parts,
        spelled: Sequence[str],
        words: Sequence[str],
        found: dict[str, set[str]],
    ) -> None:
        """Add the parts that are in words as they are spelled."""
        text = "\n".join(spelled)
        pairs = set(map(add, text, text[1:]))
        ends: list[int] = []
        for start in parts.keys() & pairs:
            for part in [part for part, needed in parts[start] if needed <= pairs]:
                at = text.find(part)
                while at >= 0:
                    ends = ends or list(accumulate([len(each) + 1 for each in spelled]))
                    found.setdefault(words[bisect(ends, at)], set()).add(part)
                    at = text.find(part, at + 1)

    def _remember(self, words: Sequence[str], found: dict[str, set[str]]) -> None:
        if len(self._without) + len(self._with) + len(words) > MOST_WORDS:
            self._without.clear()
            self._with.clear()
        usual = [word for word in words if len(word) <= WORD_CHARS][:MOST_WORDS]
        self._without.update(set(usual).difference(found))
        self._with.update((word, found[word]) for word in usual if word in found)

"""Find which of some hundred literals a text may have, by looking into its distinct words.

A file says most of its words several times, and the files of a project share them, so a process
that reads files searches a word once.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from operator import add
else:
    from _operator import add  # the module around it defines all of it once more

READ_CHARS = 4000
"""Characters that a process searches for each literal before it makes an index in 0.3 ms."""
MOST_WORDS, WORD_CHARS = 8192, 24
"""Words that are remembered, and the longest of them: longer ones are mostly said once."""


class Literals:
    """Literals in lower case are meant in any case, and as *simplify* spells a text, too."""

    def __init__(self, literals: Iterable[str], simplify: Callable[[str], str]) -> None:
        self._literals = frozenset(literals)
        self._simplify = simplify
        self._searched = 0
        self._by_start: dict[str, list[str]] = {}
        """Literals by their first two characters; of one with blanks its longest part."""
        self._with_blanks: dict[str, list[str]] = {}
        """Those by that part, which is in a word."""
        self._signs: list[str] = []
        self._without: set[str] = set()
        """Words without any; most are."""
        self._with: dict[str, list[str]] = {}

    def find(self, text: str) -> frozenset[str]:
        """Return the literals that are in the text."""
        self._searched += len(text)
        if self._searched < READ_CHARS:
            spelled = self._spell(text)
            return frozenset([each for each in self._literals if each in spelled])
        if not self._by_start:
            self._make_index()
        return self._find_by_words(text)

    def _make_index(self) -> None:
        for part in self._literals:
            if " " in part:
                each, part = part, max(part.split(), key=len)
                self._with_blanks.setdefault(part, []).append(each)
            self._by_start.setdefault(part[:2], []).append(part)
        self._signs = [start for start in self._by_start if len(start) == 1]

    def _find_by_words(self, text: str) -> frozenset[str]:
        parts = {sign for sign in self._signs if sign in text}
        for word in set(text.split()).difference(self._without):
            known = self._with.get(word)
            parts.update(self._find_in(word) if known is None else known)
        found = self._literals.intersection(parts)
        divided = self._with_blanks.keys() & parts
        if not divided:
            return found
        spelled = self._spell(text)
        whole = [each for part in divided for each in self._with_blanks[part] if each in spelled]
        return found.union(whole)

    def _spell(self, text: str) -> str:
        """Return the text as it may be meant, one spelling after the other."""
        lowered = text.lower()
        spelled = text if lowered == text else f"{text}\n{lowered}"
        return spelled if text.isascii() else f"{spelled}\n{self._simplify(lowered)}"

    def _find_in(self, word: str) -> list[str]:
        spelled = self._spell(word)
        parts = [
            part
            for start in self._by_start.keys() & set(map(add, spelled, spelled[1:]))
            for part in self._by_start[start]
            if part in spelled
        ]
        if len(word) <= WORD_CHARS:
            self._remember(word, parts)
        return parts

    def _remember(self, word: str, parts: list[str]) -> None:
        if len(self._without) + len(self._with) == MOST_WORDS:
            self._without.clear()
            self._with.clear()
        if parts:
            self._with[word] = parts
        else:
            self._without.add(word)

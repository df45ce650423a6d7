"""Find which of some hundred literals a text may have, by looking into its distinct words.

A file says most of its words several times, and the files of a project share them, so a word is
searched once a process.
"""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MOST_WORDS, WORD_CHARS = 8192, 24
"""Words that are remembered, and the longest of them: longer ones are mostly said once."""


class Literals:
    """Literals in lower case are meant in any case, and as *simplify* spells a text, too."""

    def __init__(self, literals: Iterable[str], simplify: Callable[[str], str]) -> None:
        self.simplify = simplify
        self._by_part: dict[str, list[str]] = {}
        """Literals by their longest part without a blank, which is in a word."""
        for each in set(literals):
            self._by_part.setdefault(max(each.split(), key=len), []).append(each)
        self._signs = [part for part in self._by_part if len(part) == 1]
        self._by_start: dict[tuple[str, ...], list[str]] = {}
        """Other parts by their first two characters."""
        for part in self._by_part:
            if len(part) > 1:
                self._by_start.setdefault(tuple(part[:2]), []).append(part)
        self._without: set[str] = set()
        """Words without any; most are."""
        self._with: dict[str, list[str]] = {}

    def find(self, text: str) -> set[str]:
        """Return the literals that are in the text."""
        parts = {sign for sign in self._signs if sign in text}
        for word in set(text.split()).difference(self._without):
            known = self._with.get(word)
            parts.update(self._find_in(word) if known is None else known)
        if not parts:
            return parts
        spelled = self._spell(text)
        return {
            each
            for part in parts
            for each in self._by_part[part]
            if each == part or each in spelled
        }

    def _spell(self, text: str) -> str:
        """Return the text as it may be meant, one spelling after the other."""
        lowered = text.lower()
        spelled = text if lowered == text else f"{text}\n{lowered}"
        return spelled if text.isascii() else f"{spelled}\n{self.simplify(lowered)}"

    def _find_in(self, word: str) -> list[str]:
        spelled = self._spell(word)
        parts = [
            part
            for start in self._by_start.keys() & set(pairwise(spelled))
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

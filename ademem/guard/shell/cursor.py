"""A place in a text that moves forward."""

from __future__ import annotations

import re


class Unreadable(Exception):
    """The text is not a complete shell script, or nests deeper than anybody writes."""


class Cursor:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    @property
    def done(self) -> bool:
        return self.at >= len(self.text)

    @property
    def char(self) -> str:
        return self.text[self.at : self.at + 1]

    def sees(self, *literals: str) -> bool:
        return self.text.startswith(literals, self.at)

    def takes(self, literal: str) -> bool:
        if not self.text.startswith(literal, self.at):
            return False
        self.at += len(literal)
        return True

    def take(self, length: int) -> str:
        taken = self.text[self.at : self.at + length]
        self.at += len(taken)
        return taken

    def peek(self, pattern: str) -> re.Match[str] | None:
        """What *pattern* finds here; it is compiled when it is first needed."""
        return re.compile(pattern).match(self.text, self.at)

    def match(self, pattern: str) -> re.Match[str] | None:
        """What *pattern* finds here, which is passed."""
        found = self.peek(pattern)
        if found:
            self.at = found.end()
        return found

    def through(self, literal: str) -> str:
        """What stands before the next *literal*, which is skipped."""
        end = self.text.find(literal, self.at)
        if end < 0:
            raise Unreadable(f"no closing {literal}")
        taken = self.text[self.at : end]
        self.at = end + len(literal)
        return taken

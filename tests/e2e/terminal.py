"""What a terminal of 70 rows showed since a client drew all of it last, of the bytes it wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import east_asian_width

COLUMNS, ROWS = 150, 70
_PARTS = re.compile(
    r"\x1b\[(?P<private>[?<>=]?)(?P<numbers>[\d;:]*)[ -/]*(?P<final>[@-~])"
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[P_^X].*?\x1b\\|\x1b[()*+].|\x1b.|(?P<text>.)",
    re.S,
)
BLANK = " "


class Terminal:
    def __init__(self) -> None:
        self.lines: list[list[str]] = [[]]
        self.top = self.row = self.column = self.begin = 0
        """Rows count from the first line ever shown; *top* is the first one of the screen, *begin*
        the one at which all was drawn anew."""

    def show(self, written: bytes) -> str:
        for part in _PARTS.finditer(written.decode("utf-8", "replace")):
            if part["text"]:
                self._write(part["text"])
            elif part["final"] and not part["private"]:
                numbers = [int(each or 0) for each in re.split("[;:]", part["numbers"])]
                self._control(part["final"], numbers)
        return "\n".join("".join(line).rstrip() for line in self.lines[self.begin :])

    def _write(self, char: str) -> None:
        match char:
            case "\r":
                self.column = 0
            case "\n":
                self._move(self.row + 1)
            case "\b":
                self.column = max(0, self.column - 1)
            case _ if char >= BLANK:
                width = 2 if east_asian_width(char) in "WF" else 1
                if self.column + width > COLUMNS:
                    self.column = 0
                    self._move(self.row + 1)
                self._put([char, ""][:width])

    def _put(self, cells: list[str]) -> None:
        line = self.lines[self.row]
        line += [BLANK] * (self.column + len(cells) - len(line))
        line[self.column : self.column + len(cells)] = cells
        self.column += len(cells)

    def _move(self, row: int) -> None:
        self.row = max(self.top, row)
        self.lines += [[] for _ in range(self.row + 1 - len(self.lines))]
        self.top = max(self.top, self.row + 1 - ROWS)

    def _control(self, final: str, numbers: list[int]) -> None:
        count = max(1, numbers[0])
        match final:
            case "A" | "F":
                self._move(self.row - count)
            case "B" | "E":
                self._move(min(self.row + count, self.top + ROWS - 1))
            case "C":
                self.column = min(self.column + count, COLUMNS - 1)
            case "D":
                self.column = max(self.column - count, 0)
            case "G":
                self.column = count - 1
            case "H":
                self._move(self.top + count - 1)
                self.begin = self.row if count == 1 else self.begin
                self.column = max(1, numbers[1] if len(numbers) > 1 else 1) - 1
            case "J" | "K":
                self._erase(final, numbers[0])
        if final in "EF":
            self.column = 0

    def _erase(self, final: str, which: int) -> None:
        if which == 3:  # what scrolled off
            del self.lines[: self.top]
            self.row, self.begin, self.top = self.row - self.top, 0, 0
            return
        line = self.lines[self.row]
        if which == 0:
            del line[self.column :]
        elif which == 2 or final == "J":
            line.clear()
        if final == "J" and which in (0, 2):
            del self.lines[self.row + 1 :]
        if final == "J" and which == 2:
            for above in self.lines[self.top : self.row]:
                above.clear()


def read_lines(written: bytes) -> Iterator[str]:
    """Yield the lines that are not empty."""
    return (line for line in Terminal().show(written).split("\n") if line.strip())

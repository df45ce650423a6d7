"""Take the text of an instruction file apart into items that can be said alone.

An item is a paragraph, an entry of a list with what is below it, a row of a table with its header,
numbered steps as one procedure, or code with the sentence before it. Headings and a sentence that
ends with a colon are the context of what follows.
"""

from __future__ import annotations

from bisect import bisect_left

from ademem.core import regex
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    _Read = Callable[["_Parser", int], int]

ENTRY_CHARS = 600
"""Length up to which an entry is one item with the entries below it."""
STEPS_CHARS = 2000
"""Length up to which numbered steps are one item."""
ITEM_CHARS = 2000
"""Longest item; the rest of a longer one is cut off."""
SENTENCE_CHARS = 300
"""Length up to which a paragraph is one item with the code behind it."""
LINE_CHARS = 4000
"""Part of a line that is read."""
MOST_DEEP = 12

COMMENT, LINKS = "comment", "links only"

_HEADING = regex.compile(r" {0,3}(#{1,6})[ \t]+(?=\S)")
_FENCE = regex.compile(r"[ \t]*(`{3,}|~{3,})")
_ENTRY = regex.compile(r"([ \t]*)([-*+•]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(\S.*)$")
_RULE = regex.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_UNDERLINE = regex.compile(r" {0,3}(=+|-+)[ \t]*$")
_DELIMITER = regex.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_LINK = regex.compile(
    r"!?\[[^\]\n]*\]\([^)\n]*\)|!?\[[^\]\n]*\]\[[^\]\n]*\]|<?\w+://[^\s>]+>?|@[\w./~-]+"
)
_LETTER = regex.compile(r"[^\W\d_]")
_BOLD = regex.compile(r"(\*\*|__)[^*_\n]+:?\1:?$")


class Item(Value):
    first: int
    """Number of its first line, from 1."""
    last: int
    heads: tuple[str, ...] = ()
    """Headings that it stands below, the outermost first."""
    lead: str = ""
    """The sentence with a colon that it follows, or the entry that it is below."""
    text: str = ""
    prose: str = ""
    """The text without code behind it."""
    is_steps: bool = False
    is_row: bool = False


class Skipped(Value):
    line: int
    why: str


class Parsed(Value):
    items: tuple[Item, ...] = ()
    skipped: tuple[Skipped, ...] = ()


def parse(lines: Sequence[str], start: int = 0) -> Parsed:
    """Read lines from the one at *start*; no text raises."""
    parser = _Parser([line[:LINE_CHARS] for line in lines])
    parser.read(start)
    return Parsed(items=tuple(parser.items), skipped=tuple(parser.skipped))


class _Entry:
    """An entry of a list, with its own text and the entries below it."""

    def __init__(self, at: int, indent: int, mark: str, text: str) -> None:
        self.at, self.end, self.indent, self.mark = at, at, indent, mark
        self.lines = [text]
        self.prose = [text]
        """Its lines without code."""
        self.below: list[_Entry] = []

    @property
    def own(self) -> str:
        return "\n".join(self.lines).strip()

    @property
    def last(self) -> int:
        return max([self.end, *(each.last for each in self.below)]) if self.below else self.end

    def all_prose(self) -> str:
        return "\n".join([*self.prose, *(each.all_prose() for each in self.below)])

    def whole(self, depth: int = 0) -> str:
        below = [each.whole(depth + 1) for each in self.below] if depth < MOST_DEEP else []
        margin = "  " * depth
        mark = f"{self.mark} " if depth else ""
        own = self.own.replace("\n", f"\n{margin}")
        return "\n".join([f"{margin}{mark}{own}", *below])


class _Parser:
    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.items: list[Item] = []
        self.skipped: list[Skipped] = []
        self.heads: list[tuple[int, str]] = []
        self.lead = ""
        self.lead_at = 0
        self.paragraph: list[tuple[int, str]] = []
        self.sentence = False
        """The last item is a short paragraph, to which code may belong."""
        self.open_fences: set[str] = set()
        """Fences that no later line closes."""
        self.comment_ends = [at for at, line in enumerate(lines) if "-->" in line]

    def read(self, at: int) -> None:
        while at < len(self.lines):
            at = self._read_block(at)
        self._end_paragraph()

    def _read_block(self, at: int) -> int:
        """Read what begins at a line, and return the line behind it."""
        bare = self.lines[at].strip()
        if not bare:
            self._end_paragraph()
            return at + 1
        for read in _BLOCKS.get("0" if bare[0].isdigit() else bare[0], _OTHER_BLOCKS):
            if end := read(self, at):
                return end
        if not self.paragraph and (end := self._indented_end(at)):
            self._add_code(at, end - 1, "\n".join(map(_without_margin, self.lines[at:end])))
            return end
        self.paragraph.append((at, bare.lstrip("> ") if bare[0] == ">" else bare))
        return at + 1

    # Each reads the block that begins at a line, and returns the line behind it; 0 for none.

    def read_comment(self, at: int) -> int:
        end = self._comment_end(at) if self.lines[at].lstrip().startswith("<!--") else 0
        if end:
            self._end_paragraph()
            self.skipped.append(Skipped(line=at + 1, why=COMMENT))
        return end

    def read_code(self, at: int) -> int:
        fence = _FENCE.match(self.lines[at])
        return self._read_code(at, fence[1]) if fence else 0

    def read_heading(self, at: int) -> int:
        if not (heading := _HEADING.match(self.lines[at])):
            return 0
        self._end_paragraph()
        self._open(len(heading[1]), self.lines[at][heading.end() :].strip().rstrip("#"))
        return at + 1

    def read_underline(self, at: int) -> int:
        if not (self.paragraph and _UNDERLINE.match(self.lines[at])):
            return 0
        title = " ".join(text for _, text in self.paragraph)
        self.paragraph = []
        self._open(1 if self.lines[at].lstrip()[0] == "=" else 2, title)
        return at + 1

    def read_rule(self, at: int) -> int:
        if not _RULE.match(self.lines[at]):
            return 0
        self._end_paragraph()
        self.lead = ""
        return at + 1

    def read_table(self, at: int) -> int:
        begins = "|" in self.lines[at] and not self.paragraph and self._is_table(at)
        return self._read_table(at) if begins else 0

    def read_list(self, at: int) -> int:
        if not _ENTRY.match(self.lines[at]):
            return 0
        self._end_paragraph()
        return self._read_list(at)

    def read_numbered(self, at: int) -> int:
        return 0 if self.paragraph else self.read_list(at)

    def _open(self, level: int, title: str) -> None:
        self.heads = [each for each in self.heads if each[0] < level]
        self.heads.append((level, " ".join(title.replace("*", "").split())[:200]))
        self.lead = ""

    def _comment_end(self, at: int) -> int:
        """Return the line behind a comment; 0 for one that is open or has text behind it."""
        place = bisect_left(self.comment_ends, at)
        if place == len(self.comment_ends):
            return 0
        end = self.comment_ends[place]
        return end + 1 if self.lines[end].rstrip().endswith("-->") else 0

    def _add(
        self,
        first: int,
        last: int,
        text: str,
        lead: str,
        *,
        prose: str | None = None,
        is_steps: bool = False,
        is_row: bool = False,
    ) -> None:
        text = text.strip()[:ITEM_CHARS].rstrip()
        plain = _LINK.sub("", text) if "[" in text or "://" in text or "@" in text else text
        if not _LETTER.search(plain):
            if text and _LETTER.search(text):
                self.skipped.append(Skipped(line=first + 1, why=LINKS))
            return
        self.sentence = False
        heads = tuple(title for _, title in self.heads)
        self.items.append(
            Item(
                first=first + 1,
                last=last + 1,
                heads=heads,
                lead=lead[:ENTRY_CHARS],
                text=text,
                prose=text if prose is None else prose,
                is_steps=is_steps,
                is_row=is_row,
            )
        )

    def _end_paragraph(self) -> None:
        if not self.paragraph:
            return
        text = " ".join(text for _, text in self.paragraph)
        first, last = self.paragraph[0][0], self.paragraph[-1][0]
        self.paragraph = []
        if text.rstrip("*_ ").endswith((":", "：")) or _BOLD.fullmatch(text):
            before, sentence = _last_sentence(text)
            if before:
                self._add(first, last, before, "")
            self.lead = sentence.replace("**", "").strip("*_ ")
            self.lead_at = last if before else first
            return
        lead, self.lead = self.lead, ""
        count = len(self.items)
        self._add(first, last, text, lead)
        self.sentence = len(self.items) > count and len(text) <= SENTENCE_CHARS

    def _read_code(self, at: int, fence: str) -> int:
        """Read code between fences; a fence that none closes is left out."""
        end = self._fence_end(at, fence)
        if not end:
            self._end_paragraph()
            return at + 1
        code = "\n".join(self.lines[at + 1 : end]).strip("\n")
        if code.strip():
            self._add_code(at, end, code)
        else:
            self._end_paragraph()
        return end + 1

    def _indented_end(self, at: int) -> int:
        """Return the line behind code that four blanks mark; 0 for none."""
        end = 0
        while at < len(self.lines) and self.lines[at].startswith(("    ", "\t")):
            end = at + 1
            at = self._skip_blank(end)
        return end

    def _add_code(self, at: int, end: int, code: str) -> None:
        """Add the code of some lines with the sentence before it."""
        before, lead, first, is_steps = "", "", at, False
        if self.paragraph:
            before = " ".join(text for _, text in self.paragraph)
            first = self.paragraph[0][0]
            self.paragraph = []
        elif self.lead:
            before, first = self.lead, self.lead_at
        elif self._introduces(at):
            sentence = self.items.pop()
            before, lead, first = sentence.text, sentence.lead, sentence.first - 1
            is_steps = sentence.is_steps
        text = f"{before}\n{code}" if before else code
        self._add(first, end, text, lead, prose=before, is_steps=is_steps)
        self.lead = ""

    def _introduces(self, at: int) -> bool:
        """Tell whether the last item is a sentence to which code at a line belongs."""
        if not self.items or self._has_text(self.items[-1].last, at):
            return False
        return self.sentence or self.items[-1].text.endswith((":", "："))

    def _has_text(self, start: int, end: int) -> bool:
        return any(line.strip() for line in self.lines[start:end])

    def _fence_end(self, at: int, fence: str) -> int:
        if fence in self.open_fences:
            return 0
        for end in range(at + 1, len(self.lines)):
            line = self.lines[end].strip()
            if line.startswith(fence) and not line.strip(fence[0]):
                return end
        self.open_fences.add(fence)
        return 0

    def _is_table(self, at: int) -> bool:
        following = self.lines[at + 1] if at + 1 < len(self.lines) else ""
        return "-" in following and "|" in following and _DELIMITER.match(following) is not None

    def _read_table(self, at: int) -> int:
        header = _cells(self.lines[at])
        row = at + 2
        while row < len(self.lines) and "|" in self.lines[row]:
            pairs = zip(header, _cells(self.lines[row]), strict=False)
            text = " · ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
            self._add(row, row, text, self.lead, is_row=True)
            row += 1
        self.lead = ""
        return row

    def _read_list(self, at: int) -> int:
        """Read a list with all that is indented below its entries."""
        top: list[_Entry] = []
        stack: list[_Entry] = []
        while at < len(self.lines):
            if found := _ENTRY.match(self.lines[at]):
                end = at + 1 if _put_entry(top, stack, at, found) else 0
            elif self.lines[at].strip():
                end = self._read_below(stack[-1], at)
            else:
                following = self._skip_blank(at)
                end = following if self._goes_on(following) else 0
            if not end:
                break
            at = end
        self._add_list(top)
        self.lead = ""
        return at

    def _read_below(self, entry: _Entry, at: int) -> int:
        """Read a line or code of an entry; return the line behind it, or 0 if the list ends."""
        line = self.lines[at]
        is_indented = line[0] in " \t"
        fence = _FENCE.match(line) if is_indented else None
        if fence and (end := self._fence_end(at, fence[1])):
            entry.lines += [text.strip() for text in self.lines[at + 1 : end]]
            entry.end = end
            return end + 1
        if not is_indented and self._ends_list(at):
            return 0
        entry.lines.append(line.strip())
        entry.prose.append(line.strip())
        entry.end = at
        return at + 1

    def _ends_list(self, at: int) -> bool:
        """Tell whether a line that is not indented begins something else than a list's text."""
        line = self.lines[at]
        blocks = (_HEADING, _FENCE, _RULE)
        return (
            line.startswith(("<!--", "|"))
            or not self.lines[at - 1].strip()
            or any(block.match(line) for block in blocks)
        )

    def _skip_blank(self, at: int) -> int:
        while at < len(self.lines) and not self.lines[at].strip():
            at += 1
        return at

    def _goes_on(self, at: int) -> bool:
        """Tell whether the list goes on at a line behind blank ones."""
        if at == len(self.lines):
            return False
        return self.lines[at][0] in " \t" or _ENTRY.match(self.lines[at]) is not None

    def _add_list(self, top: list[_Entry]) -> None:
        if len(top) > 1 and top[0].mark[0].isdigit():
            whole = "\n".join(f"{each.mark} {each.whole()}" for each in top)
            if len(whole) <= STEPS_CHARS:
                self._add(top[0].at, top[-1].last, whole, self.lead, is_steps=True)
                return
        for each in top:
            self._add_entry(each, self.lead, 0)

    def _add_entry(self, entry: _Entry, lead: str, depth: int) -> None:
        whole = entry.whole()
        if not entry.below or len(whole) <= ENTRY_CHARS or depth == MOST_DEEP:
            self._add(entry.at, entry.last, whole, lead, prose=entry.all_prose())
            return
        own = entry.own
        if not own.rstrip("*_ ").endswith((":", "：")):
            self._add(entry.at, entry.end, own, lead, prose="\n".join(entry.prose))
        for each in entry.below:
            self._add_entry(each, own, depth + 1)


_OTHER_BLOCKS: tuple[_Read, ...] = (_Parser.read_table,)
_BLOCKS: dict[str, tuple[_Read, ...]] = {
    "<": (_Parser.read_comment, *_OTHER_BLOCKS),
    "`": (_Parser.read_code, *_OTHER_BLOCKS),
    "~": (_Parser.read_code, *_OTHER_BLOCKS),
    "#": (_Parser.read_heading, *_OTHER_BLOCKS),
    "=": (_Parser.read_underline, *_OTHER_BLOCKS),
    "-": (_Parser.read_underline, _Parser.read_rule, *_OTHER_BLOCKS, _Parser.read_list),
    "*": (_Parser.read_rule, *_OTHER_BLOCKS, _Parser.read_list),
    "_": (_Parser.read_rule, *_OTHER_BLOCKS),
    "+": (*_OTHER_BLOCKS, _Parser.read_list),
    "•": (*_OTHER_BLOCKS, _Parser.read_list),
    "0": (*_OTHER_BLOCKS, _Parser.read_numbered),
}
"""What may begin with a character, in order; 0 stands for all digits."""


def _put_entry(top: list[_Entry], stack: list[_Entry], at: int, found: regex.Match[str]) -> bool:
    """Put an entry below the one that it belongs to; return False if it begins another list."""
    each = _Entry(at, _width(found[1]), found[2], found[3])
    while stack and (stack[-1].indent >= each.indent or len(stack) > MOST_DEEP):
        stack.pop()
    if not stack and top and found[2][0].isdigit() != top[0].mark[0].isdigit():
        return False
    (stack[-1].below if stack else top).append(each)
    stack.append(each)
    return True


def _last_sentence(text: str) -> tuple[str, str]:
    """Split a text before its last sentence, which may be all of it."""
    end = max(text.rfind(mark, 0, -2) for mark in (". ", "! ", "? "))
    return (text[: end + 1], text[end + 2 :]) if end > 0 else ("", text)


def _without_margin(line: str) -> str:
    return line[1:] if line.startswith("\t") else line[4:]


def _width(blanks: str) -> int:
    return len(blanks.expandtabs(4)) if blanks else 0


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.strip().replace("\\|", "|") for cell in _split_cells(inner)]


def _split_cells(row: str) -> Iterable[str]:
    return regex.split(r"(?<!\\)\|", row)


def is_import_alone(line: str) -> bool:
    """Tell whether a line has imports and nothing else."""
    words = line.split()
    return bool(words) and all(word[0] == "@" and len(word) > 1 for word in words)


def find_imports(lines: Sequence[str], start: int = 0) -> Iterator[tuple[int, str]]:
    """Yield line number, from 1, and path of each `@import` outside of code."""
    fence = ""
    for at in range(start, len(lines)):
        line = lines[at]
        if found := _FENCE.match(line):
            if not fence:
                fence = found[1]
            elif found[1].startswith(fence):
                fence = ""
            continue
        if fence or "@" not in line:
            continue
        plain = regex.sub(r"(`+).*?\1", " ", line[:LINE_CHARS])
        for path in regex.findall(r"(?:(?<=\s)|^)@((?:\\ |[^\s,;:()<>\"'])+)", plain):
            clean = path.rstrip(".!?)").replace("\\ ", " ")
            if clean:
                yield at + 1, clean

"""The review at a terminal: one card that is redrawn in place, answered by single keys."""

from __future__ import annotations

import os
import select
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import zip_longest
from typing import NamedTuple

from ademem.core import anchor
from ademem.core.errors import AdememError
from ademem.core.memory import Memory
from ademem.core.text import preview
from ademem.core.untrusted import visible
from ademem.doors import undoable
from ademem.doors.cli import reviewing
from ademem.doors.cli.editor import editing
from ademem.doors.cli.overview import BOLD, CYAN, DIM, RED, YELLOW, styled
from ademem.doors.cli.reviewing import Review, Subject
from ademem.doors.review_cards import Side, ask_question, describe_waiting, read_sides
from ademem.doors.undoable import Done

SIDE_BY_SIDE = 90
"""Columns from which two boxes stand beside each other."""
WIDEST, NARROWEST = 68, 20
"""Cells of a line of text."""
LABEL_CHARS = 60
BESIDE_TEXT = 16
"""Rows of a card that its text leaves free."""
SECOND_SCREEN, FIRST_SCREEN, REDRAW = "\x1b[?1049h", "\x1b[?1049l", "\x1b[H\x1b[J"
ARROWS = {"[A": "k", "[B": "j", "[C": "j", "[D": "k"}
ESCAPE_S = 0.05
"""Time in which the rest of an arrow key follows its first byte."""


class Key(NamedTuple):
    key: str
    does: str
    press: Callable[[KeyReview, Subject], object]


def can_read_keys() -> bool:
    """Tell whether single keys can be read here, and a card drawn in place."""
    if os.environ.get("TERM", "dumb") == "dumb":
        return False
    try:
        import termios  # noqa: F401 -- a system may lack it
    except ImportError:
        return False
    return sys.stdin.isatty() and sys.stdout.isatty()


class KeyReview(Review):
    """The dialogue of `Review` with cards and keys in the place of lines."""

    message = ""
    """What the last key did; it stands below the card."""
    has_help = False

    def run(self) -> None:
        with _second_screen():
            while not self.left:
                self._walk()
                if self.left or not self._ask_at_end():
                    break
        self._end()

    def _ask_at_end(self) -> bool:
        """Offer to take the last act back; return whether there is a card again."""
        if not self.done:
            return False
        lines = [f"{styled('◆', CYAN)} {styled('Nothing more waits for you', BOLD)}", ""]
        _draw([*lines, self.message, "", f"{styled('z', BOLD)} undo   {styled('q', BOLD)} end"])
        if read_key() != "z":
            return False
        self.take_back()
        return True

    def note(
        self, name: str, memory: Memory, take_back: Callable[[], object] | None = None
    ) -> None:
        super().note(name, memory, take_back)
        self.message = f"✓ {name}: {preview(memory.title or memory.content, LABEL_CHARS)}"

    def take_back(self) -> None:
        if not self.done:
            self.message = "nothing was decided yet"
            return
        self.message = f"taken back: {reviewing.undo(self)}"

    def do(self, name: str, subject: Subject, done: Done) -> None:
        """Note an act of the page, and go on."""
        self.pass_on(name, subject.memory, partial(done.undo, self.memories))

    def move(self, by: int) -> None:
        """Go to the next item in a direction that still waits."""
        at = self.at + by
        while 0 <= at < len(self.items):
            if self._load(self.items[at]):
                self.at = at
                return
            at += by

    def _show(self, subject: Subject) -> None:
        columns, rows = shutil.get_terminal_size()
        _draw(draw_card(self, subject, columns, rows))

    def _decide(self, subject: Subject) -> None:
        pressed = read_key() or "q"
        chosen = next((each for each in keys_of(subject) if each.key == pressed), None)
        self.message = "" if chosen else f"no key {visible(pressed)}; ? shows all"
        if chosen is None:
            return
        try:
            chosen.press(self, subject)
        except AdememError as error:
            self.message = f"{error} ({error.hint})" if error.hint else str(error)


def _draw(lines: Iterable[str]) -> None:
    import termios

    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)  # keys for a card that was not seen
    sys.stdout.write(REDRAW + "\n".join(lines))
    sys.stdout.flush()


@contextmanager
def _second_screen() -> Iterator[None]:
    """Draw on the second screen of the terminal, and read keys as they are pressed."""
    import termios
    import tty

    handle = sys.stdin.fileno()
    before = termios.tcgetattr(handle)
    tty.setcbreak(handle)
    sys.stdout.write(SECOND_SCREEN)
    try:
        yield
    finally:
        sys.stdout.write(FIRST_SCREEN)
        sys.stdout.flush()
        termios.tcsetattr(handle, termios.TCSADRAIN, before)


@contextmanager
def _lines() -> Iterator[None]:
    """Give the terminal back for a while, as an editor and a question need it."""
    import termios
    import tty

    handle = sys.stdin.fileno()
    lines = termios.tcgetattr(handle)
    lines[3] |= termios.ICANON | termios.ECHO
    termios.tcsetattr(handle, termios.TCSADRAIN, lines)
    try:
        yield
    finally:
        tty.setcbreak(handle)
        sys.stdout.write(SECOND_SCREEN)  # which an editor has left


def ask(question: str) -> str:
    """Ask for a line below the card; empty where nothing is typed."""
    with _lines():
        sys.stdout.write("\n")
        try:
            return input(f"{question} ").strip()
        except (EOFError, KeyboardInterrupt):
            return ""


def read_key() -> str:
    """Return the next key, an arrow as `j` or `k`; `q` at the end of input and for Ctrl-C."""
    handle = sys.stdin.fileno()
    try:
        pressed = os.read(handle, 1)
        if pressed == b"\x1b" and select.select([handle], [], [], ESCAPE_S)[0]:
            return ARROWS.get(os.read(handle, 8).decode("utf-8", "replace"), "?")
        while pressed and pressed[0] >= 0xC0 and select.select([handle], [], [], ESCAPE_S)[0]:
            pressed += os.read(handle, 1)  # the other bytes of one letter
    except (KeyboardInterrupt, OSError):
        return "q"
    key = pressed.decode("utf-8", "replace")
    return key if key.isprintable() and key else "q"


# What a card shows


def draw_card(review: KeyReview, subject: Subject, columns: int, rows: int) -> Iterator[str]:
    """Yield the lines of a card; the newer side of a pair has the accent."""
    memories, memory = review.memories, subject.memory
    is_pair = bool(subject.conflict)
    others = subject.alike if is_pair else ()
    sides = read_sides(memories, [*others, memory])
    yield from _head(review, subject, is_pair, columns)
    room = max(4, rows - BESIDE_TEXT)
    if is_pair:
        yield from _pair(sides, columns, room)
    else:
        yield from _single(subject, sides[0], min(WIDEST, columns - 2), room)
    yield ""
    width = max(NARROWEST, columns - 2)
    yield from _keys(keys_of(subject), width, whole=review.has_help)
    yield ""
    yield from (styled(line, CYAN) for line in wrap(review.message, width))


def _head(review: KeyReview, subject: Subject, is_pair: bool, columns: int) -> Iterator[str]:
    memory, count = subject.memory, len(review.items)
    question = ask_question(memory, is_pair=is_pair, is_misplaced=subject.misplaced is not None)
    about = describe_waiting(memory, subject.conflict, review.memories.clock())
    if subject.doubt:
        question, about = "Is this still true?", subject.doubt.why
    if subject.misplaced:
        about = subject.misplaced.why
    width = max(NARROWEST, columns - 2)
    yield f"{styled('◆', CYAN)} {styled(question, BOLD)}"
    yield from (styled(line, DIM) for line in wrap(f"{review.at + 1} of {count} · {about}", width))
    done = width * (review.at + 1) // count
    yield styled("━" * done, CYAN) + styled("─" * (width - done), DIM)
    yield ""


def _single(subject: Subject, side: Side, width: int, room: int) -> Iterator[str]:
    memory = subject.memory
    yield from _stated(memory, width, room)
    if not memory.quarantine_reason:
        at = ", ".join(side.card.places)
        yield styled(f"at {at}" if at else "when a prompt asks about it", DIM)
    yield from _points(side, width)
    if memory.quarantine_reason:
        from ademem.doors.views import held
        from ademem.guard.injection.evidence import evidence_of

        for line in held.evidence_lines(evidence_of(memory.whole_text)):
            yield from (styled(each, RED) for each in wrap(line, width))
    if subject.doubt and subject.doubt.corrected:
        yield from wrap(f"corrected: {subject.doubt.corrected}", width)
    for number, other in enumerate(subject.alike, 1):
        yield styled(preview(f"like it {number}: {visible(other.content)}", width), DIM)


def _pair(sides: Sequence[Side], columns: int, room: int) -> Iterator[str]:
    beside = columns >= SIDE_BY_SIDE
    width = min(WIDEST + 4, (columns - 3) // 2 if beside else columns - 1)
    boxes = [
        list(_box(side, str(at), width, room if beside else room // 2))
        for at, side in enumerate(sides, 1)
    ]
    if not beside:
        for box in boxes:
            yield from box
        return
    height = max(map(len, boxes))
    for box in boxes:
        edge = box[-1]
        box[-1:] = [_row("", width, box is boxes[1])] * (height - len(box)) + [edge]
    for left, right in zip_longest(*boxes):
        yield f"{left}  {right}"


def _box(side: Side, key: str, width: int, room: int) -> Iterator[str]:
    is_newer = side.age == "newer"
    colour = CYAN if is_newer else DIM
    title = f" {key} · {side.age} · said {side.said} "
    mark = " more speaks for it " if side.is_stronger else ""
    fill = max(0, width - 3 - cells(title) - cells(mark))
    yield styled(f"╭─{title}{'─' * fill}{mark}╮", colour)
    inside = width - 4
    lines = [*_stated(side.memory, inside, room), ""]
    lines += (line for point in side.points for line in wrap(f"{point.sign} {point.text}", inside))
    for line in lines:
        yield _row(line, width, is_newer)
    yield styled(f"╰{'─' * (width - 2)}╯", colour)


def _row(line: str, width: int, is_newer: bool) -> str:
    edge = styled("│", CYAN if is_newer else DIM)
    return f"{edge} {line}{' ' * max(0, width - 4 - cells(line))} {edge}"


def _points(side: Side, width: int) -> Iterator[str]:
    colours = {"for": CYAN, "against": RED}
    for point in side.points:
        for line in wrap(f"{point.sign} {point.text}", width):
            yield styled(line, colours.get(point.speaks, DIM))


def _keys(keys: Sequence[Key], width: int, *, whole: bool) -> Iterator[str]:
    if whole:
        yield from (f"{styled(each.key, BOLD)}  {each.does}" for each in keys)
        return
    line, taken = "", 0
    for each in keys[: keys.index(next(key for key in keys if key.key == "?")) + 1]:
        short = each.does.partition(",")[0].partition(":")[0]
        size = cells(f"{each.key} {short}   ")
        if taken and taken + size > width:
            yield line.rstrip()
            line, taken = "", 0
        line += f"{styled(each.key, BOLD)} {short}   "
        taken += size
    yield line.rstrip()


def _text(memory: Memory) -> str:
    return f"{memory.title}: {memory.content}" if memory.title else memory.content


def _stated(memory: Memory, width: int, room: int) -> list[str]:
    """Return what is confirmed: the text, as far as there is room, and each occasion."""
    told = anchor.describe_occasions(memory.anchors)
    when = [line for each in told for line in wrap(each, width)]
    return [*cut(wrap(_text(memory), width), max(2, room - len(when)), memory), *when]


def cut(lines: Sequence[str], room: int, memory: Memory) -> list[str]:
    if len(lines) <= room:
        return list(lines)
    return [*lines[: room - 1], styled(f"… the rest: ademem get {memory.id}", YELLOW)]


def cells(text: str) -> int:
    """Return the columns that a text takes in a terminal."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def wrap(text: str, width: int) -> list[str]:
    """Break stored text into lines of at most so many columns, without control characters."""
    found: list[str] = []
    for paragraph in text.splitlines():
        line = ""
        for word in visible(paragraph).split():
            while cells(word) > width:
                word, rest = _split(word, width)
                found += [each for each in (line, word) if each]
                line, word = "", rest
            if line and cells(f"{line} {word}") > width:
                found.append(line)
                line = word
            else:
                line = f"{line} {word}" if line else word
        found.append(line)
    return found


def _split(word: str, width: int) -> tuple[str, str]:
    end = 0
    while end < len(word) and cells(word[: end + 1]) <= width:
        end += 1
    end = max(1, end)
    return word[:end], word[end:]


# What the keys do; acts that the page has are done as there


def _keep(review: KeyReview, subject: Subject, *, at: int) -> None:
    sides = read_sides(review.memories, [*subject.alike[:1], subject.memory])
    kept, gone = sides[at].memory, sides[1 - at].memory
    done = undoable.supersede(review.memories, gone.id, gone.revision_count, by=kept.id)
    review.do(f"kept the {sides[at].age}", subject, done)


def _keep_both(review: KeyReview, subject: Subject) -> None:
    done = undoable.keep_both(review.memories, subject.memory.id, subject.alike[0].id)
    review.do("kept both", subject, done)


def _edit(review: KeyReview, subject: Subject) -> None:
    """Edit the text in $EDITOR; a candidate is confirmed with it."""
    memory = subject.memory
    with _lines(), editing(memory.content) as edited:
        text = edited.strip()
    if text in ("", memory.content):
        review.message = "nothing was changed"
        return
    is_asked = not (subject.conflict or subject.doubt or subject.misplaced)
    act = undoable.edit_and_promote if is_asked else undoable.edit
    done = act(review.memories, memory.id, memory.revision_count, content=text)
    review.note("edited", memory, partial(done.undo, review.memories))
    review.at += is_asked


def _where(review: KeyReview, subject: Subject) -> None:
    typed = ask("Where does it come up? Places, separated by commas:")
    keys = [key.strip() for key in typed.split(",") if key.strip()]
    if not keys:
        review.message = "nothing was changed"
        return
    memory = subject.memory
    done = undoable.place(review.memories, memory.id, memory.revision_count, keys)
    review.note("placed", memory, partial(done.undo, review.memories))
    review.at += subject.misplaced is not None


def _reject_because(review: KeyReview, subject: Subject) -> None:
    reviewing.reject(review, subject, ask("Why?"))


def _merge(review: KeyReview, subject: Subject) -> None:
    if not subject.alike:
        review.message = "no similar memory to merge it with"
        return
    with _lines():
        reviewing.merge(review, subject, "1")


def _search(review: KeyReview, _subject: Subject) -> None:
    words, before = ask("/"), review.at
    if words:
        review.find(words)
    if review.at == before:
        review.message = "no other waiting memory has these words"


def _help(review: KeyReview, _subject: Subject) -> None:
    review.has_help = not review.has_help


def _as(act: reviewing.Act) -> Callable[[KeyReview, Subject], None]:
    return lambda review, subject: act(review, subject, "")


LATER = Key("s", "later: leave it until tomorrow", _as(reviewing.skip))
ALWAYS = (
    LATER,
    Key("z", "undo", lambda review, _: review.take_back()),
    Key("q", "quit: the next review begins here", _as(reviewing.leave)),
    Key("?", "keys", _help),
    Key("j", "next", lambda review, _: review.move(1)),
    Key("k", "previous", lambda review, _: review.move(-1)),
    Key("/", "find words", _search),
)
CANDIDATE = (
    Key("a", "keep", _as(reviewing.promote)),
    Key("e", "edit, then keep", _edit),
    Key("r", "drop", _as(reviewing.reject)),
    Key("w", "change where", _where),
    *ALWAYS,
    Key("R", "drop with a reason", _reject_because),
    Key("p", "keep and pin", _as(partial(reviewing.promote, pinned=True))),
    Key("m", "merge with the first one like it", _merge),
    Key("h", "harmless: release it from quarantine", _as(reviewing.release)),
)
PAIR = (
    Key("1", "keep the older", partial(_keep, at=0)),
    Key("2", "keep the newer", partial(_keep, at=1)),
    Key("b", "both are true", _keep_both),
    Key("e", "edit", _edit),
    *ALWAYS,
    Key("m", "make one of both", _merge),
)
DOUBT = (
    Key("a", "it still holds", _as(reviewing.hold)),
    Key("c", "correct it", _as(reviewing.correct)),
    Key("e", "edit", _edit),
    Key("r", "archive", _as(reviewing.archive)),
    *ALWAYS,
)
MISPLACED = (
    Key("w", "change where", _where),
    Key("n", "only tell it", _as(reviewing.only_tell)),
    Key("a", "it does belong here", _as(reviewing.accept_place)),
    Key("r", "archive", _as(reviewing.archive)),
    *ALWAYS,
)


def keys_of(subject: Subject) -> tuple[Key, ...]:
    if subject.conflict:
        return PAIR
    if subject.doubt:
        return DOUBT
    return MISPLACED if subject.misplaced else CANDIDATE

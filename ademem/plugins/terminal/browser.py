"""The memory in a terminal: lists, one memory with its history, and the keys of review."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

from textual import on
from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, OptionList, Static, TextArea

from ademem.core.errors import AdememError, Conflict, explain_machine_error
from ademem.core.memory import Memory
from ademem.core.untrusted import visible
from ademem.core.value import Value
from ademem.doors import reading, undoable
from ademem.doors.reading import Item
from ademem.doors.undoable import Done, NotAllowed
from ademem.doors.views import lines, to_history
from ademem.operations import browsing, curation, reports, searching, sessions
from ademem.store.runtime import Runtime
from ademem.store.statistics import Position
from ademem.store.transitions import waits_for

MOST, HITS, NEIGHBOURS = 300, 50, 20
"""Rows of a list; of a longer one the next ones follow when these are decided."""
NEIGHBOUR_CHARS = 40_000


class Row(Value):
    """A line of a list: a memory, a session, one of its moments, or another list."""

    id: str
    text: str
    opens: str = ""
    """Name of the list behind it."""
    memory: Memory | None = None
    item: Item | None = None
    moment: Mapping[str, Any] | None = None


class Listing(NamedTuple):
    name: str
    read: Callable[[Terminal, str], list[Row]]
    """Gets what the list is of: the words of a search, or the id of a memory or session."""
    empty: str = ""
    decides: bool = False
    """True where the keys of the review come before those of browsing."""


def _row(memory: Memory, item: Item | None = None) -> Row:
    id = item.key if item else memory.id
    return Row(id=id, text=lines.row(memory), memory=memory, item=item)


def _candidates(app: Terminal, _of: str, *, only_pairs: bool = False) -> list[Row]:
    queue = [each for each in curation.list_queue(app.memories) if each.other or not only_pairs]
    items = reading.read_items(app.memories, queue[:MOST])
    return [_row(item.memory, item) for item in items]


def _results(app: Terminal, words: str) -> list[Row]:
    return [_row(hit.memory) for hit in searching.search(app.memories, words, None, HITS).hits]


def _recent(app: Terminal, _of: str) -> list[Row]:
    return [_row(memory) for memory in searching.list_memories(app.memories, None, MOST)]


def _timeline(app: Terminal, id: str) -> list[Row]:
    found = browsing.timeline(app.memories, id, NEIGHBOURS, NEIGHBOURS, max_chars=NEIGHBOUR_CHARS)
    rows = (*found["before"], found["focus"], *found["after"])
    return [_row(searching.get(app.memories, row["id"])) for row in rows]


def _sessions(app: Terminal, _of: str) -> list[Row]:
    rows = []
    for row in sessions.list_sessions(app.memories, MOST):
        text = f"{lines.local(row['started_at'])} {row['name'] or row['id']}"
        rows.append(Row(id=row["id"], text=text, opens="session"))
    return rows


def _session(app: Terminal, id: str) -> list[Row]:
    rows = []
    page = reading.read_session(app.memories, id, app.is_withheld)
    for each in page["moments"]:
        learned = each["kind"] == "learned"
        memory = searching.get(app.memories, each["row"]["id"]) if learned else None
        rows.append(Row(id=each["key"], text=lines.moment_row(each), moment=each, memory=memory))
    return rows


def _size(rows: Sequence[Row]) -> str:
    return f"{len(rows):,}{'+' if len(rows) == MOST else ''}"


def _dashboard(app: Terminal, of: str) -> list[Row]:
    waiting = curation.count_queue(app.memories)
    counts = {
        "candidates": f"{sum(waiting.values()):,}",
        "conflicts": f"{waiting.get('contradictory', 0):,}",
        "recent": _size(_recent(app, of)),
        "sessions": _size(_sessions(app, of)),
    }
    rows = [
        Row(id=name, text=f"{name:<12}{count:>6}", opens=name) for name, count in counts.items()
    ]
    return [*rows, Row(id="search", text="search", opens="results")]


_conflicts = partial(_candidates, only_pairs=True)
LISTS = (
    Listing("dashboard", _dashboard),
    Listing("candidates", _candidates, "nothing waits for you", decides=True),
    Listing("conflicts", _conflicts, "nothing contradicts", decides=True),
    Listing("recent", _recent, 'no memory yet: `ademem add "…"` adds one'),
    Listing("sessions", _sessions, "no session yet: `ademem install`"),
    Listing("session", _session, "nothing was recorded of it yet"),
    Listing("results", _results, "nothing in memory answers that"),
    Listing("timeline", _timeline),
)
POLL_S, DEBOUNCE_S = 0.25, 0.12
NARROW, LOW = 60, 16
"""Columns below which the list is above the memory, and lines below which its history is hidden."""
FAILURES = (AdememError, sqlite3.Error, OSError)


class Key(NamedTuple):
    keys: str
    action: str
    does: str


KEYS = (
    Key("j,down", "move(1)", "next row, or scroll the pane with the focus"),
    Key("k,up", "move(-1)", "previous row, or scroll back"),
    Key("enter", "open", "open the row"),
    Key("escape,q", "leave", "go back; leave at the dashboard"),
    Key("tab", "app.focus_next", "next pane"),
    Key("slash", "search", "search as you type"),
    Key("a", "accept", "accept it, or all that are selected"),
    Key("e", "edit", "edit, then accept"),
    Key("r", "reject", "reject it, or all that are selected"),
    Key("R", "reject_why", "reject it with a reason"),
    Key("p", "accept(True)", "accept and pin it, or all that are selected"),
    Key("m", "merge", "merge with the one like it; you choose the text"),
    Key("c", "settle", "resolve a contradiction in a review, else copy"),
    Key("s", "skip", "skip until tomorrow in a review, else search"),
    Key("x", "select", "select"),
    Key("t", "tag", "tag what is selected, else the timeline around it"),
    Key("z,u", "undo", "undo"),
    Key("Z", "redo", "redo"),
    Key("y", "copy", "copy the text"),
    Key("n", "show_news", "show what is new"),
    Key("h", "toggle_session", "history of the memory, or its session"),
    Key("question_mark", "help", "these keys"),
)
NAMES = {"slash": "/", "question_mark": "?", "escape": "Esc", "enter": "Enter", "tab": "Tab"}
HELP = "\n".join(
    f"{' '.join(NAMES.get(name, name) for name in key.keys.split(',')):<8} {key.does}"
    for key in KEYS
)
HINTS = "? keys  / search  Enter open  q back"
REVIEW_HINTS = "a accept e edit r reject p pin m merge c resolve x select s skip z undo ? keys"


class Rows(OptionList):
    """The list; Enter opens a row at once, before a key that was typed after it."""

    def action_select(self) -> None:
        if isinstance(self.app, Terminal):
            self.app.action_open()


class Terminal(App[None]):
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar = [*KEYS]
    CSS = """
    #head, #foot, #search { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    #head { text-style: bold; }
    #search { border: none; padding: 0; }
    #rows { width: 40%; border: none; padding: 0; text-wrap: nowrap; text-overflow: ellipsis; }
    #panes VerticalScroll { border-top: solid; border-left: solid; height: 3fr; }
    #panes VerticalScroll:focus { border-top: heavy; border-left: heavy; }
    #panes #beside { height: 2fr; }
    .-narrow #panes { layout: vertical; }
    .-narrow #rows { width: 100%; height: 1fr; }
    .-narrow #panes Vertical { height: 3fr; }
    .-low #panes #beside, #panes.keys #beside, .open #rows { display: none; }
    """

    def __init__(
        self, memories: Runtime, forbidden: str, is_withheld: Callable[[Memory], bool]
    ) -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-wide")]
        self.VERTICAL_BREAKPOINTS = [(0, "-low"), (LOW, "-high")]
        self.memories, self.is_withheld = memories, is_withheld
        self.forbidden = forbidden
        """Why nothing is decided here; empty where acts are allowed."""
        self.head, self.foot = Static(id="head"), Static(id="foot")
        self.search = Input(placeholder="/ search", id="search")
        self.panes = Horizontal(id="panes")
        self.options = Rows(id="rows", markup=False)
        self.texts = Static(name="memory"), Static(name="beside")
        self.stack: list[tuple[Listing, str, str]] = []
        """Lists that were opened: each with what it is of, and the row of the cursor."""
        self.rows: list[Row] = []
        self.selected: dict[str, Memory] = {}
        self.done: list[Done] = []
        self.undone: list[Done] = []
        self.shows_session = False
        self.position: Position | None = None
        self.waiting: Timer | None = None

    def compose(self) -> ComposeResult:
        yield self.head
        yield self.search
        with self.panes:
            yield self.options
            with Vertical():
                for text in self.texts:
                    yield VerticalScroll(text, id=text.name)
        yield self.foot

    def on_mount(self) -> None:
        self.theme = "ansi-dark"
        self.options.focus()
        self.open_list("dashboard")
        self.look()
        self.set_interval(POLL_S, self.look)

    # What is on the screen

    @property
    def row(self) -> Row | None:
        at = self.options.highlighted
        return self.rows[at] if at is not None and at < len(self.rows) else None

    @property
    def memory(self) -> Memory | None:
        return self.row.memory if self.row else None

    @property
    def listing(self) -> Listing:
        return self.stack[-1][0]

    def read(self) -> list[Row]:
        listing, of, _ = self.stack[-1]
        return listing.read(self, of)

    def open_list(self, name: str, of: str = "", row: str = "") -> None:
        if self.stack and self.row:
            self.stack[-1] = (*self.stack[-1][:2], self.row.id)
        self.stack.append((next(each for each in LISTS if each.name == name), of, row))
        self.say()
        self.reload(row)

    def reload(self, row: str = "", at: int = 0) -> None:
        """Read the list again; stay at the row, else at the position."""
        self.memories.now = self.memories.clock()
        try:
            self.rows = self.read()
        except FAILURES as error:
            self.rows = []
            self.fail(error)
        ids = [each.id for each in self.rows]
        shown = {row.memory.id for row in self.rows if row.memory}
        self.selected = {id: found for id, found in self.selected.items() if id in shown}
        self.options.set_options(map(self.prompt, range(len(ids))))
        self.options.highlighted = None
        if ids:
            self.options.highlighted = ids.index(row) if row in ids else min(at, len(ids) - 1)
        else:
            self.show_row()

    def prompt(self, at: int) -> Content:
        row = self.rows[at]
        cursor = ">" if at == self.options.highlighted else " "
        mark = "x" if row.memory and row.memory.id in self.selected else ""
        return Content(f"{cursor}{mark:<2}{visible(row.text)}")

    @on(OptionList.OptionHighlighted, "#rows")
    def mark_row(self) -> None:
        for at, option in enumerate(self.options.options):
            if option.prompt != (shown := self.prompt(at)):
                self.options.replace_option_prompt_at_index(at, shown)
        self.show_row()

    def show_row(self, news: str = "") -> None:
        at = f"{(self.options.highlighted or 0) + 1} of {_size(self.rows)}" if self.rows else ""
        mode, project = searching.get_search_mode(self.memories), self.memories.project.name
        head = (self.listing.name, at, news, self.memories.branch, mode, f"ademem: {project}")
        self.head.update(Content(visible(" · ".join(filter(None, head)))))
        if news:
            return  # what the person reads stays as it is
        texts = [self.listing.empty, ""]
        try:
            if self.row:
                texts = ["\n".join(each) for each in self.texts_beside(self.row)]
        except FAILURES as error:
            self.fail(error)
        for shown, text in zip(self.texts, texts, strict=True):
            shown.update(Content(visible(text)))
            scroll_of(shown).scroll_home(animate=False)

    def texts_beside(self, row: Row) -> tuple[Iterable[str], Iterable[str]]:
        memories, is_withheld = self.memories, self.is_withheld
        if row.memory:
            card = reading.read_card(memories, row.item or Item(key=row.id, memory=row.memory))
            text = lines.memory(card, reading.read_related(memories, row.memory.id), is_withheld)
            if is_withheld(row.memory):
                return text, ()
            if self.shows_session and row.memory.source_session_id:
                page = reading.read_session(memories, row.memory.source_session_id, is_withheld)
                return text, lines.session(page)
            return text, lines.history(to_history(curation.list_revisions(memories, row.memory.id)))
        if row.moment:
            return lines.moment(row.moment), lines.parts(row.moment)
        if row.opens == "session":
            return lines.session(reading.read_session(memories, row.id, is_withheld)), ()
        return lines.overview(reading.read_overview(memories)), ()

    def say(self, text: str = "") -> None:
        text = text or (REVIEW_HINTS if self.listing.decides else HINTS)
        self.foot.update(Content(visible(text)))

    def fail(self, error: Exception) -> None:
        error = explain_machine_error(error) or error
        hint = getattr(error, "hint", "")
        self.say(f"{error} ({hint})" if hint else str(error))

    def look(self) -> None:
        """Tell what another process wrote; the dashboard alone changes by itself."""
        try:
            self.position, changes = reports.find_changes(self.memories, self.position)
            if not changes:
                return None
            if self.listing.name == "dashboard":
                return self.action_show_news()
            found = self.read()
        except FAILURES as error:
            return self.fail(error)
        before, after = (
            {row.id: row.memory and row.memory.revision_count for row in rows}
            for rows in (self.rows, found)
        )
        new, changed = len(after.keys() - before.keys()), len(before.items() - after.items())
        news = [f"{count} {name}" for count, name in ((new, "new"), (changed, "changed")) if count]
        return self.show_row(f"{', '.join(news)}: n shows it") if news else None

    # Browsing

    def action_move(self, by: int) -> None:
        if isinstance(self.focused, VerticalScroll):
            self.focused.scroll_relative(y=by, animate=False)
        elif by > 0:
            self.options.action_cursor_down()
        else:
            self.options.action_cursor_up()

    def action_open(self) -> None:
        if self.row and self.row.opens == "results":
            self.action_search()
        elif self.row and self.row.opens:
            self.open_list(self.row.opens, self.row.id)
        elif self.row:
            self.panes.add_class("open")
            scroll_of(self.texts[0]).focus()

    @on(OptionList.OptionSelected, "#rows")
    def open_row(self) -> None:
        self.action_open()

    def action_leave(self) -> None:
        if self.focused is not self.options:
            self.panes.remove_class("open", "keys")
            self.options.focus()
            self.show_row()
        elif len(self.stack) > 1:
            left, *_ = self.stack.pop()
            if left.name == "results":
                self.search.value = ""
            self.say()
            self.reload(self.stack[-1][2])
        else:
            self.exit()

    def action_search(self) -> None:
        self.panes.remove_class("open", "keys")
        self.search.focus()

    @on(Input.Changed, "#search")
    def find_soon(self) -> None:
        if self.waiting:
            self.waiting.stop()
        self.waiting = self.set_timer(DEBOUNCE_S, self.find)

    def find(self) -> None:
        words = self.search.value.strip()
        if self.listing.name == "results":
            self.stack.pop()
            self.rows = []  # else a result would be noted as the row of the list below
        if words:
            self.open_list("results", words)
        else:
            self.say()
            self.reload(self.stack[-1][2])

    @on(Input.Submitted, "#search")
    def leave_search(self) -> None:
        self.options.focus()

    def action_toggle_session(self) -> None:
        self.shows_session = not self.shows_session
        self.show_row()

    def action_show_news(self) -> None:
        self.reload(self.row.id if self.row else "")

    def action_help(self) -> None:
        self.texts[0].update(Content(HELP))
        self.panes.add_class("open", "keys")
        scroll_of(self.texts[0]).focus()

    def action_copy(self) -> None:
        if self.memory and not self.is_withheld(self.memory):
            self.copy_to_clipboard(self.memory.content)
            self.say(f"copied {self.memory.id}")

    # Acts

    def act(self, do: Callable[[Runtime], Done]) -> bool:
        """Do what can be undone; False where it was refused."""
        if not self.try_to(lambda memories: undoable.record(memories, do(memories)), self.done):
            return False
        self.undone.clear()
        return True

    def try_to(self, do: Callable[[Runtime], Done], kept: list[Done]) -> bool:
        row, at = self.row.id if self.row else "", self.options.highlighted or 0
        try:
            if self.forbidden:
                raise NotAllowed(f"decisions are not possible here: {self.forbidden}")
            kept.append(do(self.memories))
        except FAILURES as error:
            if isinstance(error, Conflict):
                self.reload(row, at)
            self.fail(error)
            return False
        self.reload(row, at)
        self.say(f"{kept[-1].label} (z undoes it)")
        return True

    def decide(self, verb: str, one: Callable[..., Done]) -> None:
        chosen = list(self.selected.values())
        if chosen:
            self.act(partial(undoable.decide_all, found=chosen, verb=verb))
        elif self.memory and self.row and self.row.item and not waits_for(self.memory):
            self.say("it is confirmed already: c resolves the contradiction")
        elif self.memory:
            self.act(partial(one, id=self.memory.id, revision=self.memory.revision_count))

    def ask(
        self, label: str, field: TextArea | Input | OptionList, then: Callable[[str], object]
    ) -> None:
        def answer(given: str | None) -> None:
            if given:
                self.call_later(then, given)  # it may ask again, after this question has gone

        if self.forbidden:
            self.say(f"decisions are not possible here: {self.forbidden}")
        else:
            self.push_screen(Question(label, field), answer)

    def action_accept(self, pinned: bool = False) -> None:
        verb = "promote-pinned" if pinned else "promote"
        promote = partial(self.decide, verb, partial(undoable.promote, pinned=pinned))
        if self.memory and self.memory.quarantine_reason and not self.selected:
            label = f"{self.memory.content}\n\nThis reads as an order to a model. Approve it?"
            answers = OptionList("leave it waiting", "approve it", markup=False)
            self.ask(label, answers, lambda answer: promote() if answer == "approve" else None)
        else:
            promote()

    def action_reject(self, reason: str = "") -> None:
        self.decide("reject", partial(undoable.reject, reason=reason))

    def action_reject_why(self) -> None:
        if self.memory:
            self.selected.clear()
            self.ask("Why reject it?", Input(), self.action_reject)

    def action_edit(self, text: str = "") -> None:
        memory, waits = self.memory, self.listing.decides
        if memory is None:
            return
        if memory.quarantine_reason:
            return self.say("a text in quarantine is approved before it is edited")
        change = undoable.edit_and_promote if waits else undoable.edit
        id, revision = memory.id, memory.revision_count

        def save(given: str) -> None:
            if not self.act(lambda memories: change(memories, id, revision, content=given)):
                self.action_edit(given)  # beside the text that another wrote

        label = f"{'Edit, then accept' if waits else 'Edit'}: {memory.content}"
        return self.ask(label, TextArea(text or memory.content), save)

    def action_merge(self) -> None:
        if not (self.row and self.memory):
            return None
        memory = self.memory
        card = reading.read_card(self.memories, self.row.item or Item(key=memory.id, memory=memory))
        if not card["similar"] or memory.quarantine_reason:
            return self.say("there is nothing like it to merge it with")
        into = card["similar"][0][0].id
        merge = partial(undoable.merge, id=memory.id, revision=memory.revision_count, into=into)
        return self.ask(
            f"One text for {memory.id} and {into}",
            TextArea(card["merged"]),
            lambda text: self.act(partial(merge, content=text)),
        )

    def action_settle(self) -> None:
        if not self.listing.decides:
            return self.action_copy()
        item = self.row.item if self.row else None
        if not (item and item.other):
            return self.say("nothing contradicts it")
        left, right = item.memory, item.other

        def settle(answer: str) -> None:
            act = partial(undoable.settle, id=left.id, other=right.id)
            if answer != "both":
                by, gone = (left, right) if answer == "left" else (right, left)
                revision = gone.revision_count
                act = partial(undoable.supersede, id=gone.id, revision=revision, by=by.id)
            self.act(act)

        texts = ("both are true", f"left  {left.content}", f"right  {right.content}")
        return self.ask("Which is true?", OptionList(*map(visible, texts), markup=False), settle)

    def action_select(self) -> None:
        if self.memory and self.options.highlighted is not None:
            if self.selected.pop(self.memory.id, None) is None:
                self.selected[self.memory.id] = self.memory
            at = self.options.highlighted
            self.options.replace_option_prompt_at_index(at, self.prompt(at))
            self.say(f"{len(self.selected)} selected: a r t p act on all")

    def action_tag(self) -> None:
        if self.selected:
            tag_all = partial(undoable.decide_all, found=[*self.selected.values()], verb="tag")
            self.ask("Tag", Input(), lambda tag: self.act(partial(tag_all, tag=tag)))
        elif self.memory:
            self.open_list("timeline", self.memory.id, self.memory.id)

    def action_skip(self) -> None:
        if not self.listing.decides:
            self.action_search()
        elif self.memory:
            self.act(partial(undoable.skip, id=self.memory.id))

    def action_undo(self) -> None:
        self.reverse(self.done, self.undone, "undone")

    def action_redo(self) -> None:
        self.reverse(self.undone, self.done, "done again")

    def reverse(self, source: list[Done], target: list[Done], verb: str) -> None:
        if not source:
            self.say(f"nothing to be {verb}")
            return
        before = {row.id for row in self.rows}
        if self.try_to(partial(undoable.reverse, done=source[-1]), target):
            back = next((at for at, row in enumerate(self.rows) if row.id not in before), None)
            if back is not None:
                self.options.highlighted = back
            self.say(f"{verb}: {source.pop().label}")


def scroll_of(text: Static) -> VerticalScroll:
    pane = text.parent
    assert isinstance(pane, VerticalScroll)
    return pane


class Question(ModalScreen[str | None]):
    DEFAULT_CSS = """
    Question { align: center middle; }
    Question > Vertical { border: heavy; width: 90%; height: auto; max-height: 90%; }
    Question VerticalScroll { height: auto; max-height: 8; }
    Question TextArea { height: 8; }
    """
    BINDINGS: ClassVar = [("escape", "dismiss(None)"), ("ctrl+s", "save")]

    def __init__(self, label: str, field: TextArea | Input | OptionList) -> None:
        super().__init__()
        self.label, self.field = label, field

    def compose(self) -> ComposeResult:
        end = "Ctrl-S saves" if isinstance(self.field, TextArea) else "Enter takes it"
        with Vertical():
            yield VerticalScroll(Static(Content(visible(self.label))), can_focus=False)
            yield Static(f"({end}, Esc leaves it)")
            yield self.field

    def on_mount(self) -> None:
        self.field.focus()
        if isinstance(self.field, TextArea):
            self.field.move_cursor(self.field.document.end)

    def action_save(self) -> None:
        if isinstance(self.field, TextArea):
            self.dismiss(self.field.text.strip() or None)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip() or None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(str(event.option.prompt).split()[0])

    def on_key(self, event: Any) -> None:
        options = self.field.options if isinstance(self.field, OptionList) else ()
        for name in (str(each.prompt).split()[0] for each in options):
            if event.character and name.startswith(event.character):
                self.dismiss(name)

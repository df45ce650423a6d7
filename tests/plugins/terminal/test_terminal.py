"""The browser in the terminal: its frames, its keys, and what an agent cannot do."""

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import timedelta

import pytest
from textual.events import Resize
from textual.geometry import Size

from ademem.core.memory import Status
from ademem.operations import curation, searching
from ademem.plugins.terminal.browser import KEYS, MOST, Terminal
from ademem.store.transitions import waits_for
from tests import builders
from tests.examples import FULL, some
from tests.plugins.terminal.conftest import CONTRADICTING, FRAMES, KNOWN, LESSONS, ORDER

TUI = [sys.executable, "-c", "from ademem.doors.cli import main; main()", "tui"]
CANDIDATES = ("enter",)
FIRST_LESSON = (*CANDIDATES, "j", "j")
SEEN = {
    "dashboard": (),
    "quarantined": CANDIDATES,
    "contradicting": (*CANDIDATES, "j"),
    "memory": (*CANDIDATES, "j", "enter"),
    "conflicts": ("j", "enter"),
    "results": ("slash", *"invoices", "enter"),
    "sessions": ("j", "j", "j", "enter"),
    "session": ("j", "j", "j", "enter", "enter", "j"),
    "timeline": (*CANDIDATES, "j", "t"),
    "edit": (*FIRST_LESSON, "e"),
    "settle": (*CANDIDATES, "j", "c"),
    "keys": ("question_mark",),
}


def home(app):
    """Go back to the dashboard, without a question or words of a search."""
    while app.screen_stack[1:]:
        app.pop_screen()
    app.search.value = ""
    app.panes.remove_class("open", "keys")
    app.stack.clear()
    app.options.focus()
    app.open_list("dashboard")


SIZES = some([(40, 14), (120, 40), (80, 24)])


@pytest.mark.parametrize("size", SIZES, ids="{0[0]}x{0[1]}".format)
def test_screens_are_as_kept(desk, size):
    desk.live_through_a_session()
    shown = desk.frames(*((home, *keys) for keys in SEEN.values()), size=size)
    kept = FRAMES / f"{size[0]}x{size[1]}.txt"
    frames = "".join(f"--- {name}\n{frame}" for name, frame in zip(SEEN, shown, strict=True))
    # A sent text names the command, and so the folder in which it is installed.
    frames = re.sub(r"about \d+ tokens", "about N tokens", frames)
    if os.environ.get("ADEMEM_FRAMES") == "write":
        kept.write_text(frames, encoding="utf-8")

    assert frames == kept.read_text(encoding="utf-8")
    assert max(map(len, frames.splitlines())) <= size[0]


def test_a_decision_leads_to_the_next_and_is_undone_and_redone(desk):
    lesson = desk.lessons[0]
    frame = desk.play(*FIRST_LESSON, "a")
    assert "3 of 3" in frame
    assert LESSONS[1] in frame
    assert desk.get(lesson).status == "promoted"

    desk.play(*FIRST_LESSON, "r", "z")
    assert desk.get(desk.lessons[1]).live
    desk.play(*FIRST_LESSON, "r", "u", "Z")
    assert not desk.get(desk.lessons[1]).live


def test_a_text_is_edited_and_accepted(desk):
    frame = desk.play(*FIRST_LESSON, "e", *" at night", "ctrl+s")

    memory = desk.get(desk.lessons[0])
    assert (memory.content, memory.status) == (f"{LESSONS[0]} at night", "promoted")
    assert "z undoes it" in frame


def test_a_rejection_has_a_reason_and_a_pin_confirms(desk):
    desk.play(*FIRST_LESSON, "R", *"no such worker", "enter", "p")
    with desk.world.memories() as memories:
        last = curation.list_revisions(memories, desk.lessons[0])[-1]

    assert (last["operation"], last["reason"]) == ("reject", "no such worker")
    assert desk.get(desk.lessons[1]).pinned


def test_one_text_is_chosen_for_two(desk):
    desk.play(*CANDIDATES, "j", "m", "ctrl+s")

    merged = desk.get(desk.known)
    assert merged.content == f"{KNOWN}\n{CONTRADICTING}"
    assert desk.get(desk.contradicting).superseded_by == merged.id


@pytest.mark.parametrize(
    ("answer", "live"),
    [
        pytest.param("b", (True, True), id="both"),
        pytest.param("l", (True, False), id="left"),
        pytest.param("r", (False, True), id="right"),
    ],
)
def test_a_contradiction_is_settled(desk, answer, live):
    desk.play("j", "enter", "c", answer)

    with desk.world.memories() as memories:
        assert curation.list_conflicts(memories) == []
        shown = {memory.id for memory in searching.list_memories(memories)}
    assert (desk.contradicting in shown, desk.known in shown) == live


def test_what_is_selected_is_decided_in_one_act(desk):
    select = (*FIRST_LESSON, "x", "j", "x")
    desk.play(*select, "t", *"night", "enter")
    assert [desk.get(id).tags for id in desk.lessons] == [("night",), ("night",)]

    frame = desk.play(*select, "r", "z")
    assert "undone: reject 2 memories" in frame
    assert all(desk.get(id).live for id in desk.lessons)


def test_an_order_is_approved_by_a_second_answer(desk):
    assert "This reads as an order to a model. Approve it?" in desk.play(*CANDIDATES, "a", "l", "a")
    assert desk.get(desk.order).quarantine_reason

    desk.play(*CANDIDATES, "e")
    desk.play(*CANDIDATES, "a", "a")
    memory = desk.get(desk.order)
    assert (memory.quarantine_reason, memory.status) == (None, "promoted")


def test_an_agents_shell_decides_nothing(desk):
    before = desk.world.live()
    moves = some(["a", "xp", "r", "p", "e", "xa", "m", "c", "R", "s", "z"], 2)
    frames = desk.frames(
        *((home, *cursor, *keys) for cursor in (CANDIDATES, FIRST_LESSON) for keys in moves),
        forbidden="codex runs this shell",
        is_withheld=lambda memory: memory.quarantine_reason is not None,
    )

    assert desk.world.live() == before
    assert not any("mail the passkeys" in frame for frame in frames)
    refused = "decisions are not possible here: codex runs this shell"
    assert sum(refused in frame for frame in frames) >= len(frames) // 2


def test_a_locked_database_is_told_with_the_next_step_and_the_row_stays(desk):
    other = sqlite3.connect(desk.world.root / ".ade/ade.db", isolation_level=None)

    def lock(app):
        app.memories.store.db.execute("pragma busy_timeout = 0")
        other.execute("begin immediate")

    with closing(other):
        frame = desk.play(*FIRST_LESSON, lock, "r")

    assert LESSONS[0][:20] in frame
    assert "database is locked (another program holds it" in frame
    assert desk.get(desk.lessons[0]).live


def test_a_list_that_may_go_on_says_so(desk):
    with desk.world.memories() as memories:
        rows = [builders.memory(f"Lesson number {at} of many") for at in range(MOST)]
        builders.insert(memories.store, *rows)

    assert re.search(r"recent +300\+", desk.play())
    assert "1 of 300+" in desk.play("j", "j", "enter")


def test_a_skipped_one_is_left_out_till_tomorrow(desk):
    frame = desk.play(*FIRST_LESSON, "s")
    assert "3 of 3" in frame
    listed, said = frame.rstrip().rsplit("\n", 1)
    assert LESSONS[0][:20] not in listed
    assert f"skip “{LESSONS[0]}”" in said

    assert "of 3" in desk.play(*CANDIDATES)
    assert "undone: skip" in (back := desk.play(*CANDIDATES, "s", "z"))
    assert "1 of 3" in back
    with desk.world.memories() as memories:  # the log of the page has both
        assert [each["is_undone"] for each in curation.list_acts(memories)] == [False, True]
    desk.world.now += timedelta(days=1)
    assert "of 4" in desk.play(*CANDIDATES)


def meanwhile(desk, content):
    def write(_):
        with desk.world.memories() as memories:
            curation.edit(memories, desk.lessons[0], content=content)

    return write


def test_what_another_decided_is_reported_and_not_overwritten(desk):
    written = meanwhile(desk, "Images are resized at noon")
    seen = desk.play(*FIRST_LESSON, written, Terminal.look)
    assert "1 changed: n shows it" in seen
    assert LESSONS[0] in seen

    desk.world.now = desk.world.now.replace(minute=1)
    written = meanwhile(desk, "Images are resized at dawn")
    refused = desk.play(*FIRST_LESSON, written, "a")
    assert "is at revision 3, not 2" in refused
    assert "Images are resized at dawn" in refused
    assert desk.get(desk.lessons[0]).status == "candidate"


def test_a_text_typed_meanwhile_is_not_lost(desk):
    written = meanwhile(desk, "Images are resized at noon")
    frame = desk.play(*FIRST_LESSON, "e", *" at 3", written, "ctrl+s")

    assert "Images are resized at noon" in frame
    assert f"{LESSONS[0]} at 3" in frame


def test_new_ones_come_when_asked_for(desk):
    def learn(_):
        desk.learn("Passwords are hashed with argon2")

    waiting = desk.play(*FIRST_LESSON, learn, Terminal.look)
    assert "1 new: n shows it" in waiting
    assert "of 4" in waiting

    assert "of 5" in desk.play(*FIRST_LESSON, "n")


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        pytest.param({"status": Status.CANDIDATE}, "unconfirmed: ", id="candidate"),
        pytest.param({"status": Status.PROMOTED}, "", id="confirmed"),
        pytest.param(
            {"quarantine_reason": "reads as an order"}, "quarantined: it reads", id="held"
        ),
        pytest.param(
            {"status": Status.PROMOTED, "claimed_author": "Ada"}, "came with", id="of files"
        ),
    ],
)
def test_what_waits_for_nobody_has_no_reason(facts, reason):
    shown = waits_for(builders.memory("a", **facts))

    assert shown.startswith(reason)
    assert bool(shown) == bool(reason)


def test_a_search_that_is_left_leaves_the_cursor_where_it_was(desk):
    before, back = desk.frames(("j", "j", "enter", "j"), ("slash", *"day job", "enter", "escape"))

    assert "recent · 2 of 4" in before
    assert back == before


def test_a_search_that_is_left_leaves_no_words(desk):
    found, back = desk.frames(("slash", *"day job", "enter"), ("escape",))
    assert "results · 1 of" in found
    assert "dashboard · " in back
    assert "day job" not in back


def test_the_keys_are_read_whole_and_left(desk):
    keys, back = desk.frames(("question_mark",), ("escape",))
    assert "undo" in keys
    assert "waiting for review" not in keys
    assert "waiting for review" in back


def test_a_resize_loses_nothing(desk):
    def resize(app):
        app.post_message(Resize(Size(60, 20), Size(60, 20)))

    narrow, back = desk.frames((*FIRST_LESSON, "x", "e", *" at 3", resize), ("escape",))
    assert f"{LESSONS[0]} at 3" in narrow
    assert max(map(len, narrow.splitlines())) <= 60
    assert "3 of 4" in back
    assert "\n>x " in back


def test_looking_changes_nothing(desk):
    def state():
        memories = "select id, access_count, last_accessed_at, revision_count from unified_memories"
        return [
            *map(tuple, desk.world.rows(memories)),
            *desk.world.rows("select * from recall_log"),
        ]

    before = state()
    desk.frames(*((home, *keys) for keys in some(SEEN.values(), 2)))

    assert state() == before


def test_markup_in_a_text_is_shown_as_text(desk):
    desk.world.know("[bold red]Keys[/] rotate [@click=app.exit]monthly[/]")
    frame = desk.play("slash", *"rotate", "enter", size=(120, 40))

    assert "[bold red]Keys[/] rotate [@click=app.exit]monthly[/]" in frame


def test_a_text_is_copied_to_the_terminal(desk, monkeypatch):
    copied = []
    monkeypatch.setattr(Terminal, "copy_to_clipboard", lambda _, text: copied.append(text))
    desk.play("j", "j", "enter", "c", "y")
    desk.play(*CANDIDATES, "y", is_withheld=lambda memory: True)

    assert copied[0] == copied[1]
    assert len(copied) == 2


def test_many_are_decided_without_the_mouse(desk):
    words = "ant bee cat dog elk fox gnu hen ibis jay kite lark mole newt owl pig quail".split()
    words = words if FULL else words[:4]
    desk.learn(*(f"Service {a} calls {b} through gateway {a}{b}" for a in words for b in words))
    with desk.world.memories() as memories:
        count = len(curation.review(memories, None))
    desk.play(*CANDIDATES, *["r"] * (count + 1))

    with desk.world.memories() as memories:
        assert curation.review(memories, None) == []


def test_each_key_of_the_contract_is_there():
    names = {name for key in KEYS for name in key.keys.split(",")}

    assert names >= {*"aerRpmcjkxzZstyuhq", "slash", "question_mark", "escape", "enter", "down"}


def test_a_closed_pipe_ends_it_without_a_trace(desk):
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w", encoding="utf-8") as closed:
        done = subprocess.run(
            TUI,
            cwd=desk.world.root,
            env=desk.world.environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.DEVNULL,
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert done.stderr == ""


def test_in_a_pipe_the_state_is_printed(desk):
    shown = subprocess.run(
        TUI,
        cwd=desk.world.root,
        env=desk.world.environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert "waiting for review   4\n" in shown
    assert ORDER not in shown

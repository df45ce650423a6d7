"""The review at a terminal: cards redrawn in place, and keys without Enter."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from datetime import timedelta

import pytest

from ademem.core import clock
from ademem.core.client import TurnKey
from ademem.core.memory import Draft, Origin, Trust
from ademem.doors.cli.review_screen import cells, wrap
from ademem.operations import placing, searching, writing
from ademem.store import logs, outcomes
from tests import builders
from tests.doors.cli.test_reviewing import MAIN, ORDER, PATIENCE_S
from tests.world import World

REDRAW = "\x1b[H\x1b[J"
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Cards:
    """`ademem review` in a process, at a terminal of a person who presses keys."""

    def __init__(self, world, columns=100, rows=40, **environment):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environment = {"CLAUDE_CODE_SESSION_ID": "", "TERM": "xterm"} | environment
        self.process = subprocess.Popen(
            [sys.executable, "-c", MAIN, "review"],
            cwd=world.root,
            env=world.environment | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.pressed = 0

    def read(self, until="? keys"):
        """The card that stands on the screen, without its colours."""
        shown = ""
        while until not in CODES.sub("", shown.rpartition(REDRAW)[2]):
            ready, _, _ = select.select([self.master], [], [], PATIENCE_S)
            assert ready, shown
            try:
                chunk = os.read(self.master, 4096)
            except OSError:  # the other end is closed
                break
            shown += chunk.decode("utf-8", "replace")
        return CODES.sub("", shown.rpartition(REDRAW)[2]).replace("\r", "")

    def press(self, key, until="? keys"):
        self.pressed += len(key)
        os.write(self.master, key.encode())
        return self.read(until)

    def end(self):
        self.press("q", until="\0")
        code = self.process.wait(PATIENCE_S)
        os.close(self.master)
        return code


@pytest.fixture
def world(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    made = World(root)
    made.now = clock.now()
    return made


def learn(world, *texts):
    origin = Origin(trust=Trust.AGENT, source_type="passive", session_id="s1")
    with world.memories() as memories:
        return [
            writing.write(memories, Draft(content=text, origin=origin)).memory for text in texts
        ]


def statuses(world):
    return sorted(map(tuple, world.rows("select id, status, superseded_by from unified_memories")))


def contradict(world, count):
    """Pairs of a confirmed memory and a candidate."""
    for at in range(count):
        with world.memories() as memories:
            old, new = builders.insert(
                memories.store,
                builders.memory(f"Region {at} is in Dublin", created_at=world.now - timedelta(9)),
                builders.memory(
                    f"Region {at} moved to Oslo", status="candidate", created_at=world.now
                ),
            )
        world.contradict(old, new, "two places")


def test_twenty_candidates_and_five_contradictions_take_26_keys_and_all_are_taken_back(world):
    learn(world, *(f"Lesson {at} is about service {at * 7}" for at in range(20)))
    contradict(world, 5)
    before, opened = statuses(world), world.rows("select count(*) from memory_relations")
    cards = Cards(world)
    shown = cards.read()
    for at in range(25):
        key = "2" if "Which one is true now?" in shown else "a"
        shown = cards.press(key, until="z undo" if at == 24 else "? keys")
    after = statuses(world)
    for _ in range(25):
        shown = cards.press("z")
    assert "1 of 25" in shown
    assert cards.end() == 0

    assert {status for _, status, _ in after} == {"promoted"}
    assert sum(heir is not None for *_, heir in after) == 5
    assert cards.pressed - 25 == 26
    assert statuses(world) == before
    assert world.rows("select count(*) from memory_relations") == opened


@pytest.mark.parametrize(("columns", "beside"), [(100, True), (80, False)])
def test_a_contradiction_is_two_boxes_beside_each_other_where_there_is_room(world, columns, beside):
    contradict(world, 1)
    cards = Cards(world, columns)
    shown = cards.read()
    cards.end()
    lines = shown.splitlines()

    assert "Which one is true now?" in shown
    assert any("Dublin" in line and "Oslo" in line for line in lines) is beside
    assert shown.index("Dublin") < shown.index("Oslo"), "the older stands first"
    assert max(map(cells, lines)) <= columns


def test_a_candidate_is_edited_dropped_for_a_reason_moved_and_left_for_later(world):
    one, two, three = learn(world, *(f"Lesson {at} of the night job" for at in range(3)))
    editor = world.root / "editor.sh"
    editor.write_text('printf "Lesson of the day job" > "$1"\n')
    cards = Cards(world, EDITOR=f"sh {editor}")
    first = cards.read()
    assert "Keep this?" in first
    assert "from Claude, not confirmed" in first
    cards.press("e")
    cards.press("R", until="Why?")
    os.write(cards.master, b"it is the day job\n")
    cards.read()
    cards.press("w", until="commas:")
    os.write(cards.master, b"docs/, `make`\n")
    moved = cards.read()
    cards.press("s", until="q end")
    cards.end()
    with world.terminal() as memories:
        found = [searching.get(memories, each.id) for each in (one, two, three)]
        places = {each.place for each in placing.list_places(memories, found[-1].id)}

    assert [each.status for each in found] == ["promoted", "archived", "candidate"]
    assert found[0].content == "Lesson of the day job"
    assert "✓ placed" in moved
    assert places == {"dir docs  any", "program make  any"}


def test_a_card_has_the_occasions_that_are_confirmed_with_the_text(world):
    when = {"anchors": ("@when adding a sum", "@when a bill is wrong")}
    texts = ("In cents", "In mills", "Invoices are sent by the night job")
    made = (builders.memory(text, status="candidate", **when) for text in texts)
    with world.memories() as memories:
        old, new, _ = builders.insert(memories.store, *made)
    world.contradict(old, new)
    cards = Cards(world)
    boxes = cards.read()
    alone = cards.press("1")
    cards.end()

    assert (boxes.count("when: adding a sum"), boxes.count("when: a bill is wrong")) == (2, 2)
    assert "when: adding a sum\nwhen: a bill is wrong\n" in alone


def test_keys_are_listed_and_others_do_nothing(world):
    learn(world, "Invoices are sent by the night job")
    before = statuses(world)
    cards = Cards(world)
    cards.read()
    assert "no key y" in cards.press("y", until="shows all")
    assert "drop with a reason" in cards.press("?", until="find words")
    cards.end()

    assert statuses(world) == before


def test_a_quarantined_text_is_shown_without_what_moves_the_cursor(world):
    learn(world, f"{ORDER} \x1b[2J now")
    cards = Cards(world)
    shown = cards.read()
    cards.end()

    assert "May this be shown to Claude?" in shown
    assert "previous instructions" in shown


def test_where_a_rule_was_overruled_it_is_asked_whether_it_belongs(world):
    origin = Origin(trust=Trust.USER, source_type="user")
    world.know("Never run `npm publish`", origin=origin)
    (rule,) = world.live()
    with world.memories() as memories:
        (place,) = placing.list_places(memories, rule.id)
        for session in ("s1", "s2", "s3"):
            key = TurnKey(session_id=session)
            shown = [logs.Shown(memory_id=rule.id, binding=place.place)]
            given = {"key": key, "call": "npm publish"}
            logs.log_shown(memories.store, "guard", shown, world.now, **given)
            outcomes.note_passed(memories.store, key, [(rule.id, place.place)])
    cards = Cards(world)
    assert "Does it belong here?" in cards.read()
    cards.press("n", until="q end")
    assert world.live()[0].tags == ("note",)
    assert "Does it belong here?" in cards.press("z")
    cards.end()

    assert world.live()[0].tags == ()


def test_lines_break_at_the_columns_that_letters_take():
    assert wrap("日本語のテスト", 6) == ["日本語", "のテス", "ト"]
    assert wrap("one two three", 7) == ["one two", "three"]
    assert cells("é") == 1

"""The review and the browser in a real terminal multiplexer; screens are compared as text."""

import base64
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ademem.operations import curation
from tests.plugins.terminal.conftest import CONTRADICTING, FRAMES, LESSONS, PATIENCE_S

pytestmark = pytest.mark.slow
if not shutil.which("tmux"):
    pytest.skip("needs tmux", allow_module_level=True)

MAIN = (
    "import os; from ademem.core import who; from ademem.doors.cli import main;"
    "from tests import persons; who.of_process = lambda: persons.acting(os.environ); main()"
)
"""Nobody is attached to the multiplexer of a test; only an agent's variables count."""


class Multiplexer:
    """A window of 80 x 24 with one command of ademem."""

    def __init__(self, desk, *arguments, **environment):
        folder = desk.world.root.parent
        kept = {"TMUX_TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
        kept |= {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "screen"}
        self.environment = desk.world.environment | kept | environment
        self.run(
            *("-f", "/dev/null", "start-server"),
            *(";", "set-option", "-g", "default-terminal", self.environment["TERM"]),
            *(";", "new-session", "-d", "-x", "80", "-y", "24"),
            *("-c", str(desk.world.root), sys.executable, "-c", MAIN, *arguments),
            *(";", "set-option", "-g", "remain-on-exit-format", ""),
            *(";", "set-option", "-g", "remain-on-exit", "on"),
        )

    def run(self, *arguments):
        return subprocess.run(
            ["tmux", *arguments], env=self.environment, capture_output=True, text=True, check=True
        ).stdout

    def press(self, *keys):
        self.run("send-keys", *keys)
        return self

    def answer(self, words):
        """Type a line on a screen of its own."""
        self.run("send-keys", "-R", ";", "clear-history", ";", "send-keys", words, "Enter")
        return self

    def until(self, text, last=""):
        """Return the screen once it has the text, and ends with another one."""
        end = time.monotonic() + PATIENCE_S
        while True:
            shown = self.run("capture-pane", "-p", "-S", "-")
            if text in shown and shown.rstrip().endswith(last):
                return shown
            assert time.monotonic() < end, shown
            time.sleep(0.02)

    def close(self):
        subprocess.run(["tmux", "kill-server"], env=self.environment, capture_output=True)


@pytest.fixture
def window(desk):
    opened = []

    def window(*arguments, **environment):
        opened.append(Multiplexer(desk, *arguments, **environment))
        return opened[-1]

    yield window
    for each in opened:
        each.close()


ANOTHER = "Backups are kept by the day server", "Backups are kept by the night server"
REVIEWED = (
    ("", "1 of 6"),
    ("x", "go to the next one with these words"),
    ("/day job", "2 of 6"),
    ("c", "c both, c left (the first) or c right (the second)?"),
    ("c left", "2 of 6: unconfirmed"),
    ("u", "not archived after all"),
    ("c right", "3 of 6"),
    ("u", "not archived after all"),
    ("c both", "2 of 6: unconfirmed"),
    ("a", "3 of 6"),
    ("/resized", "4 of 6"),
    ("e", "worker at noon"),
    ("a", "5 of 6"),
    ("p", "6 of 6"),
    ("u", "not pinned after all"),
    ("p", "6 of 6"),
    ("q", "resolved 1, accepted 2, edited 1, pinned 1"),
)
RESUMED = (
    ("", "the last review stopped here"),
    ("r no such hash", "2 of 3"),
    ("u", "not rejected after all"),
    ("s", "2 of 3"),
    ("/server", "3 of 3"),
    ("m", "skipped 1, merged 1"),
)


def play(review, moves):
    """Return the screen after each answer, when it asks again or ends."""
    screens = []
    for word, shown in moves:
        if word:
            review.answer(word)
        screen = review.until(shown, "" if (word, shown) == moves[-1] else "[q]uit?")
        screens.append(steady(screen))
    return screens


def steady(screen):
    """Make equal what differs from run to run, or from training to training."""
    screen = re.sub(r"\b[0-9a-f](?:\n?[0-9a-f]){11}\b", "0123456789ab", screen)
    screen = re.sub(r'(an assistant) \("[^()]*\); \S+ is the limit, this is \S+', r"\1 (…)", screen)
    return screen.rstrip("\n") + "\n"


def test_each_answer_of_the_review_does_what_it_says(desk, window, tmp_path):
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "1s/$/ at noon/;2,\\$d" "$1"\n')
    editor.chmod(0o755)
    desk.world.know(ANOTHER[0])
    later, _ = desk.learn(ANOTHER[1], "Passwords are hashed with argon2")
    (earlier,) = (each for each in desk.world.live() if each.content == ANOTHER[0])
    desk.world.contradict(earlier, desk.get(later), "other words")
    lines = {"EDITOR": str(editor), "TERM": "dumb"}
    left = (("", "1 skipped until tomorrow"), ("q", "nothing done"))
    screens = [
        screen
        for moves in (REVIEWED, RESUMED, left)
        for screen in play(window("review", **lines), moves)
    ]
    frames = "--- \n".join(screens)
    kept = FRAMES / "review.txt"
    if os.environ.get("ADEMEM_FRAMES") == "write":
        kept.write_text(frames, encoding="utf-8")

    assert frames == kept.read_text(encoding="utf-8")
    one, other = (desk.get(id) for id in desk.lessons)
    assert f"{ANOTHER[0]} at noon" in [each.content for each in desk.world.live()]
    assert desk.get(desk.contradicting).status == "promoted"
    assert (one.content, one.status) == (f"{LESSONS[0]} at noon", "promoted")
    assert other.is_pinned


def test_the_browser_lives_in_a_real_terminal(desk, window):
    tui = window("tui", NO_COLOR="1")
    assert "candidates       4" in tui.until("waiting for review   4")
    shown = tui.press("Enter", "j").until("\n>  Invoices are sent by the nig")
    assert "contradictory" in shown
    tui.press("c").until("Which is true?")
    tui.press("l").until("z undoes it")
    assert not desk.get(desk.known).live
    tui.press("z").until("undone")
    assert desk.get(desk.known).live

    tui.run("resize-window", "-x", "120", "-y", "40")
    wide = tui.until("Images are resized by the worker (")
    assert CONTRADICTING in wide
    desk.learn("Passwords are hashed with argon2")
    tui.until("1 new: n shows it")
    tui.press("n").until("Passwords are hashed")
    tui.press("q", "q")
    while tui.run("display-message", "-p", "#{pane_dead}") != "1\n":
        time.sleep(0.02)


def test_an_agents_shell_decides_nothing_in_a_real_terminal(desk, window):
    tui = window("tui", CLAUDECODE="1")
    tui.until("waiting for review   4")
    shown = tui.press("Enter").until("withheld until a person approves it")
    assert "passkeys" not in shown
    tui.press("a").until("decisions are not possible here: ")

    with desk.world.memories() as memories:
        assert len(curation.review(memories, None)) == 2 + len(LESSONS)


def test_many_are_decided_at_once_and_taken_back(desk, window):
    chosen = ("--category", "fact", "--type", "fact", "--older", "0m")
    shown = window("review", *chosen, "--reject").until("4 rejected (`ademem undo")
    assert not any(desk.get(id).live for id in (desk.order, desk.contradicting, *desk.lessons))

    window("undo", re.search(r"`ademem undo (\w+)`", shown)[1]).until("undid")
    assert all(desk.get(id).live for id in (desk.order, desk.contradicting, *desk.lessons))


def test_a_text_is_copied_by_the_terminal_in_sixteen_colours(desk, window, tmp_path):
    sent = tmp_path / "sent"
    tui = window("tui")
    tui.run("pipe-pane", "-O", f"cat > {sent}")
    tui.until("waiting for review   4")
    tui.press("Enter", "j", "y").until("copied")
    end = time.monotonic() + PATIENCE_S
    copied = b"\x1b]52;c;" + base64.b64encode(CONTRADICTING.encode()) + b"\a"
    while copied not in (written := sent.read_bytes()):
        assert time.monotonic() < end, written
        time.sleep(0.02)

    assert re.search(rb"\x1b\[[0-9;]*m", written)
    assert not re.search(rb"[34]8;[25];", written)


def test_the_browser_ends_with_its_terminal(desk, window):
    tui = window("tui")
    tui.until("waiting for review   4")
    process = int(tui.run("display-message", "-p", "#{pane_pid}"))
    tui.run("kill-pane")
    end = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{process}").exists():
        assert time.monotonic() < end
        time.sleep(0.02)

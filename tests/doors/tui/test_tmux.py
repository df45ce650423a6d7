"""The review and the browser in a real terminal multiplexer; screens are compared as text."""

import os
import shutil
import subprocess
import sys
import time

import pytest

from ademem import api
from tests.doors.tui.conftest import CONTRADICTING, KNOWN, LESSONS, PATIENCE_S

pytestmark = pytest.mark.slow
if not shutil.which("tmux"):
    pytest.skip("needs tmux", allow_module_level=True)

MAIN = "from ademem.doors.cli import main; main()"


class Multiplexer:
    """A window of 80 x 24 with one command of ademem."""

    def __init__(self, desk, *arguments, **environment):
        folder = desk.world.root.parent
        kept = {"TMUX_TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
        kept |= {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "screen"}
        self.environment = desk.world.environment | kept | environment
        self.run(
            *("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24"),
            *("-c", str(desk.world.root), sys.executable, "-c", MAIN, *arguments),
            *(";", "set-option", "-g", "remain-on-exit", "on"),
        )

    def run(self, *arguments):
        return subprocess.run(
            ["tmux", *arguments], env=self.environment, capture_output=True, text=True, check=True
        ).stdout

    def press(self, *keys):
        self.run("send-keys", *keys)
        return self

    def until(self, text):
        """Return the screen once it has the text."""
        end = time.monotonic() + PATIENCE_S
        while text not in (shown := self.run("capture-pane", "-p")):
            assert time.monotonic() < end, shown
            time.sleep(0.02)
        return shown

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


def test_a_merge_and_a_side_are_chosen_in_the_review(desk, window, tmp_path):
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "Invoices are sent twice a day" > "$1"\n')
    editor.chmod(0o755)
    review = window("review", EDITOR=str(editor))
    review.until("1 of 5")
    review.press("s", "Enter").until("Invoices are sent by the [-day-] {+night+} job")
    review.press("m", "Enter").until("3 of 5")
    review.press("u", "Enter").until("not merged after all")
    review.press("q", "Enter").until("skipped 1")

    again = window("review")
    again.until("1 skipped till tomorrow")
    again.press("/duty", "Enter").until("waits has these words")
    assert desk.get(desk.known).content == KNOWN
    assert desk.get(desk.contradicting).live


def test_the_browser_lives_in_a_real_terminal(desk, window):
    tui = window("tui", NO_COLOR="1")
    assert "candidates       4" in tui.until("waiting for review   4")
    shown = tui.press("Enter", "j").until("contradictory")
    assert "\n>  Invoices are sent by the nig" in shown
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
    tui.press("a").until("nothing is decided here: CLAUDECODE runs this shell")

    with desk.world.memories() as memories:
        assert len(api.review(memories, None)) == 2 + len(LESSONS)

"""Scripted sessions of each outcome, which page, commands, client and status line count alike."""

import json
import os
import re
import subprocess
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ademem.core import who
from tests.doors.cli.conftest import Shell
from tests.examples import FULL
from tests.plugins.replay import transcript_writer as past

RULE = "Never run `npm publish`, run make release"
FACT = "The yearly report of the ledger is written by close_ledger at night"
ASKED, ANSWER = "How is the yearly report of the ledger written?", "close_ledger writes it."
DENIED, INSTEAD = "npm publish --tag next", "make release"
STATUS_LINE = Path(__file__).parents[3] / "hooks/statusline.sh"
KINDS = ["heeded", "overruled", "interrupted", "used", "unused"]
ALL = ["heeded"] * 12 + ["overruled"] * 6 + ["interrupted"] * 4 + ["used"] * 8


class Person:
    """Works in sessions one after another, and reads what the client shows."""

    def __init__(self, world):
        self.world, self.lines, self.status = world, [], Counter()
        world.environment["ADEMEM_NOTICE_LEVEL"] = "normal"
        world.now = datetime.now(UTC) - timedelta(hours=2)
        world.know(RULE)
        world.know(FACT, category="fact")

    def work(self, number, kind):
        """Hold one session; whatever its outcome, the fact is also shown in it."""
        self.id, self.at = f"session-{number}", 0
        self.hook("session_start", source="startup")
        self.hook("user_prompt_submit", prompt=ASKED, prompt_id="p0")
        self.hook("stop", prompt_id="p0", last_assistant_message=ANSWER)
        if kind in ("heeded", "overruled", "interrupted"):
            self.hook("user_prompt_submit", prompt="Publish the package", prompt_id="p1")
            assert self.call(DENIED), "the guard stops it"
            assert not self.call(DENIED if kind == "overruled" else INSTEAD)
            if kind != "interrupted":
                self.hook("stop", prompt_id="p1", last_assistant_message="Published.")
        self.note_status()
        answer = ANSWER if kind == "used" else "That I do not know."
        steps = [past.prompt(ASKED), past.claude(answer)]
        config, root = Path(self.world.environment["CLAUDE_CONFIG_DIR"]), self.world.root
        path = past.write(config, root, self.id, steps, begin=self.world.now)
        self.hook("session_end", reason="other", transcript_path=str(path))
        self.world.work()

    def hook(self, event, **payload):
        printed = self.world.fire(event, session_id=self.id, **payload)
        found = json.loads(printed) if printed else {}
        self.lines += filter(None, [found.get("systemMessage", "")])
        return found.get("hookSpecificOutput", {})

    def call(self, command):
        """Make a call of the shell; return the reason if it is denied."""
        self.at += 1
        tool = {"tool_name": "Bash", "tool_input": {"command": command}, "prompt_id": "p1"}
        answer = self.hook("pre_tool_use", tool_use_id=f"{self.id}-{self.at}", **tool)
        self.hook("post_tool_batch", prompt_id="p1")
        return answer.get("permissionDecisionReason", "")

    def note_status(self):
        payload = json.dumps({"workspace": {"project_dir": str(self.world.root)}})
        line = subprocess.run(
            [STATUS_LINE], input=payload.replace(": ", ":"), capture_output=True, text=True
        ).stdout
        self.status += Counter(read_counts(line))


def read_counts(text):
    """Return the effects that a line names: `prevented 4 · answered 11`."""
    found = re.findall(r"(prevented|answered) (?:<b>)?(\d+)", text)
    return {kind: int(number) for kind, number in found}


@pytest.fixture
def ademem(world, monkeypatch, capsys):
    for name in [name for name in os.environ if name.startswith(("ADEMEM_", "CLAUDE"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", world.environment["HOME"])
    monkeypatch.setattr(who, "has_terminal", lambda: True)
    monkeypatch.chdir(world.root)
    return Shell(world.root, monkeypatch, capsys)


def test_all_that_tells_what_memory_did_counts_the_same(world, browser, ademem):
    """F1: each figure opens down to its evidence."""
    person, kinds = Person(world), ALL if FULL else KINDS
    for number, kind in enumerate(kinds):
        person.work(number, kind)
    person.work(len(kinds), "unused")  # whose start tells of the last one
    expected = {"prevented": kinds.count("heeded"), "answered": kinds.count("used")}

    sessions = range(len(kinds) + 1)
    of_sessions = [ademem.json("why", f"session-{number}")["effects"] for number in sessions]
    told = [line for line in person.lines if "last session" in line]
    stops = [line for line in person.lines if line.startswith("◆ ademem prevented ")]
    page = browser.get("/").text
    assert read_counts(page.partition("</h1>")[0]) == expected
    assert read_counts(ademem()) == expected
    assert sum(map(Counter, of_sessions), Counter()) == Counter(expected)
    assert sum((Counter(read_counts(line)) for line in told), Counter()) == Counter(expected)
    assert person.status["prevented"] == len(stops) == expected["prevented"]
    assert page.count("<del>") == min(expected["prevented"], 20)
    assert f'<code class="at">{INSTEAD}</code></ins>' in page

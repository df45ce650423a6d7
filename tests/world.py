"""A project, a clock that only moves when told to, and events fired in this process."""

import json
import os
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

from ademem import operations
from ademem.core import trust
from ademem.core.memory import Draft
from ademem.operations import searching, upkeep, writing
from ademem.session import answer
from ademem.store import relations
from tests import persons
from tests.builders import NOW
from tests.enrolled import enrol

EVENTS = {
    "session_start": "SessionStart",
    "user_prompt_submit": "UserPromptSubmit",
    "pre_tool_use": "PreToolUse",
    "post_tool_use": "PostToolUse",
    "post_tool_use_failure": "PostToolUseFailure",
    "post_tool_batch": "PostToolBatch",
    "pre_compact": "PreCompact",
    "stop": "Stop",
    "subagent_start": "SubagentStart",
    "subagent_stop": "SubagentStop",
    "session_end": "SessionEnd",
    "cwd_changed": "CwdChanged",
    "late_recall": "PostToolUse",
}


class World:
    """One enrolled project and the client that works in it."""

    def __init__(self, root, *, enrolled=False, home=None):
        self.root = root
        self.now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
        self.environment = {
            "CLAUDE_PROJECT_DIR": str(root),
            "CLAUDE_CONFIG_DIR": str(root.parent / "config"),
            "CLAUDE_CODE_SESSION_ID": "s1",
            "HOME": str(home or root.parent / "home"),
            "PATH": "/usr/bin",
            "TMPDIR": str(root.parent),
            "ADEMEM_JOBS_AUTO": "false",
            "ADEMEM_NOTICE_LEVEL": "quiet",
        }
        if not enrolled:  # else it is a clone of what is
            enrol(root, self.environment)

    def configure(self, text):
        """Write the person's own settings."""
        own = Path(trust.config_path(self.environment))
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(text, encoding="utf-8")

    def fire(self, event, *, raw=None, by=persons.PERSON, **payload):
        """What the hook prints, as text; the clock moves a second for each event."""
        self.now += timedelta(seconds=1)
        head = {"session_id": "s1", "cwd": str(self.root), "hook_event_name": EVENTS[event]}
        handle = import_module(f"ademem.session.{event}").handle
        if raw is None:
            raw = json.dumps(head | payload).encode()
        return answer(handle, raw, self.environment, self.now, by=by)

    def context(self, event, **payload):
        """The context the model would get; empty when nothing was printed."""
        said = self.fire(event, **payload)
        output = json.loads(said).get("hookSpecificOutput", {}) if said else {}
        return output.get("additionalContext", "")

    def notice(self, **payload):
        """The line that the start of a session shows to the person; empty for none."""
        said = self.fire("session_start", **({"source": "startup"} | payload))
        line = json.loads(said).get("systemMessage", "") if said else ""
        return line.removeprefix("◆ ")

    def denial(self, event="pre_tool_use", **payload):
        """The reason of a denial; None when the call passes."""
        said = self.fire(event, **payload)
        return json.loads(said)["hookSpecificOutput"]["permissionDecisionReason"] if said else None

    def memories(self):
        return operations.open_memories(
            str(self.root), environment=self.environment, now=lambda: self.now
        )

    def terminal(self):
        """The memories in a terminal of the person's, where what is done is their act."""
        outside = {"CLAUDE_CODE_SESSION_ID": ""}
        environment = self.environment | outside
        return operations.open_memories(
            str(self.root), environment=environment, now=lambda: self.now
        )

    def work(self):
        """Let a worker do what is due."""
        with self.memories() as memories:
            return upkeep.work(memories)

    def know(self, *texts, **changes):
        """Memories that a person has confirmed."""
        with self.memories() as memories:
            for text in texts:
                draft = {"content": text, "category": "convention", "promoted": True} | changes
                assert writing.write(memories, Draft(**draft)).accepted

    def live(self):
        with self.memories() as memories:
            return searching.list_memories(memories)

    def contradict(self, one, other, reason=""):
        """The two memories wait as a pair."""
        with self.memories() as memories, memories.store.transaction():
            given = {"score": 1.0, "reason": reason, "actor": "system", "now": memories.clock()}
            relations.add(memories.store, one, other, relations.CONFLICT, **given)

    def row(self, query, *values):
        with self.memories() as memories:
            return memories.store.db.execute(query, values).fetchone()

    def rows(self, query, *values):
        with self.memories() as memories:
            return memories.store.db.execute(query, values).fetchall()

    def failures(self):
        log = self.root / ".ade" / "log" / "hooks.log"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


class Open:
    """A project whose memory is open, and a clock that moves when told to."""

    def __init__(self, root):
        root.mkdir(exist_ok=True)
        self.root = root
        self.now = NOW
        enrol(root, os.environ)
        self.memories = operations.open_memories(str(root), environment={}, now=lambda: self.now)
        self.runtime = self.memories
        self.store = self.runtime.store

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.memories.close()

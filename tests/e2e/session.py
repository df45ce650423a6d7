"""One run of the client, as it reported it, and what its model was asked meanwhile."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .request import Request


@dataclass(frozen=True)
class Event:
    """A line of the client's stream, and when it came."""

    at_s: float
    data: dict[str, Any]


@dataclass(frozen=True)
class HookRun:
    event: str
    stdout: str
    stderr: str
    exit_code: int
    seconds: float


@dataclass(frozen=True)
class Session:
    events: list[Event]
    asked: list[Request]

    @property
    def id(self) -> str:
        return str(self._said("system", "init")[0].data["session_id"])

    @property
    def auto_memory(self) -> Path:
        """The folder in which the client's own memory is kept."""
        return Path(self._said("system", "init")[0].data["memory_paths"]["auto"])

    @property
    def requests(self) -> list[Request]:
        """What the main thread's model was asked."""
        return [request for request in self.asked if request.agent is None]

    @property
    def helper_requests(self) -> list[Request]:
        """What the subagent's model was asked."""
        return [request for request in self.asked if request.agent is not None]

    def hooks(self, event: str = "") -> list[HookRun]:
        """The hooks that ran and ended, of one event or of all."""
        started = {e.data["hook_id"]: e.at_s for e in self._said("system", "hook_started")}
        return [
            HookRun(
                event=ended.data["hook_event"],
                stdout=ended.data["stdout"],
                stderr=ended.data["stderr"],
                exit_code=ended.data["exit_code"],
                seconds=ended.at_s - started[ended.data["hook_id"]],
            )
            for ended in self._said("system", "hook_response")
            if event in ("", ended.data["hook_event"])
        ]

    @property
    def injected(self) -> int:
        """Characters that hooks put into the model's context."""
        answers = [json.loads(hook.stdout) for hook in self.hooks() if hook.stdout[:1] == "{"]
        outputs = [answer.get("hookSpecificOutput", {}) for answer in answers]
        return sum(
            len(output.get(name, ""))
            for output in outputs
            for name in ("additionalContext", "permissionDecisionReason")
        )

    def _said(self, kind: str, subtype: str) -> list[Event]:
        return [
            event
            for event in self.events
            if (event.data["type"], event.data.get("subtype")) == (kind, subtype)
        ]

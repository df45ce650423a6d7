"""A conversation as the client writes it down, row by row; ids and texts are ours."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ademem.core.clock import stamp
from tests.builders import NOW

if TYPE_CHECKING:
    from pathlib import Path


class Talk:
    """Rows of a transcript; each happens a second after the one before."""

    def __init__(self, session: str = "s1") -> None:
        self.session = session
        self.now = NOW
        self.rows: list[dict[str, Any]] = []
        self._calls = 0

    def row(self, kind: str, **keys: Any) -> Talk:
        self.now += timedelta(seconds=1)
        head = {"type": kind, "isSidechain": False, "timestamp": stamp(self.now)}
        self.rows.append(head | {"sessionId": self.session, "cwd": "/p"} | keys)
        return self

    def types(self, text: str, **keys: Any) -> Talk:
        """The person types something."""
        return self.row("user", message={"role": "user", "content": text}, **keys)

    def queues(self, text: str) -> Talk:
        """The person types while a turn runs."""
        return self.row("attachment", attachment={"type": "queued_command", "prompt": text})

    def says(self, text: str, **keys: Any) -> Talk:
        """The model says something."""
        block = {"type": "text", "text": text}
        return self.row("assistant", message={"role": "assistant", "content": [block]}, **keys)

    def does(
        self,
        tool: str,
        result: str = "",
        *,
        failed: bool = False,
        aside: bool = False,
        **given: Any,
    ) -> Talk:
        """The model calls a tool, and this comes of it."""
        self._calls += 1
        call = {"id": f"toolu_{self.session}_{self._calls}", "type": "tool_use"}
        block = call | {"name": tool, "input": given}
        message = {"role": "assistant", "content": [block]}
        self.row("assistant", message=message, isSidechain=aside)
        came = {"tool_use_id": call["id"], "type": "tool_result", "content": result}
        message = {"role": "user", "content": [came | {"is_error": failed}]}
        return self.row("user", message=message, isSidechain=aside, toolUseResult={})

    def runs(self, command: str, result: str = "", *, failed: bool = False) -> Talk:
        return self.does("Bash", result, failed=failed, command=command)

    def edits(self, path: str) -> Talk:
        return self.does("Edit", "updated", file_path=path, old_string="a", new_string="b")

    def lists(self, *states: str) -> Talk:
        """The model writes its list of what is to be done."""
        return self.does("TodoWrite", todos=[{"content": "x", "status": each} for each in states])

    def raw(self) -> bytes:
        text = (json.dumps(row, separators=(",", ":"), ensure_ascii=False) for row in self.rows)
        return "".join(line + "\n" for line in text).encode()

    def write(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.raw())
        return path

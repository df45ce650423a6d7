"""Transcripts as Claude Code 2.1.332 writes them, from the steps of a session."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ademem.core.client_memory import slug

BEGIN = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
REJECTION = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was"
    " a file edit, the new_string was NOT written to the file). STOP what you are doing and wait"
    " for the user to tell you how to proceed."
)
DENIAL = "PreToolUse:Bash hook error: a hook denied it"


def prompt(text: str, **fields: Any) -> dict[str, Any]:
    return {"row": "prompt", "text": text} | fields


def claude(text: str) -> dict[str, Any]:
    return {"row": "claude", "text": text}


def call(id: str, tool: str, **given: Any) -> dict[str, Any]:
    return {"row": "call", "id": id, "tool": tool, "input": given}


def result(id: str, text: str = "done", **fields: Any) -> dict[str, Any]:
    return {"row": "result", "id": id, "ok": True, "rejected": False, "text": text} | fields


def ran(id: str, tool: str, **given: Any) -> list[dict[str, Any]]:
    """A call that was carried out."""
    return [call(id, tool, **given), result(id)]


def refused(id: str, tool: str, **given: Any) -> list[dict[str, Any]]:
    """A call that the person refused."""
    return [call(id, tool, **given), result(id, ok=False, rejected=True)]


def denied(id: str, tool: str, **given: Any) -> list[dict[str, Any]]:
    """A call that a hook denied."""
    return [call(id, tool, **given), result(id, DENIAL, ok=False)]


class Files:
    """Texts of files, as the edits of a session leave them."""

    def __init__(self) -> None:
        self.first: dict[str, str] = {}
        self.now: dict[str, str] = {}

    def read(self, path: str, text: str) -> None:
        if path not in self.now:
            self.first[path] = self.now[path] = text

    def write(self, path: str, given: dict[str, Any]) -> dict[str, Any]:
        """Return what the client notes of a Write."""
        if "before" in given:
            if given["before"] is None:
                self.now.pop(path, None)
            else:
                self.read(path, given["before"])
                self.now[path] = given["before"]
        before, self.now[path] = self.now.get(path), given["content"]
        return {
            "type": "create" if before is None else "update",
            "filePath": path,
            "content": given["content"],
            "structuredPatch": [],
            "originalFile": before,
            "userModified": False,
        }

    def edit(self, path: str, given: dict[str, Any]) -> dict[str, Any]:
        """Return what the client notes of an Edit; what was not read yet is in the file."""
        old, new = given["old_string"], given["new_string"]
        if old not in self.now.get(path, ""):
            self.now[path] = self.now.get(path, "first line\n") + old
            self.first.setdefault(path, self.now[path])
        before = self.now[path]
        self.now[path] = before.replace(old, new, -1 if given.get("replace_all") else 1)
        return {
            "filePath": path,
            "oldString": old,
            "newString": new,
            "originalFile": before,
            "structuredPatch": [],
            "userModified": False,
            "replaceAll": bool(given.get("replace_all")),
        }

    def check_out(self, command: str) -> None:
        for path, text in self.first.items():
            if "git" in command and Path(path).name in command:
                self.now[path] = text


def rows(
    steps: Iterable[dict[str, Any]],
    root: Path | str,
    session: str,
    *,
    begin: datetime = BEGIN,
    entrypoint: str = "cli",
    version: str = "2.1.332",
    agent: str = "",
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a transcript; a step may say `at`, and has a second else."""
    files, calls, at = Files(), dict[str, dict[str, Any]](), begin
    above: str | None = None
    for number, step in enumerate(steps):
        at += timedelta(seconds=1)
        id = step.get("uuid") or str(uuid.uuid5(uuid.NAMESPACE_OID, f"{session}{agent}{number}"))
        row = {
            "parentUuid": above,
            "isSidechain": bool(agent),
            "userType": "external",
            "entrypoint": entrypoint,
            "cwd": str(root),
            "sessionId": session,
            "version": version,
            "gitBranch": "main",
            "uuid": id,
            "timestamp": f"{at:%Y-%m-%dT%H:%M:%S}.{number % 1000:03}Z",
        }
        yield row | _row_of(step, files, calls, str(root)) | step.get("fields", {})
        above = id


def _row_of(
    step: dict[str, Any], files: Files, calls: dict[str, dict[str, Any]], root: str
) -> dict[str, Any]:
    match step["row"]:
        case "prompt":
            message = {"role": "user", "content": step["text"]}
            return {"type": "user", "promptId": str(uuid.uuid4()), "message": message}
        case "claude":
            return _of_model({"type": "text", "text": step["text"]})
        case "call":
            calls[step["id"]] = step
            return _of_model(
                {
                    "type": "tool_use",
                    "id": step["id"],
                    "name": step["tool"],
                    "input": _absolute(step["input"], root),
                }
            )
    return _of_result(step, calls[step["id"]], files, root)


def _absolute(given: dict[str, Any], root: str) -> dict[str, Any]:
    rest = {name: value for name, value in given.items() if name != "before"}
    if "file_path" in rest:
        rest["file_path"] = str(Path(root) / rest["file_path"])
    return rest


def _of_model(block: dict[str, Any]) -> dict[str, Any]:
    message = {
        "id": f"msg_{uuid.uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": [block],
        "stop_reason": None,
        "usage": {"input_tokens": 1000, "output_tokens": 20},
    }
    return {"type": "assistant", "message": message}


def _of_result(
    step: dict[str, Any], called: dict[str, Any], files: Files, root: str
) -> dict[str, Any]:
    text, failed = step["text"], not step["ok"]
    if step["rejected"]:
        text, noted = REJECTION, "User rejected tool use"
    elif failed:
        if called["tool"] == "Bash" and not text.startswith("PreToolUse:"):
            text = f"Exit code 1\n{text}"
        noted = f"Error: {text}"
    else:
        noted = _note(called, text, files, root)
    block = {
        "tool_use_id": step["id"],
        "type": "tool_result",
        "content": text,
        "is_error": failed or step["rejected"],
    }
    message = {"role": "user", "content": [block]}
    return {"type": "user", "message": message, "toolUseResult": noted}


def _note(called: dict[str, Any], text: str, files: Files, root: str) -> Any:
    given = called["input"]
    path = str(Path(root) / given.get("file_path", ""))
    match called["tool"]:
        case "Write":
            return files.write(path, given)
        case "Edit":
            return files.edit(path, given)
        case "Read":
            files.read(path, text)
            return {"type": "text", "file": {"filePath": path, "content": text}}
    files.check_out(given.get("command", ""))
    return {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}


def write(
    config: Path, root: Path | str, session: str, steps: Iterable[dict[str, Any]], **options: Any
) -> Path:
    """Write the transcript of a session below the client's folder, or of a subagent of it."""
    folder = config / "projects" / slug(str(root))
    agent = options.get("agent", "")
    path = folder / session / "subagents" / f"agent-{agent}.jsonl" if agent else None
    path = path or folder / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(row, ensure_ascii=False) for row in rows(steps, root, session, **options))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path

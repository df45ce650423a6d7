"""Prompts that a rewound conversation left: what was shown to them is not in the context any more.

At PreToolUse the transcript holds the entry with the call's id; the chain of `parentUuid` from
there passes the entries that hold (observed in Claude Code 2.1.197 and 2.1.332). At
UserPromptSubmit it is not written yet.
"""

from __future__ import annotations

from ademem.core.json_text import loads
from ademem.core.transcript_lines import read_lines

READ_BYTES = 4_000_000
"""End of a transcript that is read; what lies before counts as on the branch."""


def find_left(transcript: str, tool_use_id: str) -> set[str]:
    """Return the ids of prompts in the end of a transcript that are not above the call.

    Empty where nothing can be told: no transcript, or no entry with the call yet.
    """
    if not transcript or not tool_use_id:
        return set()
    parents: dict[str, str] = {}
    prompts: dict[str, str] = {}
    at = ""
    for row in _rows(transcript):
        uuid, parent = row.get("uuid"), row.get("parentUuid") or row.get("logicalParentUuid")
        if not isinstance(uuid, str):
            continue
        parents[uuid] = parent if isinstance(parent, str) else ""
        prompt = row.get("promptId")
        if isinstance(prompt, str):
            prompts[uuid] = prompt
        if row.get("type") == "assistant" and _has_call(row, tool_use_id):
            at = uuid
    if not at:
        return set()
    kept: set[str] = set()
    while at in parents:
        if at in prompts:
            kept.add(prompts[at])
        at = parents.pop(at)
    return set(prompts.values()) - kept


def _rows(transcript: str) -> list[dict[str, object]]:
    try:
        lines = [*read_lines(transcript, tail=READ_BYTES)]
    except OSError:
        return []
    rows = []
    for line in lines:
        if b'"uuid"' not in line:
            continue
        try:
            row = loads(line.decode())
        except (ValueError, RecursionError):  # also what is no UTF-8
            continue
        if isinstance(row, dict) and not row.get("isSidechain"):
            rows.append(row)
    return rows


def _has_call(row: dict[str, object], tool_use_id: str) -> bool:
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return isinstance(content, list) and any(
        isinstance(block, dict) and block.get("id") == tool_use_id for block in content
    )

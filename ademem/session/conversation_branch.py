"""Prompts that a rewound conversation left: what was shown to them is not in the context any more.

At PreToolUse the transcript holds the entry with the call's id; the chain of `parentUuid` from
there passes the entries that hold (observed in Claude Code 2.1.197 and 2.1.332). At
UserPromptSubmit it is not written yet.
"""

from __future__ import annotations

from ademem.core.caching import lru_cache
from ademem.core.json_text import loads
from ademem.core.transcript_lines import read_lines

LAST_BYTES = 100_000
"""End of a transcript in which its last entry is looked for."""
READ_BYTES = 4_000_000
"""End of a transcript that is read; what lies before counts as on the branch."""


@lru_cache(maxsize=1)
def find_left(transcript: str, tool_use_id: str) -> frozenset[str] | None:
    """Return the ids of prompts in the end of a transcript that are not above the call.

    None where nothing can be told: no transcript, or no entry with the call yet.
    """
    if not transcript or not tool_use_id:
        return None
    parents, prompts, call = _read_entries(transcript, tool_use_id)
    if not call:
        return None
    above: set[str] = set()
    while call in parents:
        if call in prompts:
            above.add(prompts[call])
        call = parents.pop(call)
    return frozenset(prompts.values()) - above


def _read_entries(transcript: str, tool_use_id: str) -> tuple[dict[str, str], dict[str, str], str]:
    """Return by the ids of entries their parents and their prompts, and the entry with the call."""
    parents: dict[str, str] = {}
    prompts: dict[str, str] = {}
    call = ""
    for row in _rows(transcript):
        uuid, parent = row.get("uuid"), row.get("parentUuid") or row.get("logicalParentUuid")
        if not isinstance(uuid, str):
            continue
        parents[uuid] = parent if isinstance(parent, str) else ""
        prompt = row.get("promptId")
        if isinstance(prompt, str):
            prompts[uuid] = prompt
        if row.get("type") == "assistant" and _has_call(row, tool_use_id):
            call = uuid
    return parents, prompts, call


def find_last(transcript: str) -> str:
    """Return the id of the last entry of the conversation; empty where it cannot be told.

    A prompt that is sent now has it as its parent, unless the conversation was rewound.
    """
    if not transcript:
        return ""
    for line in reversed(_lines(transcript, LAST_BYTES)):
        uuid = (_parse(line) or {}).get("uuid")
        if isinstance(uuid, str) and _is_plain(uuid):
            return uuid
    return ""


def _is_plain(uuid: str) -> bool:
    return uuid.isascii() and uuid.replace("-", "").isalnum()


def _rows(transcript: str) -> list[dict[str, object]]:
    return [row for line in _lines(transcript, READ_BYTES) if (row := _parse(line))]


def _lines(transcript: str, tail: int) -> list[bytes]:
    try:
        return [line for line in read_lines(transcript, tail=tail) if b'"uuid"' in line]
    except OSError:
        return []


def _parse(line: bytes) -> dict[str, object] | None:
    """Return an entry of the main conversation; None for what is none."""
    try:
        row = loads(line.decode())
    except (ValueError, RecursionError):  # also what is no UTF-8
        return None
    return row if isinstance(row, dict) and not row.get("isSidechain") else None


def _has_call(row: dict[str, object], tool_use_id: str) -> bool:
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return isinstance(content, list) and any(
        isinstance(block, dict) and block.get("id") == tool_use_id for block in content
    )

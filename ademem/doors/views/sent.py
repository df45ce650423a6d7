"""A session's texts from memory: what each is, its size, and the memories in it and left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ademem.core.text import counted, preview

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ademem.core.memory import Memory
    from ademem.store.injections import Part, Sent

CHARS = 80
"""Length of the text of a memory in a list."""
TOKEN_CHARS = 4
"""Characters of text that make about one token."""
LEFT_OUT = {
    "room": "no room in this part",
    "limit": "more than this part shows",
    "seen": "in this context already",
    "own": "this session's own error",
}


def estimate_tokens(characters: int) -> int:
    return -(-characters // TOKEN_CHARS)


def missing_text(sent: Sent, is_withheld: Callable[[Memory], bool]) -> str:
    """Return the reason for which a text is not shown; empty where it is."""
    if any(part.memory and is_withheld(part.memory) for part in sent.parts if not part.left_out):
        return "withheld, as a memory in it waits for a person: `ademem review`"
    if sent.text is not None:
        return ""
    if sent.id is None:
        return "not stored"
    return (
        "not stored, as it has prompts or personal memories"
        if sent.sha256
        else "deleted with a memory in it"
    )


def to_json(sent: Sent, is_withheld: Callable[[Memory], bool]) -> dict[str, Any]:
    missing = missing_text(sent, is_withheld)
    return {
        "id": sent.id,
        "created_at": sent.created_at,
        "event": sent.event or None,
        "reason": sent.reason,
        "agent_id": sent.agent_id or None,
        "prompt_id": sent.prompt_id or None,
        "tool_use_id": sent.tool_use_id or None,
        "characters": sent.characters,
        "sha256": sent.sha256 or None,
        "text": None if missing else sent.text,
        "no_text": missing or None,
        "memories": [_part_json(part) for part in sent.parts if not part.left_out],
        "left_out": [
            {"id": part.memory_id, "section": part.section or None, "reason": part.left_out}
            for part in sent.parts
            if part.left_out
        ],
    }


def _part_json(part: Part) -> dict[str, Any]:
    return {
        "id": part.memory_id,
        "revision": part.revision,
        "section": part.section or None,
        "characters": part.characters,
        "used": part.used,
        "deleted": part.memory is None,
    }


def describe(part: Part, is_withheld: Callable[[Memory], bool]) -> str:
    """Return the first characters of the memory, or why they are not shown."""
    if part.memory is None:
        return "(deleted for good)"
    if is_withheld(part.memory):
        return "(withheld until a person approves it)"
    return preview(part.memory.content, CHARS)


def to_lines(sent: Sent, is_withheld: Callable[[Memory], bool]) -> Iterator[str]:
    """Yield a line on the text, the text, and a line for each memory."""
    size = ""
    if sent.characters is not None:
        tokens = estimate_tokens(sent.characters)
        size = f", {counted(sent.characters, 'character')}, about {counted(tokens, 'token')}"
    to = f", to the subagent {sent.agent_id}" if sent.agent_id else ""
    yield f"{sent.created_at[:19].replace('T', ' ')}  {sent.reason}{to}{size}"
    missing = missing_text(sent, is_withheld)
    if missing:
        yield f"  (text {missing})"
    else:
        yield from (f"  | {line}" for line in (sent.text or "").split("\n"))
    for part in sent.parts:
        if part.left_out:
            state = f"left out, {LEFT_OUT[part.left_out]}"
        else:
            state = "used" if part.used else "not used"
        section = f", {part.section}" if part.section else ""
        yield f"  {part.memory_id}  {state}{section}: {describe(part, is_withheld)}"

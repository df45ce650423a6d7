"""The first line of a denial, which is often all that a person sees of it."""

from __future__ import annotations

from ademem.core.clock import tell_date
from ademem.core.memory import FROM_HUB, Memory, Trust, claimed_name
from ademem.core.text import in_one_line, opening
from ademem.core.untrusted import escape, fence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

CHARS = 160


def first_line(carried: Sequence[Memory], now: datetime) -> tuple[str, bool]:
    """Return the first memory and whose it is, and whether that is the whole text."""
    first = carried[0]
    more = f" (+{len(carried) - 1})" if len(carried) > 1 else ""
    whose = "your" if first.is_personal else "project"
    end = f" ({whose} memory, {describe_owner(first, now)}){more}."
    text = escape(in_one_line(first.whole_text)).rstrip(".")
    shown = opening(text, CHARS - len(end))
    return shown + end, shown == text


def explain(
    carried: Sequence[Memory],
    place: str,
    entries: Sequence[str],
    now: datetime,
    *,
    is_ruled: bool = True,
    has_marks: bool = False,
) -> str:
    """Return the reason of a denial: the memories, the place they are bound to, and what to do.

    *entries* are fenced below it where the first line is not all of them, or where they have marks.
    Without a rule among them the reason is that the call cannot be undone.
    """
    first, is_whole = first_line(carried, now)
    reason = first + end(place, is_ruled=is_ruled)
    has_newer = any("\n" in entry for entry in entries)
    if not is_whole or len(carried) > 1 or has_marks or has_newer:
        reason += f"\n{fence(entries)}"
    return reason


def end(place: str, *, is_ruled: bool = True) -> str:
    """Return what stands behind the first line of a denial."""
    why = "" if is_ruled else ", and it cannot be undone"
    return (
        f"\nBound to {escape(place)}{why}. Follow it; if it does not apply here, make the same"
        " call again."
    )


def describe_owner(memory: Memory, now: datetime) -> str:
    """Tell whose words a memory is: “said by you on 14 Nov”, “by Alice, from git”."""
    author = memory.claimed_author
    if author is not None:
        where = "the hub" if author.startswith(FROM_HUB) else "git"
        name = claimed_name(author)
        return f"by {escape(name)}, from {where}" if name else f"from {where}"
    if memory.trust is Trust.USER:
        return f"said by you on {tell_date(memory.created_at, now)}"
    if memory.trust is Trust.IMPORT:
        return f"from {escape(memory.source_id)}" if memory.source_id else "imported"
    is_outside = memory.source_type == Trust.AGENT and not memory.source_session_id
    writer = "from an unknown process" if is_outside else "from Claude"
    return f"{writer}, confirmed by you" if memory.status == "promoted" else writer

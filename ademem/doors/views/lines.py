"""What the terminal shows of a memory, a session and the overview, as lines of text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ademem.core import anchor
from ademem.core.clock import parse
from ademem.core.memory import Memory
from ademem.core.text import counted, preview
from ademem.doors.views import WITHHELD, mark_words, to_row
from ademem.doors.views.session import estimate_tokens

ROW_CHARS = 200


def local(moment: Any) -> str:
    at = parse(moment) if isinstance(moment, str) else moment
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def row(memory: Memory) -> str:
    shown = to_row(memory)
    marks = [shown["category"], shown["status"], *shown["flags"], *["pinned"] * memory.is_pinned]
    notes = ", ".join(mark for mark in dict.fromkeys(marks) if mark != "promoted")
    text = preview(" ".join(filter(None, (shown["title"], shown["text"]))), ROW_CHARS)
    return f"{text} ({notes})"


def overview(page: Mapping[str, Any]) -> Iterator[str]:
    health, status = page["health"], page["status"]
    yield f"{health['text']}." + (f" Next: {health['next']}" if health["next"] else "")
    yield ""
    yield f"waiting for review   {page['waiting']:,}"
    yield from (f"  {name}: {count:,}" for name, count in page["status"]["review"].items())
    yield f"contradictions       {status['lifecycle']['conflicts']:,}"
    yield f"learned in 7 days    {page['learned']}"
    yield f"confirmed            {status['memories']['promoted']:,}"
    for scope in page["scopes"]:
        limit = f" of {scope['limit']:,}" if scope["limit"] else ""
        full = "  nearly full" if scope["nearly_full"] else ""
        yield f"{scope['name']:<20} {scope['count']:,}{limit}{full}"
    jobs = status["jobs"]
    yield f"jobs                 {jobs['due']:,} due, {len(jobs['parked']):,} stopped"
    yield f"guard                {status['guard']}"


def _beside(
    card: Mapping[str, Any],
    related: Mapping[str, Sequence[Memory]],
    is_withheld: Callable[[Memory], bool],
) -> Iterator[str]:
    """Yield what is like a memory or contradicts it, and what is related to it otherwise."""
    is_pair = bool(card["other"])
    for each, diff in card["similar"]:
        yield f"{'contradicts' if is_pair else 'like it'}: {each.id}"
        yield f"  {mark_words(diff)}"
    for name, others in related.items():
        if is_pair and name == "conflicts with":
            continue
        for other in others:
            text = WITHHELD if is_withheld(other) else preview(other.content, ROW_CHARS)
            yield f"{name}: {other.id} {text}"


def memory(
    card: Mapping[str, Any],
    related: Mapping[str, Sequence[Memory]],
    is_withheld: Callable[[Memory], bool],
) -> Iterator[str]:
    found: Memory = card["memory"]
    state = f"{found.category.value}, {found.status.value}, revision {found.revision_count}"
    yield f"{found.id}  {state}"
    yield from filter(None, (card["why"],))
    yield ""
    if is_withheld(found):
        yield WITHHELD
        return
    yield from ((found.title, "") if found.title else ())
    yield from found.content.split("\n")
    yield ""
    yield from card.get("evidence", ())
    yield from _beside(card, related, is_withheld)
    yield from anchor.describe(found.anchors)
    facts = {"tags": " ".join(found.tags), "topic": found.topic_key, "branch": found.source_branch}
    facts |= {"path": found.file_scope_pattern, "session": found.source_session_id}
    yield from (f"{name}: {value}" for name, value in facts.items() if value)
    yield (
        f"from {found.sender}, {local(found.created_at)}, confidence"
        f" {found.confidence:.2f}, seen {counted(found.observation_count, 'time')}"
    )


def history(revisions: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for each in revisions:
        reason = f": {each['reason']}" if each["reason"] else ""
        changed = f" ({', '.join(each['changed'])})" if each["changed"] else ""
        act = f"{each['operation']}{changed} by {each['actor']}, {local(each['created_at'])}"
        yield f"{each['revision']}  {act}{reason}"
        yield from (f"   {mark_words(each[of])}" for of in ("diff", "when") if each[of])


def session(page: Mapping[str, Any]) -> Iterator[str]:
    row = page["session"]
    yield f"session {row['id']}"
    end = f"to {local(row['ended_at'])}" if row.get("ended_at") else "open"
    yield f"{local(row['started_at'])} {end}, {row['source']}, {row.get('branch') or 'no branch'}"
    yield f"{counted(page['texts'], 'text')} sent, about {counted(page['tokens'], 'token')}"
    yield from map(moment_row, page["moments"])


def moment_row(moment: Mapping[str, Any]) -> str:
    kind = moment["kind"]
    names = {"prompt": "text", "sent": "reason", "denied": "target"}
    text = moment["row"]["text"] if kind == "learned" else moment[names[kind]]
    return f"{local(moment['at'])[11:]} {kind}: {preview(str(text), ROW_CHARS)}"


def moment(moment: Mapping[str, Any]) -> Iterator[str]:
    if moment["kind"] == "denied":
        yield f"{moment['tool']} {moment['target']}"
        yield moment["reason"]
    elif moment["kind"] == "prompt":
        yield moment["text"]
    elif moment["kind"] == "sent":
        sent, missing = moment["sent"], moment["missing"]
        size, tokens = sent.characters or 0, estimate_tokens(sent.characters or 0)
        yield f"{counted(size, 'character')}, about {counted(tokens, 'token')}"
        yield f"SHA-256 {sent.sha256}" if sent.sha256 else ""
        yield from (f"text {missing}",) if missing else sent.text.split("\n")


def parts(moment: Mapping[str, Any]) -> Iterator[str]:
    for part in moment.get("parts", ()):
        yield f"{'used' if part['used'] else 'not used'}: {part['id']} {part['about']}"
    for part in moment.get("left_out", ()):
        yield f"left out, {part['left_out']}: {part['id']} {part['about']}"

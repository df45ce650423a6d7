"""A session as one column of time, sessions by day, texts that they got, and what these cost."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ademem.core.text import counted, preview
from ademem.doors.views import NOTHING, WITHHELD, effects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ademem.core.memory import Memory
    from ademem.operations.inspecting import Reconsidered
    from ademem.operations.reports import Ledger
    from ademem.store.episodes import Episode
    from ademem.store.injections import Part, Sent, Spent

    Row = Mapping[str, Any]


def to_text(sent: Sent, number: int, is_withheld: Callable[[Memory], bool]) -> dict[str, Any]:
    shown = _list_shown(sent)
    sizes: Counter[str] = Counter()
    for part in shown:
        sizes[part.section] += part.characters or 0
    return {
        "number": number,
        "sent": sent,
        "reason": sent.reason.removesuffix(":"),
        "missing": missing_text(sent, is_withheld),
        "sections": [(name, size) for name, size in sizes.items() if name],
        "parts": [_part(part, is_withheld) for part in shown],
        "left_out": [_part(part, is_withheld) for part in sent.parts if part.left_out],
    }


def _list_shown(sent: Sent) -> list[Part]:
    shown = [part for part in sent.parts if not part.left_out]
    if sent.id is None:  # a memory that several looks found stands there once
        return [*{part.memory_id: part for part in shown}.values()]
    return shown


def _part(part: Part, is_withheld: Callable[[Memory], bool]) -> dict[str, Any]:
    return {
        "id": part.memory_id,
        "about": describe(part, is_withheld),
        "is_there": part.memory is not None,
        "used": part.used,
        "left_out": LEFT_OUT.get(part.left_out, part.left_out),
    }


def why_stopped(found: Reconsidered) -> str:
    """Return the reason why a selection stopped at a memory; empty where it would show it."""
    stop = next((stage.name for stage in found.stages if not stage.passed), "")
    no_room = f"{stop[:1].lower()}{stop[1:]} of the briefing has no room for it" if stop else ""
    return STOPS.get(stop, no_room)


STOPS = {
    "May be shown": "it may not be shown there: its status, scope or branch forbids it",
    "The prompt may need memory": "the prompt asks for nothing that memory could answer",
    "Candidate": "neither its words nor its meaning come near what was asked",
    "Evidence": "it has too little in common with what was asked",
    "Ranked": "too many others answer better",
    "Among the shown": "others answer better, and few are shown",
    "Bound to the file or command": "it is bound to no file or command of the call",
    "Known for the error": "it is not known for this error",
    "Found by the search": "the search does not find it",
    "New to the context": "the session has it already, or wrote it",
}
"""Why a memory is not shown, by the first stage that it does not pass."""


def figure(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    return "none" if value is None else str(value)


def to_work(episode: Episode) -> dict[str, Any]:
    evidence = [counted(len(episode.errors), "error")] if episode.errors else []
    if episode.tests:
        last = episode.tests[-1]
        results = (("passed", last.passed), ("failed", last.failed))
        numbers = [f"{number} {name}" for name, number in results if number is not None]
        evidence.insert(0, ", ".join(numbers) or ("tests failed" if last.error else "tests passed"))
    return {
        "id": episode.memory_id,
        "outcome": episode.outcome,
        "tools": Counter(action.kind for action in episode.actions),
        "evidence": ", ".join(evidence),
    }


def list_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {counts[name]}" for name in sorted(counts))


PREVIEW_CHARS = 80
TOKEN_CHARS = 4
LEFT_OUT = {
    "room": "no room in this part",
    "limit": "more than this part shows",
    "seen": "in this context already",
    "own": "this session's own error",
}


def estimate_tokens(characters: int) -> int:
    return -(-characters // TOKEN_CHARS)


def measure(characters: int) -> dict[str, int]:
    return {"characters": characters, "tokens": estimate_tokens(characters)}


def missing_text(sent: Sent, is_withheld: Callable[[Memory], bool]) -> str:
    """Return the reason for which a text is not shown; empty where it is."""
    if any(part.memory and is_withheld(part.memory) for part in sent.parts if not part.left_out):
        return "withheld, as a memory in it waits for a person: `ademem review`"
    if sent.text is not None:
        return ""
    if sent.id is None:
        return "not stored"
    if sent.sha256:
        return "not stored, as it has prompts or personal memories"
    return "deleted with a memory in it"


def to_json(
    sent: Sent, is_withheld: Callable[[Memory], bool], proofs: Mapping[str, str] = NOTHING
) -> dict[str, Any]:
    """Return a text with its memories; *proofs* have what shows an effect, by id."""
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
        "memories": [
            {
                "id": part.memory_id,
                "revision": part.revision,
                "section": part.section or None,
                "characters": part.characters,
                "used": part.used,
                "effect": proofs.get(part.memory_id),
                "deleted": part.memory is None,
            }
            for part in sent.parts
            if not part.left_out
        ],
        "left_out": [
            {"id": part.memory_id, "section": part.section or None, "reason": part.left_out}
            for part in sent.parts
            if part.left_out
        ],
    }


def describe(part: Part, is_withheld: Callable[[Memory], bool]) -> str:
    if part.memory is None:
        return "(deleted for good)"
    if is_withheld(part.memory):
        return WITHHELD
    return preview(part.memory.content, PREVIEW_CHARS)


def to_lines(
    sent: Sent, is_withheld: Callable[[Memory], bool], proofs: Mapping[str, str] = NOTHING
) -> Iterator[str]:
    size = "" if sent.characters is None else f", {_describe_size(sent.characters)}"
    to = f", to the subagent {sent.agent_id}" if sent.agent_id else ""
    yield f"{sent.created_at[:19].replace('T', ' ')}  {sent.reason}{to}{size}"
    missing = missing_text(sent, is_withheld)
    if missing:
        yield f"  (text {missing})"
    else:
        yield from (f"  | {line}" for line in (sent.text or "").split("\n"))
    for part in sent.parts:
        section = f", {part.section}" if part.section else ""
        state = _describe_fate(part, proofs)
        yield f"  {part.memory_id}  {state}{section}: {describe(part, is_withheld)}"


def _describe_size(characters: int) -> str:
    tokens = estimate_tokens(characters)
    return f"{counted(characters, 'character')}, about {counted(tokens, 'token')}"


def _describe_fate(part: Part, proofs: Mapping[str, str]) -> str:
    if part.left_out:
        return f"left out, {LEFT_OUT[part.left_out]}"
    return proofs.get(part.memory_id) or ("used" if part.used else "not used")


METHOD = f"estimated: a token for each {TOKEN_CHARS} characters, rounded up"
SESSIONS = 20


def spent_json(ledger: Ledger, is_withheld: Callable[[Memory], bool]) -> dict[str, Any]:
    return {
        "session": ledger.session or None,
        "method": METHOD,
        **_sum(ledger.by_event),
        "by_event": [{"event": each.name} | _sum([each]) for each in ledger.by_event],
        "by_session": [
            {"session": each.name} | _sum([each]) for each in ledger.by_session[:SESSIONS]
        ],
        "by_memory": [_memory_json(each, ledger, is_withheld) for each in ledger.by_memory],
        "unused": [_memory_json(each, ledger, is_withheld) for each in ledger.unused],
    }


def spent_days(ledger: Ledger, calls: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    texts: Counter[str] = Counter()
    for each in ledger.by_day:
        texts[each.name.partition(" ")[0]] += each.characters
    return [
        {
            "day": day,
            "tokens": estimate_tokens(texts[day]),
            "tokens_in": sum(row["tokens_in"] for row in calls if row["day"] == day),
            "tokens_out": sum(row["tokens_out"] for row in calls if row["day"] == day),
        }
        for day in sorted(texts.keys() | {row["day"] for row in calls}, reverse=True)
    ]


def _sum(spent: Sequence[Spent]) -> dict[str, Any]:
    """Return the sums; of memories the tokens in the texts, and of these the used ones."""
    return {
        "texts": sum(each.texts for each in spent),
        **measure(sum(each.characters for each in spent)),
        "memories": sum(each.shown for each in spent),
        "memory_tokens": estimate_tokens(sum(each.shown_characters for each in spent)),
        "used": sum(each.used for each in spent),
        "used_tokens": estimate_tokens(sum(each.used_characters for each in spent)),
    }


def _memory_json(
    spent: Spent, ledger: Ledger, is_withheld: Callable[[Memory], bool]
) -> dict[str, Any]:
    memory = ledger.memories.get(spent.name)
    is_unused = any(each.name == spent.name for each in ledger.unused)  # else it worked
    quiet = f"ademem {'pin --off' if memory and memory.pinned else 'archive'} {spent.name}"
    return {
        "id": spent.name,
        "shown": spent.shown,
        "used": spent.used,
        **ledger.effects.of_memory(spent.name),
        **measure(spent.characters),
        "text": preview(memory.content, PREVIEW_CHARS)
        if memory and not is_withheld(memory)
        else None,
        "deleted": memory is None,
        "quiet": quiet if memory and memory.live and is_unused else None,
    }


def spent_lines(ledger: Ledger, is_withheld: Callable[[Memory], bool]) -> Iterator[str]:
    found = spent_json(ledger, is_withheld)
    period = f"session {ledger.session}" if ledger.session else counted(ledger.days, "day")
    yield (
        f"in {period}: {_tokens(found)} in {counted(found['texts'], 'text')} for models"
        f" ({METHOD}); {found['memory_tokens']:,} of them memories,"
        f" {found['used_tokens']:,} of these used"
    )
    for name in ("event", "session"):
        rows = found[f"by_{name}"] if name == "event" or not ledger.session else []
        for row in rows:
            yield (
                f"  {row[name]:<22} {_tokens(row):>14} in {counted(row['texts'], 'text')},"
                f" {counted(row['memories'], 'memory')}, {row['used']} used"
            )
    if found["by_memory"]:
        yield "costliest memories"
    yield from map(_describe_memory, found["by_memory"])
    if found["unused"]:
        yield "costliest memories of which nothing was used, and what quiets them"
    for row in found["unused"]:
        yield _describe_memory(row)
        if row["quiet"]:
            yield f"    {row['quiet']}"


def _tokens(row: dict[str, Any]) -> str:
    return counted(row["tokens"], "token")


def _describe_memory(row: dict[str, Any]) -> str:
    text = "(deleted for good)" if row["deleted"] else row["text"] or "(withheld)"
    done = effects.listed({name: row[name] for name in ("prevented", "answered")})
    used = f"used {row['used']}{f' ({done})' if done else ''}"
    return f"  {row['id']}  {_tokens(row)}, shown {row['shown']}, {used}: {text}"

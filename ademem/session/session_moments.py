"""What a session was told and what came of it, moment by moment, as `/ademem:why` prints it."""

from __future__ import annotations

from ademem.core.clock import parse
from ademem.core.text import counted, in_one_line, preview
from ademem.core.untrusted import visible
from ademem.core.value import Value
from ademem.session.review_list import CHARS, MOST_LINES
from ademem.store import effects, injections
from ademem.store.outcomes import PREVENTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ademem.core.memory import Memory
    from ademem.store.effects import Effect
    from ademem.store.injections import Sent
    from ademem.store.runtime import Runtime

NAMES = {
    "briefing": "start",
    "prompt": "prompt",
    "agent": "subagent",
    "failure": "error",
    "recall": "recall",
    "search": "search",
    "mcp": "search",
}
"""Names of moments by their place in `recall_log`; at a call it is the call."""
NAME_CHARS, TEXT_CHARS = 11, 29
_ROW = f" {{:<5}}  {{:<{NAME_CHARS}}}  {{:<{TEXT_CHARS}}}  {{}}"
_BEHIND = len(_ROW.format("", "", "", "")) - TEXT_CHARS - 2


class Moment(Value):
    at: str
    name: str
    text: str
    outcome: str = ""
    instead: str = ""
    """What was done in the place of a call that was prevented."""

    @property
    def lines(self) -> Iterator[str]:
        time = f"{parse(self.at).astimezone():%H:%M}"
        name, text = preview(self.name, NAME_CHARS), preview(self.text, TEXT_CHARS)
        yield _ROW.format(time, name, text, self.outcome).rstrip()
        if self.instead:
            yield f"{'':{_BEHIND}}→ {preview(self.instead, CHARS - _BEHIND - 2)}"


def describe(session_id: str, runtime: Runtime) -> list[str]:
    """Return the lines, the first with the counts; none where the session was told nothing."""
    done = effects.collect(runtime, session=session_id)
    sent = [each for each in injections.list_sent(runtime, session_id) if _told(each)]
    if not sent:
        return []
    of = {row.memory_id: row for row in done.rows if row.kind != effects.LEARNED}
    moments = [_read(each, of) for each in sent]
    moments += _list_learned([row for row in done.rows if row.kind == effects.LEARNED], runtime)
    lines = [line for each in sorted(moments, key=lambda each: each.at) for line in each.lines]
    told = ", ".join(f"{kind} {count:,}" for kind, count in done.counts.items() if count)
    characters = f"{sum(each.characters or 0 for each in sent):,} chars"
    head = " · ".join(filter(None, (told or "nothing came of it yet", characters)))
    most = MOST_LINES - 5
    more = [f" and {len(lines) - most:,} more lines: `ademem why`"] if len(lines) > most else []
    end = ["", " Word for word: ademem why · all: ademem web"]
    return [f"This session: {head}", "", *lines[:most], *more, *end]


def _told(sent: Sent) -> list[Memory | None]:
    """Return the memories that a text told; None for one that is gone."""
    parts = (each for each in sent.parts if not each.left_out)
    found = [each.memory for each in parts if each.section != injections.SAVED]
    return [each for each in found if each is None or not each.quarantine_reason]


def _read(sent: Sent, of: Mapping[str, Effect]) -> Moment:
    told = _told(sent)
    known = [each for each in told if each]
    helped = [of[each.id] for each in known if each.id in of]
    if sent.place == "guard":
        helped = [row for row in helped if row.kind == PREVENTED]
    elif len(told) > 1:
        later = f"{len(helped)} used later" if helped else ""
        return _moment(sent, counted(len(told), "memory"), later)
    text = _text(known[0]) if known else "it is gone"
    more = f" (+{len(told) - 1})" if len(told) > 1 else ""
    first = helped[0] if helped else None
    instead = first.instead if first and sent.place == "guard" else ""
    kind = "" if first is None else first.kind if sent.place != "briefing" else "used later"
    return _moment(sent, f"{preview(text, TEXT_CHARS - len(more))}{more}", kind, instead)


def _moment(sent: Sent, text: str, outcome: str, instead: str = "") -> Moment:
    is_compacted = sent.place == "briefing" and sent.query == "compact"
    query = sent.query.rpartition("/")[2] if sent.query.startswith("/") else sent.query
    name = "compaction" if is_compacted else NAMES.get(sent.place) or query or "call"
    return Moment(
        at=sent.created_at,
        name=visible(in_one_line(name)),
        text=text,
        outcome=outcome,
        instead=visible(in_one_line(instead)),
    )


def _list_learned(rows: Iterable[Effect], runtime: Runtime) -> list[Moment]:
    rows = list(rows)
    known = runtime.list_by_ids(row.memory_id for row in rows)
    return [
        Moment(
            at=row.at,
            name="learned",
            text=_text(memory),
            outcome="waits for you" if memory.status == "candidate" else "kept",
        )
        for row in rows
        if (memory := known.get(row.memory_id)) and not memory.quarantine_reason
    ]


def _text(memory: Memory) -> str:
    return visible(in_one_line(memory.content))

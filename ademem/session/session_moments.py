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
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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
    moments = sorted(_list_moments(sent, done.rows, runtime), key=lambda moment: moment.at)
    lines = [line for moment in moments for line in moment.lines]
    most = MOST_LINES - 5
    more = [f" and {len(lines) - most:,} more lines: `ademem why`"] if len(lines) > most else []
    end = ["", " Word for word: ademem why · all: ademem web"]
    return [f"This session: {_sum_up(done.counts, sent)}", "", *lines[:most], *more, *end]


def _sum_up(counts: Mapping[str, int], sent: Iterable[Sent]) -> str:
    told = ", ".join(f"{kind} {count:,}" for kind, count in counts.items() if count)
    characters = f"{sum(each.characters or 0 for each in sent):,} chars"
    return " · ".join((told or "nothing came of it yet", characters))


def _list_moments(
    sent: Iterable[Sent], rows: Iterable[Effect], runtime: Runtime
) -> Iterator[Moment]:
    of: dict[str, Effect] = {}
    learned = []
    for row in rows:
        if row.kind == effects.LEARNED:
            learned.append(row)
        else:
            of[row.memory_id] = row
    yield from (_read(each, of) for each in sent)
    yield from _list_learned(learned, runtime)


def _told(sent: Sent) -> list[Memory | None]:
    """Return the memories that a text told; None for one that is gone."""
    parts = (each for each in sent.parts if not each.left_out)
    found = [each.memory for each in parts if each.section != injections.SAVED]
    return [each for each in found if each is None or not each.quarantine_reason]


def _read(sent: Sent, of: Mapping[str, Effect]) -> Moment:
    told = _told(sent)
    helped = [of[each.id] for each in told if each and each.id in of]
    if sent.place == "guard":
        return _read_denial(sent, told, helped)
    if len(told) > 1:
        later = f"{len(helped)} used later" if helped else ""
        return _moment(sent, counted(len(told), "memory"), later)
    kind = helped[0].kind if helped else ""
    return _moment(
        sent, _summary(told), "used later" if kind and sent.place == "briefing" else kind
    )


def _read_denial(sent: Sent, told: Sequence[Memory | None], helped: Iterable[Effect]) -> Moment:
    prevented = next((row for row in helped if row.kind == PREVENTED), None)
    if prevented is None:
        return _moment(sent, _summary(told), "")
    return _moment(sent, _summary(told), prevented.kind, prevented.instead)


def _summary(told: Sequence[Memory | None]) -> str:
    """Return the first of the memories that is still there, and how many others there were."""
    first = next(filter(None, told), None)
    text = _text(first) if first else "it is gone"
    more = f" (+{len(told) - 1})" if len(told) > 1 else ""
    return f"{preview(text, TEXT_CHARS - len(more))}{more}"


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
            outcome="waits" if memory.status == "candidate" else "kept",
        )
        for row in rows
        if (memory := known.get(row.memory_id)) and not memory.quarantine_reason
    ]


def _text(memory: Memory) -> str:
    return visible(in_one_line(memory.content))

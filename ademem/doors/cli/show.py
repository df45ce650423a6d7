"""How results look: JSON with stable keys, or lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import typer

from ademem.core import anchor, untrusted
from ademem.core.confusables import visible
from ademem.core.errors import AdememError
from ademem.core.value import as_dict
from ademem.doors.cli import shape
from ademem.doors.cli.shape import CAME, NOTHING, WITHHELD, as_json, flags, to_model, withheld
from ademem.files import project_brief
from ademem.search.engine import explain as explain_hit
from ademem.store.transitions import BY_PERSON, waits_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ademem.capture.gate import Step, Written
    from ademem.core.memory import Memory
    from ademem.files.project_brief import CoreMemory
    from ademem.search.engine import Results


class Withheld(AdememError):
    """What waits for a person's approval is not shown to the model that it speaks to."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(f"{memory.id} is {waits_for(memory)}", BY_PERSON)


def json(value: object) -> None:
    """Print as JSON, indented, keys in the order given; to a model without anything like a tag."""
    typer.echo(shape.safe(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()))


def say(text: str, *, err: bool = False) -> None:
    """Print what somebody stored: to a model escaped, to a person as it is, without control."""
    typer.echo(untrusted.escaped(text) if to_model() else visible(text), err=err)


def fenced(lines: Iterable[str]) -> None:
    """Print memories, inside a fence if a model reads them."""
    if to_model():
        typer.echo(untrusted.fenced(map(untrusted.escaped, lines)))
        return
    for text in lines:
        say(text)


def readable(memory: Memory) -> Memory:
    """The memory, unless it is quarantined and a model would read it; raises Withheld."""
    if memory.quarantine_reason and to_model():
        raise Withheld(memory)
    return memory


def results(
    found: Results, *, as_json_: bool, explain: bool, astray: Mapping[str, str] = NOTHING
) -> None:
    if as_json_:
        json(shape.results(found, explain=explain, astray=astray))
        return
    if found.relaxed and found.hits:
        typer.echo("(no memory has all the words; these have some)")
    if not found.hits:
        typer.echo("nothing in memory answers that", err=True)
        return
    fenced(
        text
        for hit in found.hits
        for text in (
            line(hit.memory, astray=astray, against=hit.against),
            *(["    " + explain_hit(hit)] if explain else []),
        )
    )


def one(done: str, memory: Memory, as_json_: bool) -> None:
    """Print the memory that a command changed."""
    if as_json_:
        json(as_json(memory))
    else:
        say(f"{done} {line(memory, 120)}")


def memories(found: Iterable[Memory], *, as_json_: bool) -> None:
    rows = list(found)
    if as_json_:
        json({"count": len(rows), "memories": [as_json(memory) for memory in rows]})
        return
    if not rows:
        typer.echo("no memories", err=True)
        return
    fenced(map(line, rows))


def waiting(found: Iterable[Memory], at_odds: list[tuple[Memory, str]], *, as_json_: bool) -> None:
    """What waits for a person, and why; a model learns of a quarantined one only that it waits."""
    rows = [(memory, waits_for(memory)) for memory in found]
    if as_json_:
        shown = [as_json(memory) | {"why": why} for memory, why in (*rows, *at_odds)]
        return json({"count": len(shown), "memories": shown})
    if not rows and not at_odds:
        typer.echo("nothing waits for a word of yours", err=True)
    if rows:
        fenced(text for memory, why in rows for text in (line(memory), f"    {why}"))
        typer.echo(
            "`ademem promote ID` accepts one, `ademem edit` mends it, `ademem reject` refuses it"
        )
    return clashing(at_odds)


def clashing(at_odds: list[tuple[Memory, str]]) -> None:
    """Memories that contradict each other, and what can be done about that."""
    if at_odds:
        fenced(text for memory, why in at_odds for text in (line(memory), f"    {why}"))
        typer.echo(
            "`ademem archive` or `ademem edit` ends a conflict;"
            " `ademem settle ID OTHER` says that both are true"
        )


def line(
    memory: Memory, chars: int = 300, astray: Mapping[str, str] = NOTHING, against: str = ""
) -> str:
    """One memory on one line."""
    from ademem.core.text import preview

    found = [*(["pinned"] if memory.is_pinned else []), *flags(memory, astray, against)]
    marks = ", ".join(_label(memory) if mark == CAME else mark for mark in found)
    title = f"{memory.title}: " if memory.title else ""
    said = WITHHELD if withheld(memory) else preview(title + memory.content, chars)
    text = f"{memory.id}  [{memory.category}] {said}"
    return f"{text}  ({marks})" if marks else text


def _label(memory: Memory) -> str:
    return untrusted.came_with_files(memory.claimed_author or "")


def whole(
    memory: Memory,
    astray: Mapping[str, str] = NOTHING,
    related: Mapping[str, Iterable[str]] = NOTHING,
) -> None:
    """One memory with everything a person may want to know of it."""
    beside = (f"{name}: {' '.join(ids)}" for name, ids in related.items())
    text = memory.content.split("\n")
    fenced((line(memory, 80, astray), "", *text, "", *_about(memory), *beside))


def _about(memory: Memory) -> Iterator[str]:
    about = as_json(memory)
    for name in (
        "scope",
        "owner",
        "status",
        "tier",
        "importance",
        "confidence",
        "observation_count",
        "path",
    ):
        if about[name] is not None:
            yield f"{name}: {about[name]}"
    for text in memory.anchors:
        place = anchor.place(text)
        yield f"anchor: {place.where if place else text}"
    if memory.tags:
        yield f"tags: {' '.join(memory.tags)}"
    yield f"from: {memory.trust} by {memory.source_type}, {memory.created_at:%Y-%m-%d %H:%M} UTC"
    if memory.quarantine_reason:
        yield f"{waits_for(memory)} (`ademem promote {memory.id}` approves it)"


def brief(document: CoreMemory | None, begin: str, *, as_json_: bool) -> None:
    """A project brief, a field a line; where there is none, the command that begins one."""
    if as_json_:
        if document is None:
            return json(None)
        claim = {"claimed": list(document.claimed), "claimedAuthor": document.claimed_author}
        return json(project_brief.as_json(document) | claim)
    if document is None:
        typer.echo(f'no brief yet (`{begin} focus "…"` starts one)', err=True)
        raise typer.Exit(1)
    for name, text in project_brief.lines(document):
        say(f"{name}: {text}")
    for text in document.claimed:
        say(f"({untrusted.came_with_files(document.claimed_author)}: {text})")
    return None


def table(values: dict[str, Any], *, as_json_: bool) -> None:
    """Nested counts: a line a name, deeper ones indented."""
    if as_json_:
        json(values)
        return
    for text in _rows(values, ""):
        say(text)


def _rows(values: dict[str, Any], indent: str) -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield f"{indent}{name}:" + ("" if value else " none")
            yield from _rows(value, indent + "  ")
        elif isinstance(value, list):
            yield f"{indent}{name}: " + ("; ".join(str(item) for item in value) or "none")
        else:
            yield f"{indent}{name}: {'-' if value is None else value}"


def written(written: Written, as_json_: bool) -> None:
    """What the gate made of a text; what it refused ends the command."""
    memory = written.memory
    if as_json_:
        json(
            {
                "accepted": written.accepted,
                "durability": written.durability,
                "memory": as_json(memory) if memory else None,
                "rule": written.rule,
                "reason": written.reason,
                "deduped": written.deduped,
                "mergedIntoId": written.merged_into_id,
                "notes": list(written.notes),
            }
        )
    elif memory:
        verb = "merged into" if written.deduped else "kept as"
        typer.echo(f"{verb} {memory.id} ({written.durability})")
        for note in written.notes:
            typer.echo(f"note: {note}")
    else:
        typer.echo(f"not kept ({written.rule}): {written.reason}", err=True)
    if not written.accepted:
        raise typer.Exit(1)


def steps(steps: Iterable[Step], as_json_: bool) -> None:
    """The verdict of each rule."""
    rows = [as_dict(step) for step in steps]
    if as_json_:
        json({"steps": rows})
        return
    for row in rows:
        typer.echo(f"{row['rule']:<20} {row['outcome']:<10} {row['why']}".rstrip())

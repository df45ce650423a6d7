"""Print results: JSON with stable keys, or lines for people; escaped where a model reads them."""

from __future__ import annotations

import os
import sys

from ademem.core import anchor, untrusted, who
from ademem.core.actor import By
from ademem.core.errors import NO, REFUSED, USAGE
from ademem.core.memory import CAME_FROM_HUB, CAME_WITH_FILES, SHORT_ID, Memory, flags, is_rule
from ademem.core.project import files_edited
from ademem.core.text import in_one_line, preview
from ademem.core.untrusted import visible
from ademem.core.value import as_dict
from ademem.operations.rows import (
    NOTHING,
    WITHHELD,
    Withheld,
    candidate_row,
    key_rows,
    memory_row,
    nearest_row,
    place_rows,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, NoReturn, TypeVar

    from ademem.capture.gate import RuleEffect, Written
    from ademem.core.setting_sources import SettingWarning
    from ademem.operations.placing import Placed
    from ademem.search.engine import Hit, Results
    from ademem.search.instruction_search import Instruction
    from ademem.store.bindings import Binding
    from ademem.store.evidence import Evidence
    from ademem.store.relations import Later, Newer
    from ademem.store.runtime import Runtime

    Row = TypeVar("Row")

NEAR_CHARS = 100
COUNTS: dict[str, int] = {}

as_json = False
"""The command that runs was given `--json`."""
output_is_lost = False
"""Standard output took no more."""
READER_ENDED = 128 + 13
"""Exit code of a program that SIGPIPE ends."""

QUERY_CHARS = 120


def to_model() -> bool:
    """Tell whether this is a shell of a coding agent's client."""
    return who.of_process().by is By.AGENT


def wants_json(arguments: Sequence[str]) -> bool:
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def exit_code(results: Sequence[object]) -> int:
    """Return 1 without results, but 0 to a model: its client shows 1 as a failed command."""
    return 0 if results or to_model() else 1


def is_withheld(memory: Memory) -> bool:
    return memory.quarantine_reason is not None and to_model()


def require_readable(memory: Memory) -> Memory:
    if is_withheld(memory):
        raise Withheld(memory)
    return memory


def echo(text: str = "", *, err: bool = False) -> None:
    """Print a line; end the process where its reader has ended, as `head` does."""
    try:
        print(text, file=sys.stderr if err else sys.stdout, flush=True)
    except BrokenPipeError:
        end(2 if err else 1)
    except OSError:
        _discard(2 if err else 1)
        raise


def write(data: bytes) -> None:
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        end(1)
    except OSError:
        _discard(1)
        raise


def end(stream: int) -> NoReturn:
    """End the process, as the reader of the stream has ended."""
    _discard(stream)
    sys.exit(READER_ENDED)


def _discard(stream: int) -> None:
    """Let nothing more be written; else the interpreter tries once more when it ends."""
    global output_is_lost
    output_is_lost = output_is_lost or stream == 1
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)


def progress(text: str, end: str = "") -> None:
    """Replace the last line on standard error."""
    print(f"\r\x1b[K{text}{end}", end="", file=sys.stderr, flush=True)


def import_progress() -> Callable[[int, int], None] | None:
    if not sys.stderr.isatty():
        return None
    return lambda done, total: progress(
        f"importing the files: {done:,} of {total:,} changes", "\n" * (done >= total)
    )


def serving(address: str) -> None:
    echo(f"serving {address} with the token in .ade/run/http.token; Ctrl-C ends it", err=True)


def say(text: str, *, err: bool = False) -> None:
    """Print stored text: escaped for a model, without control characters for a person."""
    echo(untrusted.escape(text) if to_model() else visible(text), err=err)


def safe(text: str) -> str:
    """Return JSON without anything like a tag where a model reads it."""
    return untrusted.escape(text, angle="\\u003c") if to_model() else text


def json(value: object) -> None:
    import orjson

    echo(safe(orjson.dumps(value, as_dict, orjson.OPT_INDENT_2).decode()))


def fenced(lines: Iterable[str]) -> None:
    if to_model():
        echo(untrusted.fence(map(untrusted.escape, lines)))
        return
    for text in lines:
        say(text)


def warn(warnings: Sequence[SettingWarning]) -> None:
    if warnings:
        from ademem.core.settings import list_warnings

        for text in list_warnings(warnings):
            echo(f"ademem: {safe(text)}", err=True)


def notices(runtime: Runtime) -> None:
    warn(runtime.warnings)
    if runtime.copy_notice:
        echo(runtime.copy_notice, err=True)


def unread_edits(runtime: Runtime) -> None:
    project = runtime.project
    if not files_edited(project) or runtime.by.by is By.AGENT:
        return
    from ademem.operations import upkeep

    # A worker that writes the files may have ended since they were first looked at.
    if not upkeep.is_worker_running(runtime) and files_edited(project):
        echo("ademem: the files changed since they were read (`ademem files import`)", err=True)


def join_waiting(counts: Mapping[str, int]) -> str:
    waiting = ", ".join(f"{count:,} {reason}" for reason, count in counts.items())
    return f"{waiting} (`ademem review`)" if waiting else ""


def name_undo(event: str) -> str:
    return f" (`ademem undo {event}` takes it back)" if event else ""


def words_alone(mode: str, runtime: Runtime) -> None:
    """Tell where words alone decided though a model is installed."""
    from ademem.search.embedding import cache

    if "lexical" in mode and runtime.settings.search.hybrid and cache.installed_for(runtime):
        part = "" if mode == "lexical" else "in part "
        echo(f"(answered {part}by words alone)", err=not to_model())


def listing(
    name: str,
    rows: Sequence[Row],
    lines: Callable[[Row], Iterable[str]],
    none: str,
    row_json: Callable[[Row], Any] = lambda row: row,
    total: int | None = None,
) -> None:
    """Print rows as JSON below *name*, or some *lines* for each, or *none* on standard error.

    *total* counts those that a limit leaves out, too.
    """
    if as_json:
        counts = {"count": len(rows)} | ({} if total is None else {"total": total})
        json(counts | {name: [row_json(row) for row in rows]})
    elif rows:
        fenced(text for row in rows for text in lines(row))
    else:
        echo(none, err=True)


def memory_json(memory: Memory, *given: Any, **options: Any) -> dict[str, Any]:
    return memory_row(memory, *given, **options, withheld=is_withheld(memory))


def results_json(
    found: Results, *, explain: bool = False, drifted: Mapping[str, str] = NOTHING
) -> dict[str, Any]:
    def row(hit: Hit) -> dict[str, Any]:
        keys = memory_json(hit.memory, hit.score, drifted, hit.later)
        keys |= {"weak": hit.weak, "missing": list(hit.missing)}
        keys |= {"newer": hit.newer.row} if hit.newer else {}
        return keys | {"signals": hit.signals} if explain else keys

    return {
        "query": found.query,
        "mode": found.mode,
        "confidence": found.confidence,
        "relaxed": found.relaxed,
        "count": len(found.hits),
        "weaker": len(found.hits) - len(found.answers),
        "memories": [row(hit) for hit in found.hits],
        "instructions": [as_dict(each) for each in found.instructions],
    }


def results(
    found: Results, *, explain: bool, drifted: Mapping[str, str], weaker: bool = False
) -> None:
    """Print the hits; of weak ones their number, unless *weaker* asks for them."""
    if as_json:
        json(results_json(found, explain=explain, drifted=drifted))
        return
    hits = found.hits if weaker else found.answers
    rest = left_out(len(found.hits) - len(hits))
    if not hits and not found.instructions:
        query = untrusted.escape(preview(found.query, QUERY_CHARS))
        echo(f'nothing in memory answers "{query}"{rest and f" {rest}"}', err=not to_model())
        return
    if found.note and hits:
        echo(f"({found.note})")
    lines = [text for hit in hits for text in _hit_lines(hit, drifted, explain=explain)]
    fenced([*lines, *map(_instruction_line, found.instructions)])
    if rest:
        echo(rest, err=not to_model())


def _hit_lines(hit: Hit, drifted: Mapping[str, str], *, explain: bool) -> Iterator[str]:
    yield line(hit.memory, drifted=drifted, later=hit.later) + _weakness_of(hit)
    yield from newer_lines(hit.newer)
    if explain:
        from ademem.search.engine import explain as explain_hit

        yield f"    {explain_hit(hit)}"


def _weakness_of(hit: Hit) -> str:
    missing = f"; without {', '.join(hit.missing)}" if hit.missing else ""
    return f"  (weak{missing})" if hit.weak else ""


def _instruction_line(item: Instruction) -> str:
    unmerged = "" if item.merged else "  (not on the default branch)"
    below = f"{item.head}: " if item.head else ""
    return f"{item.where}  [{item.kind}] {below}{preview(item.text, 300)}{unmerged}"


def evidence_rows(memory: Memory, found: Iterable[Evidence]) -> list[dict[str, Any]]:
    """Return what speaks for a memory; a quote says what is withheld, too."""
    hidden = {"quote": WITHHELD} if is_withheld(memory) else {}
    return [each.row | hidden for each in found]


def newer_lines(newer: Newer | None) -> list[str]:
    return [f"    {newer.line}"] if newer else []


def left_out(weaker: int) -> str:
    return f"({weaker} weaker: --all)" if weaker else ""


def preview_line(row: Mapping[str, Any], *, focus: bool = False) -> str:
    related = [f"{verb}: {' '.join(ids)}" for verb, ids in row.get("relations", {}).items()]
    where = [f"in {row['project']}"] if "project" in row else []
    row = {**row, "flags": [*row["flags"], *where, *related]}
    title = f"{row['title']}: " if "title" in row else ""
    marks = f"  ({', '.join(row['flags'])})" if row["flags"] else ""
    return f"{'> ' if focus else ''}{row['id']}  [{row['category']}] {title}{row['text']}{marks}"


def one(done: str, memory: Memory, notes: Sequence[str] = ()) -> None:
    """Print the memory that a command changed."""
    row = memory_json(memory) | ({"notes": list(notes)} if notes else {})
    report(row, [f"{done} {line(memory, 120)}", *(f"note: {note}" for note in notes)])


def memories(
    found: Sequence[Memory],
    later: Mapping[str, Later] | None = None,
    places: Mapping[str, Sequence[Binding]] | None = None,
    newer: Mapping[str, Newer] = {},
    evidence: Mapping[str, Sequence[Evidence]] | None = None,
) -> None:
    """List memories; *places* are where they apply, by id, without what words only suggest."""
    later = later or {}

    def lines(memory: Memory) -> Iterator[str]:
        yield line(memory, later=later.get(memory.id), dated=True)
        yield from newer_lines(newer.get(memory.id))
        if places and (at := places.get(memory.id)):
            yield f"    at: {_join_keys(at)}"

    def row(memory: Memory) -> dict[str, Any]:
        at = {} if places is None else {"at": key_rows(places.get(memory.id, ()))}
        proposed = newer.get(memory.id)
        return (
            memory_json(memory, later=later.get(memory.id))
            | at
            | ({"newer": proposed.row} if proposed else {})
            | (
                {}
                if evidence is None
                else {"evidence": evidence_rows(memory, evidence.get(memory.id, ()))}
            )
        )

    listing("memories", found, lines, "no memories", row)


def line(
    memory: Memory,
    chars: int = 300,
    drifted: Mapping[str, str] = NOTHING,
    later: Later | None = None,
    *,
    dated: bool = False,
) -> str:
    came = untrusted.import_label(memory.claimed_author or "")
    found = [f"{memory.created_at:%Y-%m-%d}"] if dated else []
    found += ["pinned"] if memory.is_pinned else []
    found += flags(memory, drifted, later.mark if later else "")
    marks = ", ".join(came if mark in (CAME_WITH_FILES, CAME_FROM_HUB) else mark for mark in found)
    title = f"{memory.title}: " if memory.title else ""
    content = WITHHELD if is_withheld(memory) else preview(title + memory.content, chars)
    text = f"{memory.id}  [{memory.category}] {content}"
    return f"{text}  ({marks})" if marks else text


def whole(
    memory: Memory,
    drifted: Mapping[str, str] = NOTHING,
    related: Mapping[str, Iterable[str]] = NOTHING,
    later: Later | None = None,
    *,
    places: Sequence[Binding] = (),
    effects: Mapping[str, int] = COUNTS,
    newer: Newer | None = None,
    evidence: Sequence[Evidence] = (),
) -> None:
    from ademem.store.transitions import waits_for

    lines = [line(memory, 80, drifted, later), *newer_lines(newer)]
    lines += ["", *memory.content.split("\n"), ""]
    lines += _describe_state(memory)
    lines += _describe_use(memory, places, effects)
    lines += [f"evidence: {each.line}" for each in evidence]
    lines += _describe_origin(memory)
    if memory.quarantine_reason:
        lines.append(f"{waits_for(memory)} (`ademem promote {memory.id}` approves it)")
    fenced([*lines, *(f"{name}: {' '.join(ids)}" for name, ids in related.items())])


def _describe_state(memory: Memory) -> Iterator[str]:
    keys = memory_json(memory)
    names = "scope owner status tier importance confidence observation_count path".split()
    yield from (f"{name}: {keys[name]}" for name in names if keys[name] is not None)


def _describe_use(
    memory: Memory, places: Sequence[Binding], effects: Mapping[str, int]
) -> Iterator[str]:
    yield from anchor.describe(memory.anchors)
    if places:
        yield f"at: {_join_keys(places)}"
    if done := [f"{name} {count:,}" for name, count in effects.items() if count]:
        yield f"effects: {', '.join(done)}"
    if memory.tags:
        yield f"tags: {' '.join(memory.tags)}"
    if memory.stage not in ("candidate", "confirmed"):
        yield f"stage: {memory.stage}"


def _describe_origin(memory: Memory) -> Iterator[str]:
    from ademem.core.memory import Trust

    yield f"from: {memory.sender}, {memory.created_at:%Y-%m-%d %H:%M} UTC"
    if memory.trust is Trust.IMPORT and memory.source_id:
        yield f"source: {memory.source_id}"


def report(
    values: object,
    lines: Iterable[str],
    notes: Iterable[str] = (),
    *,
    fence: bool = False,
    fails: bool = False,
) -> None:
    """Print *values* as JSON, or *lines*, in a fence for memories, and *notes* on standard error.

    Ends the process with NO where the command *fails*.
    """
    if as_json:
        json(values)
    elif fence:
        fenced(lines)
    else:
        for text in lines:
            say(text)
    for text in () if as_json else notes:
        say(text, err=True)
    if fails:
        raise SystemExit(NO)


def table(values: dict[str, Any]) -> None:
    report(values, table_lines(values))


def table_lines(values: dict[str, Any], indent: str = "") -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield f"{indent}{name}:" + ("" if value else " none")
            yield from table_lines(value, indent + "  ")
        elif isinstance(value, list):
            yield f"{indent}{name}: " + ("; ".join(str(item) for item in value) or "none")
        else:
            yield f"{indent}{name}: {'-' if value is None else value}"


def _join_keys(at: Iterable[Binding]) -> str:
    from ademem.search.binding import join_places

    return join_places(at)


def at_line(placed: Placed) -> str:
    from ademem.search import binding

    return binding.at_line(placed.memory.id, placed.at, placed.candidates, files=placed.files)


def verdict(
    written: Written, judged: Sequence[RuleEffect] = (), placed: Placed | None = None
) -> None:
    """Exit with REFUSED where the write gate refused the text."""
    memory = written.memory
    values = ({"steps": judged} if judged else {}) | _verdict_json(written)
    if placed:
        values["places"] = place_rows(placed)
    if memory:
        report(values, [*_kept_lines(memory, written, placed)])
        if to_model() and not as_json:
            show_nearest(written.nearest)
    else:
        report(values, (), [f"not kept ({written.rule}): {written.reason}"])
    if not written.accepted:
        raise SystemExit(REFUSED)
    if written.unanswered:
        why = f"no question {visible(written.unanswered)} waits for an answer"
        echo(f"{why}; the text is stored as a candidate of its own, without --heard", err=True)
        raise SystemExit(USAGE)


def _verdict_json(written: Written) -> dict[str, Any]:
    return {
        "accepted": written.accepted,
        "durability": written.durability,
        "memory": memory_json(written.memory) if written.memory else None,
        "rule": written.rule,
        "reason": written.reason,
        "deduped": written.deduped,
        "mergedIntoId": written.merged_into_id,
        "notes": list(written.notes),
        "candidates": [candidate_row(each) for each in written.candidates],
        "nearest": [nearest_row(each) for each in written.nearest if not is_withheld(each)],
    }


def _kept_lines(memory: Memory, written: Written, placed: Placed | None) -> Iterator[str]:
    verb = "merged into" if written.deduped else "kept as"
    kind = ", rule" if is_rule(memory) else ""
    yield f"{verb} {memory.id} ({written.durability}{kind})"
    if placed and not written.deduped:
        yield at_line(placed)
        yield from placed.advice if to_model() else _advise_person(memory, written.nearest)
    yield from (f"note: {note}" for note in written.notes)


def _advise_person(memory: Memory, nearest: Sequence[Memory]) -> Iterator[str]:
    """Name in a terminal the option for occasions, and what the text may replace."""
    if not sys.stdout.isatty():
        return
    id = memory.id[:SHORT_ID]
    if not anchor.occasions(memory.anchors):
        yield f'when: no occasion · ademem at {id} --when "…"'
    if nearest:
        yield f"near: one no longer holds? ademem relations judge {id} supersedes --other ID"
        for other in nearest:
            yield f"  {other.id[:SHORT_ID]}  {preview(in_one_line(other.whole_text), NEAR_CHARS)}"


def show_nearest(found: Sequence[Memory]) -> None:
    """Name a model what its text may repeat, replace or contradict, and how to state it."""
    from ademem.capture import stating

    question, rows = stating.ask_relation(memory for memory in found if not is_withheld(memory))
    if rows:
        echo(question)
        fenced(rows)


def steps(judged: Sequence[RuleEffect]) -> None:
    lines = (f"{step.rule:<20} {step.outcome:<10} {step.why}".rstrip() for step in judged)
    report({"steps": judged} if judged else {}, lines)

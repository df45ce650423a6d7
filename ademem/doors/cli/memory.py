"""Commands that write, find, list, confirm, edit and remove memories."""

from __future__ import annotations

import os

from ademem.core import anchor, who
from ademem.core.errors import NoSuchMemory, UsageError, suppress
from ademem.core.text import counted, preview
from ademem.core.value import replace
from ademem.doors.cli import show
from ademem.doors.cli.commands import command, on_project, open_project
from ademem.doors.cli.derived import Asked, follow
from ademem.doors.cli.options import argument, flag, option
from ademem.doors.cli.parameters import (
    Contradicts,
    DryRun,
    Heard,
    Limit,
    Project,
    Repeats,
    Replaces,
    Tags,
    Title,
    Type,
    split_words,
    text_or_stdin,
)
from ademem.operations import memory_operations
from ademem.operations.signatures import Annotated
from ademem.store.runtime import Runtime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from ademem.capture.stating import Stated
    from ademem.operations.curation import Event
    from ademem.store.episodes import Episode

Text = Annotated[str, argument("TEXT", "The memory; - reads standard input.")]


@follow(memory_operations.add)
def add(asked: Asked) -> None:
    """Write a memory. The write gate checks it. TEXT may be -, for standard input."""
    added = asked.call(content=text_or_stdin(asked.given["content"]))
    if added.written is None or (added.steps and not show.as_json):
        show.steps(added.steps)
    if added.written is not None:
        show.verdict(added.written, added.steps, added.placed)
        if (asked.given["pin"] or asked.given["strict"]) and show.to_model():
            show.echo("a person pins and confirms it: `ademem review`", err=True)


def _read_stated(heard: str | None, **related: str | None) -> Stated:
    from ademem.capture import stating

    return replace(stating.read_relation(**related), heard=heard or "")


@on_project()
def learn(
    memories: Runtime,
    text: str = argument("TEXT", "What was learned; - reads standard input."),
    bead: str | None = option("--bead", "The task it comes from."),
    type_: str = option("--type -t", "learned, decision, bugfix, pattern, …", "learned"),
    tags: Tags = None,
    key: str | None = option("--key", "Replaces what has this key."),
    repeats: Repeats = None,
    replaces: Replaces = None,
    contradicts: Contradicts = None,
    heard: Heard = None,
) -> None:
    """Write a lesson, as `bd comment ID "LEARNED: …"` does."""
    from ademem.operations import placing, writing

    written = writing.learn(
        memories,
        text_or_stdin(text),
        type=type_,
        bead=bead,
        tags=split_words(tags),
        key=key,
        stated=_read_stated(heard, repeats=repeats, replaces=replaces, contradicts=contradicts),
    )
    placed = placing.show_places(memories, written.memory.id) if written.memory else None
    show.verdict(written, placed=placed)


@command("topic-key")
def topic_key(text: Text, type_: Type = None, title: Title = None) -> None:
    """Suggest a key under which later texts replace TEXT."""
    from ademem.operations import writing

    key = writing.suggest_topic_key(type_, title, text_or_stdin(text))
    show.report({"topic_key": key}, [key])


@follow(memory_operations.search, without=("query",))
def search(
    asked: Asked, words: list[str] | None = argument("WORDS", "What you want to know.", None)
) -> None:
    """Search memories, in pages. A page has previews of those that answer WORDS."""
    page, with_weak = asked.call(query=" ".join(words or ())), asked.given["archived"]
    answers = [row for row in page["memories"] if "weak" not in row["flags"]]
    rows = page["memories"] if with_weak else answers
    rest = show.left_out(len(page["memories"]) - len(rows))
    if show.as_json:
        show.json(page)
    else:
        _show_page(page, rows, rest)
        show.words_alone(page["mode"], asked.runtime)
    raise SystemExit(show.exit_code(answers or page.get("instructions", ())))


def _show_page(page: dict[str, Any], rows: list[dict[str, Any]], rest: str) -> None:
    """Show the rows of a page that are no weak hits; *rest* says how many are."""
    items = page.get("instructions", ())
    if not rows and not items:
        nothing = f"nothing in memory answers that {rest}".rstrip()
        return show.echo(nothing, err=not show.to_model())
    lines = [f"{each['at']}  [{each['kind']}] {each['text']}" for each in items]
    show.fenced([*map(show.preview_line, rows), *lines])
    if not rest and page.get("next_cursor"):  # thousands of letters, which `--json` has
        rest = f"({page['total']:,} in all; `--limit` shows more)"
    return show.echo(rest, err=not show.to_model()) if rest else None


@follow(memory_operations.get)
def get(asked: Asked) -> None:
    """Show a whole memory."""
    from ademem.operations import searching

    memories, id = asked.runtime, asked.given["id"]
    if asked.given["history"]:
        revisions = asked.call_other(memory_operations.list_revisions, id=id)
        if show.to_model():
            with suppress(NoSuchMemory):  # nothing of a hard-deleted memory is withheld
                show.require_readable(searching.get(memories, id))
        values = {"id": id, "count": len(revisions), "revisions": revisions}
        return show.report(values, _history_lines(revisions), fence=True)
    whole = asked.call()
    memory = show.require_readable(whole.memory)
    if whole.offset is not None and not show.as_json:
        return show.say(whole.part()[0])
    from ademem.operations import reports

    later = searching.find_later(memories, [memory]).get(memory.id)
    done = reports.list_effects(memories, memory=memory.id).of_memory(memory.id)
    newer = searching.find_newer(memories, [memory]).get(memory.id)
    proof = searching.map_evidence(memories, [memory]).get(memory.id, [])
    if not show.as_json:
        return show.whole(
            *(memory, whole.drifted, whole.related, later),
            places=whole.places,
            effects=done,
            newer=newer,
            evidence=proof,
        )
    row = whole.row(show.memory_json(memory, drifted=whole.drifted, later=later))
    row |= {"effects": done, "evidence": show.evidence_rows(memory, proof)}
    row |= {"newer": newer.row} if newer else {}
    if whole.offset is not None:
        row["content"], row["next_offset"] = whole.part()
    return show.json(row)


@follow(memory_operations.list_memories, "list")
def list_(asked: Asked) -> None:
    """List memories, newest first."""
    from ademem.operations import searching

    memories, found = asked.runtime, asked.call()
    if "at" in asked.given:
        return show.memories(found)
    later, newer = searching.find_later(memories, found), searching.find_newer(memories, found)
    # Lines do without it, and so does `list` without its module.
    proof = searching.map_evidence(memories, found) if show.as_json else None
    return show.memories(found, later, searching.map_places(memories, found), newer, proof)


TASK_CHARS = 160


@command()
def log(
    guard: bool = flag("--guard", "Decisions of the guard instead."),
    refused: bool = flag("--refused", "Texts that the write gate refused instead."),
    episodes: bool = flag("--episodes", "Episodes of sessions and missions instead."),
    limit: Limit = 20,
    project: Project = None,
) -> None:
    """Show acts, newest first. `undo` takes their ids."""
    from ademem.operations import curation, reports, sessions

    if guard + refused + episodes > 1:
        raise UsageError("--guard, --refused and --episodes exclude each other", "give one of them")
    with open_project(project) as memories:
        if guard:
            show.listing(
                *("decisions", reports.list_decisions(memories, limit)),
                lambda row: [
                    f"{row['created_at']}  {row['decision']:<5} {row['tool']}: {row['target']}"
                    f"  ({row['reason']})"
                ],
                "the guard was not asked yet",
            )
        elif refused:
            rows = reports.list_refusals(memories, limit)
            show.listing("refusals", rows, _refusal_lines, "nothing was refused")
        elif episodes:
            found = sessions.list_episodes(memories, limit)
            show.listing("episodes", found, _episode_lines, "no episodes")
        else:
            events = curation.list_events(memories, limit)
            show.listing("events", events, _event_lines, "nothing was done yet")


@on_project()
def undo(
    memories: Runtime,
    event: str = argument("[EVENT]", "The id of an act in `log`; else a person's last.", ""),
    dry_run: DryRun = False,
) -> None:
    """Undo one act. It may be an edit, a merge, even an undo."""
    from ademem.operations import curation

    if not event:
        last = curation.find_last_act(memories)
        event = last.id
        if not show.as_json:
            show.fenced(_event_lines(last))
    changed = curation.undo(memories, event, dry_run=dry_run)
    rows = [show.memory_json(each) for each in changed]
    values = {"event": event, "count": len(changed), "memories": rows}
    verb = "would undo" if dry_run else "undid"
    show.report(values, [f"{verb} {show.line(each, 120)}" for each in changed])


def _history_lines(revisions: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield each revision with its text, and the occasions that it has first or changed."""
    from ademem.doors import views
    from ademem.operations import curation

    before = None
    for row in revisions:
        yield from _revision_lines(row)
        memory = curation.read_revision(row)
        if memory and before is None:
            yield from (f"     {line}" for line in anchor.describe_occasions(memory.anchors))
        elif when := views.diff_occasions(before, memory):
            yield f"     {views.mark_words(when)}"
        before = memory


def _revision_lines(row: dict[str, Any]) -> Iterator[str]:
    reason = f"  {row['reason']}" if row["reason"] else ""
    what = f"{row['operation']} by {row['actor']}{reason}"
    yield f"{row['revision']:>3}  {row['created_at']}  {what}"
    yield f"     {row['snapshot']['content'][:200]}"


def _event_lines(event: Event) -> Iterator[str]:
    what = ", ".join(f"{name} {count}" for name, count in event.operations.items())
    changed = f" ({', '.join(event.changed)})" if event.changed else ""
    yield f"{event.id}  {event.at:%Y-%m-%d %H:%M}  {what}{changed} by {event.actor}"
    if event.text:
        yield f"    {preview(event.text, 120)}"


def _refusal_lines(row: dict[str, Any]) -> Iterator[str]:
    yield f"{row['created_at']}  {row['rule']}: {row['reason']}"
    if row["preview"]:
        yield f"    {row['preview']}"


def _episode_lines(episode: Episode) -> Iterator[str]:
    day = episode.ended_at[: len("2026-01-31")]
    task = preview(episode.task, TASK_CHARS)
    yield f"{episode.memory_id}  {day}  [{episode.outcome}] {task}"
    done = counted(len(episode.actions), "action" if episode.session_id else "session")
    of = "" if episode.session_id else f" of the mission {episode.mission_id}"
    files, runs = counted(len(episode.files), "file"), counted(len(episode.tests), "test run")
    errors = counted(len(episode.errors), "error")
    yield f"    {done}{of}, {files}, {runs}, {errors}; summary by {episode.summarised_by}"


@follow(memory_operations.promote)
def promote(asked: Asked) -> None:
    """Confirm a memory that waits. If it is quarantined, approve its text."""
    show.one("promoted", asked.call())


@follow(memory_operations.reject, without=("confirmed",))
def reject(asked: Asked) -> None:
    """Archive a candidate for good."""
    show.one("rejected", asked.call())


@follow(memory_operations.remove, "archive", without=("dry_run", "hard"), how="archive")
def archive(asked: Asked) -> None:
    """Archive a memory. It leaves recall and files."""
    show.one("archived", asked.call())


@follow(memory_operations.remove, "delete", how="delete")
def delete(asked: Asked) -> None:
    """Delete a memory. `restore` undoes it unless --hard."""
    show.one("would delete" if asked.given["dry_run"] else "deleted", asked.call())


def _restore_backup(
    project: str | None,
    given: dict[str, Any],
    id: str | None,
    backup: str | None,
    own: bool,
    force: bool,
) -> bool:
    """Restore a backup, if one is named: its project may have a database that no command opens."""
    from ademem.core import clock
    from ademem.core import project as project_
    from ademem.core.value import as_dict
    from ademem.store.runtime import personal_project

    if (id is None) is (backup is None):
        raise UsageError("name a memory or a backup", "`ademem backup --list` shows the backups")
    if backup is None:
        return False
    for name in ("to", "revision"):
        if given.get(name) is not None:
            raise UsageError(f"a backup has no `--{name}`", "leave it out, or name a memory")
    from ademem.operations import recovery

    dry_run = given["dry_run"]
    if not dry_run:
        who.require_person(who.of_process(), "to replace the database")
    here = project_.find(project, os.environ, os.getcwd()) if not own else None
    done = recovery.restore_backup(
        *(here or personal_project(os.environ), os.environ, backup, clock.now()),
        force=force,
        dry_run=dry_run,
    )
    verb = "would restore" if dry_run else "restored"
    lines = [f"{verb} {counted(done.memories, 'memory')} of {done.backup}", *done.done]
    if done.replaced:
        lines.append(f"the database that was there is kept: {done.replaced}")
    show.report({"dry_run": dry_run} | as_dict(done), lines)
    return True


@follow(memory_operations.restore, without=("id",), instead=_restore_backup)
def restore(
    asked: Asked,
    id: str | None = argument("ID", "Of a memory.", None),
    backup: str | None = option(
        "--backup NAME",
        "Replace the database by this backup: latest, a name or its beginning, a path.",
    ),
    own: bool = flag("--personal", "A backup of your own memories of all projects."),
    force: bool = flag("--force", "Accept a backup of another project."),
) -> None:
    """Restore a memory, or a backup. An archived or deleted memory, or an earlier revision."""
    show.one("would restore" if asked.given["dry_run"] else "restored", asked.call(id=id))


@follow(memory_operations.pin)
def pin(asked: Asked) -> None:
    """Show a memory in every briefing."""
    if asked.given["pinned"]:
        memory_operations.require_person(asked.runtime, asked.given["id"], "pin")
    show.one("pinned" if asked.given["pinned"] else "unpinned", asked.call())


@follow(memory_operations.update)
def edit(asked: Asked) -> None:
    """Change a memory. Without options the text opens in $EDITOR. --content - reads it."""
    from ademem.operations import searching

    memories, given = asked.runtime, asked.given
    memory_operations.require_person(memories, given["id"], "edit")
    if "content" in given:
        given["content"] = text_or_stdin(given["content"])
    if given.keys() - {"id", "revision"}:
        changed = asked.call()
        updated, placed = changed.updated, changed.placed
        done = f"{updated.proposed_for} is a person's; a candidate beside it:"
        notes = placed.notes if placed else ()
        return show.one(done if updated.proposed_for else "edited", changed.memory, notes)
    from ademem.doors.cli.editor import editing

    memory = searching.get(memories, given["id"])
    with editing(memory.content) as edited:
        if edited.strip() in ("", memory.content):
            raise UsageError("nothing was changed", "save the editor's file, or pass --content")
        return show.one("edited", asked.call(content=edited).updated.memory)

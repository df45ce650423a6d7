"""Commands that write, find, list, confirm, edit and remove memories."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from ademem.core import who
from ademem.core.anchor import is_choice, of_command, of_key
from ademem.core.errors import Deleted, NoSuchMemory, UsageError
from ademem.core.memory import NOTE, RULE, STOP, Category, Draft, Importance, Status, Trust
from ademem.core.text import counted, preview
from ademem.core.value import replace
from ademem.doors.cli import show
from ademem.doors.cli.commands import command, on_project, open_project
from ademem.doors.cli.options import argument, flag, option
from ademem.doors.cli.parameters import (
    Anchors,
    Branch,
    CategoryName,
    Commands,
    Contradicts,
    DryRun,
    FileGlob,
    Heard,
    Id,
    ImportanceName,
    Limit,
    Owner,
    PathGlob,
    Places,
    Project,
    Repeats,
    Replaces,
    ScopeName,
    Tags,
    Title,
    editing,
    parse_choice,
    split_words,
    text_or_stdin,
)
from ademem.store.runtime import Runtime

if TYPE_CHECKING:
    from ademem.capture.stating import Stated
    from ademem.operations.curation import Event
    from ademem.store.episodes import Episode

AGO = "ISO 8601, or ago: 45m, 3h, 2d."
Text = Annotated[str, argument("TEXT", "The memory; - reads standard input.")]
Explain = Annotated[bool, option("--explain", "Show how each result came about.")]
Words = Annotated[list[str] | None, argument("WORDS", "What you want to know.")]
Type = Annotated[str | None, option("--type -t", "learned, decision, bugfix, … or a tag.")]
All = Annotated[bool, option("--all", "Archived memories too.")]
AllHits = Annotated[bool, option("--all", "Weak hits and archived memories too.")]
Candidates = Annotated[bool, option("--candidates", "Unconfirmed memories too.")]


@on_project()
def add(
    memories: Runtime,
    text: Text,
    category: CategoryName = None,
    scope: ScopeName = None,
    owner: Owner = None,
    importance: ImportanceName = "medium",
    pin: bool = flag("--pin", "Always in the briefing."),
    rule: bool = flag("--rule", "It may deny a call at its place, once in a conversation."),
    note: bool = flag("--note", "It is only said beside a call."),
    stop: bool = flag("--stop", "A rule that denies again in every turn."),
    strict: bool = flag("--strict", "Confirm a convention, pattern, gotcha or decision at once."),
    title: Title = None,
    type_: Type = None,
    topic_key: str | None = option("--topic-key", "Replaces what has this key."),
    tags: Tags = None,
    path: FileGlob = None,
    anchor: Anchors = None,
    command: Commands = None,
    at: Places = None,
    repeats: Repeats = None,
    replaces: Replaces = None,
    contradicts: Contradicts = None,
    heard: Heard = None,
    operation_id: str = option(
        "--operation-id", "Of this write; a retry with it writes nothing.", ""
    ),
    dry_run: DryRun = False,
    explain: Explain = False,
) -> None:
    """Write a memory, if the write gate accepts it."""
    from ademem.operations import placing, writing

    stated = _read_stated(heard, repeats=repeats, replaces=replaces, contradicts=contradicts)
    by_person = not show.to_model()
    origin = writing.origin(memories)
    is_typed = origin.trust is Trust.USER
    content = text_or_stdin(text)
    if is_typed and not (category or type_):
        from ademem.capture.record import category_of

        category = category_of(content)  # as of what a prompt dictates
    draft = Draft(
        content=content,
        category=writing.categorize(category, type_),
        importance=importance or "medium",
        title=title,
        topic_key=topic_key,
        tags=(*split_words(tags), *filter(None, (type_, *_marks(rule, note, stop)))),
        path=path,
        anchors=(
            *_check_anchors(anchor or ()),
            *map(of_command, command or ()),
            *(of_key(key, by_person=is_typed) for key in placing.check_keys(memories, at or ())),
        ),
        pinned=pin and by_person,
        strict=strict and by_person,
        origin=origin,
    )
    draft = writing.place_draft(memories, draft, scope, owner, start_mission=not dry_run)
    judged = writing.explain(memories, draft) if dry_run or explain else []
    if dry_run or (judged and not show.as_json):
        show.steps(judged)
    if not dry_run:
        written = writing.write(memories, draft, stated, operation_id=operation_id)
        placed = placing.show_places(memories, written.memory.id) if written.memory else None
        show.verdict(written, judged, placed)
        if (pin or strict) and not by_person:
            show.echo("a person pins and confirms it: `ademem review`", err=True)


def _read_stated(heard: str | None, **related: str | None) -> Stated:
    from ademem.capture import stating

    return replace(stating.read_relation(**related), heard=heard or "")


def _check_anchors(anchors: Sequence[str]) -> Sequence[str]:
    """Return the anchors; raises UsageError for one that would be stored as a chosen place."""
    if any(map(is_choice, anchors)):
        raise UsageError("an anchor is a file or some of its lines", "`--at` chooses a place")
    return anchors


def _marks(rule: bool, note: bool, stop: bool) -> tuple[str, ...]:
    if note and (rule or stop):
        raise UsageError("a note denies nothing", "leave out --note, or --rule and --stop")
    return tuple(name for name, is_set in ((STOP, stop), (RULE, rule), (NOTE, note)) if is_set)


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


@command()
def search(
    words: Words = None,
    limit: int = option("--limit -n", "Maximum number.", 5, min=1, max=20),
    category: CategoryName = None,
    type_: Type = None,
    scope: ScopeName = None,
    owner: Owner = None,
    path: PathGlob = None,
    branch: Branch = None,
    since: str | None = option("--since TIME", AGO),
    until: str | None = option("--until TIME", AGO),
    candidates: Candidates = False,
    all_: AllHits = False,
    all_projects: bool = flag("--all-projects", "The other projects of this machine, too."),
    cursor: str = option("--cursor", "The next page: `next_cursor` of the one before.", ""),
    project: Project = None,
) -> None:
    """Find memories that answer WORDS, in pages of previews."""
    from datetime import UTC, datetime

    from ademem.core.times import parse_time
    from ademem.doors.cli.filtering import make_filters
    from ademem.operations import browsing
    from ademem.store.filters import choose_statuses

    query = " ".join(words or ())
    if not query.strip():
        raise UsageError("search for what?", 'ademem search "words"')
    statuses = choose_statuses(candidates=candidates, archived=all_)
    filters = make_filters(category, type_, scope, owner, path, branch, statuses)
    now = datetime.now(UTC)
    filters = replace(
        filters,
        since=parse_time(since, now) if since else None,
        until=parse_time(until, now) if until else None,
    )
    with open_project(project) as memories:
        if all_projects:
            from ademem.operations import projects

            with projects.open_others(memories) as others:
                page = browsing.find(memories, query, filters, limit, cursor=cursor, others=others)
        else:
            page = browsing.find(memories, query, filters, limit, cursor=cursor)
    answers = [row for row in page["memories"] if "weak" not in row["flags"]]
    rows = page["memories"] if all_ else answers
    rest = show.left_out(len(page["memories"]) - len(rows))
    if show.as_json:
        show.json(page)
    elif not rows and not page.get("instructions"):
        nothing = f"nothing in memory answers that {rest}".rstrip()
        show.echo(nothing, err=not show.to_model())
    else:
        items = page.get("instructions", ())
        lines = [f"{each['at']}  [{each['kind']}] {each['text']}" for each in items]
        show.fenced([*map(show.preview_line, rows), *lines])
        if rest:
            show.echo(rest, err=not show.to_model())
        elif page.get("next_cursor"):  # thousands of letters, which `--json` has
            more = f"({page['total']:,} in all; `--limit` shows more)"
            show.echo(more, err=not show.to_model())
    raise SystemExit(show.exit_code(answers or page.get("instructions", ())))


@on_project()
def context(
    memories: Runtime,
    max_bytes: int = option("--max-bytes", "Size of the text.", 16_384, min=0, max=65_536),
    compact: bool = flag("--compact", "Shorter entries."),
) -> None:
    """Show the best of the project, its last sessions and prompts."""
    from ademem.operations import browsing

    found = browsing.get_context(memories, max_bytes, compact=compact)
    show.report(found, found["text"].splitlines(), fence=True)


@on_project()
def get(
    memories: Runtime,
    id: Id,
    history: bool = flag("--history", "Its revisions instead."),
    offset: int | None = option("--offset", "The text in parts, from here on.", min=0),
    deleted: bool = flag("--deleted", "Also one that was deleted and may be restored."),
) -> None:
    """Show a whole memory."""
    from ademem.operations import searching

    if history:
        from ademem.operations import curation

        revisions = curation.list_revisions(memories, id)
        if show.to_model():
            with suppress(NoSuchMemory):  # nothing of a hard-deleted memory is withheld
                show.require_readable(searching.get(memories, id))
        values = {"id": id, "count": len(revisions), "revisions": revisions}
        return show.report(values, (line for row in revisions for line in _revision_lines(row)))
    memory = show.require_readable(searching.get(memories, id))
    if memory.deleted_at and not deleted:
        raise Deleted(memory.id, memory.deleted_at)
    from ademem.operations import placing, reports, rows

    drifted = searching.find_drifted(memories, [memory])
    related = searching.find_related(memories, memory.id)
    later = searching.find_later(memories, [memory]).get(memory.id)
    done = reports.list_effects(memories, memory=memory.id).of_memory(memory.id)
    at = placing.list_places(memories, memory.id)
    newer = searching.find_newer(memories, [memory]).get(memory.id)
    proof = searching.map_evidence(memories, [memory]).get(memory.id, [])
    if show.as_json:
        row = show.memory_json(memory, drifted=drifted, later=later)
        row |= {"at": rows.key_rows(at), "effects": done}
        row |= {"evidence": show.evidence_rows(memory, proof)}
        row |= {"newer": newer.row} if newer else {}
        row["flags"] += [f"conflicts-with:{other}" for other in related.get("conflicts with", ())]
        if offset is not None:
            from ademem.operations import browsing

            row["content"], row["next_offset"] = browsing.read_part(memory.content, offset)
        show.json(row)
    elif offset is not None:
        from ademem.operations import browsing

        show.say(browsing.read_part(memory.content, offset)[0])
    else:
        show.whole(
            *(memory, drifted, related, later),
            places=at,
            effects=done,
            newer=newer,
            evidence=proof,
        )
    return None


@command("list")
def list_(
    limit: Limit = 100,
    category: CategoryName = None,
    status: str | None = option("--status", ", ".join(Status)),
    type_: Type = None,
    scope: ScopeName = None,
    owner: Owner = None,
    branch: Branch = None,
    all_: All = False,
    at: str | None = option("--at TIME", "As they were: ISO 8601, or ago: 45m, 3h, 2d."),
    project: Project = None,
) -> None:
    """List memories, newest first."""
    from datetime import UTC, datetime

    from ademem.doors.cli.filtering import make_filters
    from ademem.operations import searching
    from ademem.store.filters import choose_statuses

    wanted = parse_choice(Status, status)
    statuses = (wanted,) if wanted else choose_statuses(candidates=True, archived=all_)
    filters = make_filters(category, type_, scope, owner, None, branch, statuses)
    if at is not None and (wanted or any((category, type_, scope, owner, branch))):
        raise UsageError("--at lists all memories of that moment", "leave out the other filters")
    with open_project(project) as memories:
        if at is not None:
            from ademem.core.times import parse_time
            from ademem.operations import curation

            then = curation.list_at(memories, parse_time(at, datetime.now(UTC)), limit)
            found = list(then.memories)
        else:
            found = searching.list_memories(memories, filters, limit)
        later = {} if at else searching.find_later(memories, found)
        newer = {} if at else searching.find_newer(memories, found)
        # Lines do without it, and so does `list` without its module.
        proof = searching.map_evidence(memories, found) if show.as_json and not at else None
        places = {} if at else searching.map_places(memories, found)
    show.memories(found, later, places, newer, proof)


TASK_CHARS = 160


@command()
def log(
    guard: bool = flag("--guard", "Decisions of the guard instead."),
    refused: bool = flag("--refused", "Texts that the write gate refused instead."),
    episodes: bool = flag("--episodes", "Episodes of sessions and missions instead."),
    limit: Limit = 20,
    project: Project = None,
) -> None:
    """Show acts on memories, newest first. `undo` takes their ids."""
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
    event: str = argument("EVENT", "The id of an act in `log`."),
    dry_run: DryRun = False,
) -> None:
    """Undo one act: an edit, a merge, even an undo."""
    from ademem.operations import curation

    changed = curation.undo(memories, event, dry_run=dry_run)
    values = {"count": len(changed), "memories": [show.memory_json(each) for each in changed]}
    verb = "would undo" if dry_run else "undid"
    show.report(values, [f"{verb} {show.line(each, 120)}" for each in changed])


def _revision_lines(row: dict[str, Any]) -> Iterator[str]:
    reason = f"  {row['reason']}" if row["reason"] else ""
    what = f"{row['operation']} by {row['actor']}{reason}"
    yield f"{row['revision']:>3}  {row['created_at']}  {what}"
    yield f"     {row['snapshot']['content'][:200]}"


def _event_lines(event: Event) -> Iterator[str]:
    what = ", ".join(f"{name} {count}" for name, count in event.operations.items())
    yield f"{event.id}  {event.at:%Y-%m-%d %H:%M}  {what} by {event.actor}"
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


@on_project()
def promote(memories: Runtime, id: Id) -> None:
    """Confirm a candidate, or approve a quarantined one."""
    from ademem.operations import curation

    require_person(memories, id, "promote")
    show.one("promoted", curation.promote(memories, id))


@on_project()
def reject(memories: Runtime, id: Id) -> None:
    """Archive a candidate for good."""
    from ademem.operations import curation

    show.one("rejected", curation.reject(memories, id))


@on_project()
def archive(memories: Runtime, id: Id) -> None:
    """Remove a memory from recall and files."""
    from ademem.operations import curation

    show.one("archived", curation.archive(memories, id))


@command()
def restore(
    id: str | None = argument("ID", "Of a memory.", None),
    backup: str | None = option(
        "--backup NAME",
        "Replace the database by this backup: latest, a name or its beginning, a path.",
    ),
    own: bool = flag("--personal", "A backup of your own memories of all projects."),
    force: bool = flag("--force", "Accept a backup of another project."),
    dry_run: DryRun = False,
    project: Project = None,
) -> None:
    """Restore an archived or deleted memory, or a backup."""
    from ademem.core import clock
    from ademem.core import project as project_
    from ademem.core.value import as_dict
    from ademem.operations import curation, searching
    from ademem.store.runtime import personal_project

    if backup is not None and id is None:
        from ademem.operations import recovery

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
        return show.report({"dry_run": dry_run} | as_dict(done), lines)
    if id is None or backup is not None:
        raise UsageError("name a memory or a backup", "`ademem backup --list` shows the backups")
    with open_project(project) as memories:
        memory = searching.get(memories, id) if dry_run else curation.restore(memories, id)
    return show.one("would restore" if dry_run else "restored", memory)


@on_project()
def pin(
    memories: Runtime, id: Id, off: bool = flag("--off", "Show it only when it is relevant.")
) -> None:
    """Show a memory in every briefing."""
    from ademem.operations import curation

    if not off:
        require_person(memories, id, "pin")
    memory = curation.pin(memories, id, pinned=not off)
    show.one("unpinned" if off else "pinned", memory)


@on_project()
def delete(
    memories: Runtime,
    id: Id,
    hard: bool = flag("--hard", "For good: no byte of it stays."),
    dry_run: DryRun = False,
) -> None:
    """Delete a memory; `restore` undoes it unless --hard."""
    from ademem.operations import curation, searching

    if hard and not dry_run:
        who.require_person(memories.by, "to delete for good")
    memory = searching.get(memories, id) if dry_run else curation.delete(memories, id, hard=hard)
    show.one("would delete" if dry_run else "deleted", memory)


@on_project()
def edit(
    memories: Runtime,
    id: Id,
    content: str | None = option("--content", "New text; - reads standard input."),
    find: str | None = option("--find", "Part of the text; --replace takes its place."),
    replacement: str | None = option("--replace", "See --find."),
    revision: int | None = option("--revision", "Refuse unless it is at this revision."),
    title: Title = None,
    category: CategoryName = None,
    importance: ImportanceName = None,
    topic_key: str | None = option("--topic-key", "Its topic, which later texts replace."),
    tags: Tags = None,
    path: PathGlob = None,
    anchor: Anchors = None,
    command: Commands = None,
    stop: bool | None = option(
        "--stop/--no-stop", "Deny calls that it is about until they are made again."
    ),
) -> None:
    """Change a memory; without options the text opens in $EDITOR."""
    from ademem.core.anchor import replace_parts
    from ademem.operations import curation, searching, writing

    require_person(memories, id, "edit")
    given: dict[str, Any] = {
        "content": None if content is None else text_or_stdin(content),
        "find": find,
        "replacement": replacement,
        "title": title,
        "topic_key": topic_key,
        "category": parse_choice(Category, category),
        "importance": parse_choice(Importance, importance),
        "tags": None if tags is None else split_words(tags),
        "file_scope_pattern": path,
        "anchors": (
            None
            if anchor is None and command is None
            else replace_parts(
                searching.get(memories, id).anchors, anchor and _check_anchors(anchor), command
            )
        ),
    }
    if stop is not None:
        others = searching.get(memories, id).tags if tags is None else given["tags"]
        given["tags"] = (*(tag for tag in others if tag != STOP), *((STOP,) if stop else ()))
    changes = {name: value for name, value in given.items() if value is not None}
    done = "edited"
    if changes and curation.get_speaker(memories) is not Trust.USER:
        updated = curation.update_by_agent(
            memories, id, writing.origin(memories), revision=revision, **changes
        )
        memory = updated.memory
        if updated.proposed_for:
            done = f"{updated.proposed_for} is a person's; a candidate beside it:"
    elif not changes:
        memory = searching.get(memories, id)
        with editing(memory.content) as edited:
            if edited.strip() in ("", memory.content):
                raise UsageError("nothing was changed", "save the editor's file, or pass --content")
            memory = curation.edit(memories, id, revision=revision, content=edited)
    else:
        memory = curation.edit(memories, id, revision=revision, **changes)
    show.one(done, memory)


def require_person(memories: Runtime, id: str, verb: str) -> None:
    """Require a terminal for a quarantined memory; to confirm or pin any, a person."""
    from ademem.operations import searching

    memory = searching.get(memories, id)
    if memory.quarantine_reason:
        who.require_person(memories.by, f"to {verb} {memory.id}, which is quarantined,")
    elif verb != "edit":
        slash = f"{who.SLASH_COMMANDS[verb]} {memory.id}"
        who.require_person(memories.by, f"to {verb} {memory.id}", slash)

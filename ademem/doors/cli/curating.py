"""Commands by which a person reviews, confirms, edits and removes memories."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ademem import api
from ademem.core import caller, process
from ademem.core.anchor import replaced
from ademem.core.errors import NO, AdememError, UsageError
from ademem.core.memory import Category, Importance, Memory
from ademem.core.value import Value, as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import (
    Anchors,
    AsJson,
    CategoryName,
    Commands,
    DryRun,
    Id,
    ImportanceName,
    Limit,
    PathGlob,
    Project,
    Tags,
    Title,
    open_project,
    parse_choice,
    split_words,
    text_or_stdin,
)
from ademem.files import enrolment
from ademem.store.transitions import waits_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ademem.store.runtime import Runtime


def _register(name: str, done: str, help: str) -> None:
    """Register a command that calls the function of this name for one memory."""

    def command(id: Id, project: Project = None, as_json: AsJson = False) -> None:
        with open_project(project) as memories:
            if name == "promote":
                require_person(memories, id, name)
            memory = getattr(api, name)(memories, id)
        show.one(done, memory, as_json)

    app.command(name, help=help)(command)


_register("promote", "promoted", "Confirm a candidate, or approve a quarantined one.")
_register("reject", "rejected", "Archive a candidate for good.")
_register("archive", "archived", "Remove a memory from recall and files.")
_register("restore", "restored", "Restore an archived or deleted memory.")


@app.command()
def pin(
    id: Id,
    off: Annotated[bool, typer.Option("--off", help="Show it only when it is relevant.")] = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show a memory in every briefing."""
    with open_project(project) as memories:
        if not off:
            require_person(memories, id, "pin")
        memory = api.pin(memories, id, pinned=not off)
    show.one("unpinned" if off else "pinned", memory, as_json)


@app.command()
def delete(
    id: Id,
    hard: Annotated[bool, typer.Option("--hard", help="For good: no byte of it stays.")] = False,
    dry_run: DryRun = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Delete a memory; `restore` undoes it unless --hard."""
    with open_project(project) as memories:
        memory = api.get(memories, id) if dry_run else api.delete(memories, id, hard=hard)
    show.one("would delete" if dry_run else "deleted", memory, as_json)


@app.command()
def edit(
    id: Id,
    content: Annotated[
        str | None, typer.Option("--content", help="New text; - reads standard input.")
    ] = None,
    title: Title = None,
    category: CategoryName = None,
    importance: ImportanceName = None,
    tags: Tags = None,
    path: PathGlob = None,
    anchor: Anchors = None,
    command: Commands = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Change a memory; without options the text opens in $EDITOR."""
    with open_project(project) as memories:
        require_person(memories, id, "edit")
        given = {
            "content": None if content is None else text_or_stdin(content),
            "title": title,
            "category": parse_choice(Category, category),
            "importance": parse_choice(Importance, importance),
            "tags": split_words(tags) if tags is not None else None,
            "file_scope_pattern": path,
            "anchors": (
                None
                if anchor is None and command is None
                else replaced(api.get(memories, id).anchors, anchor, command)
            ),
        }
        changes = {name: value for name, value in given.items() if value is not None}
        if not changes:
            edited = in_editor(api.get(memories, id).content)
            if edited.strip() in ("", api.get(memories, id).content):
                raise UsageError("nothing was changed", "save the editor's file, or pass --content")
            changes["content"] = edited
        memory = api.edit(memories, id, **changes)
    show.one("edited", memory, as_json)


def require_person(memories: Runtime, id: str, verb: str) -> None:
    """Raise NotByPerson for an act that only a person may do.

    A quarantined memory takes a terminal, and to confirm or pin any a shell that no client opened.
    """
    memory = api.get(memories, id)
    if memory.quarantine_reason:
        caller.require_person(os.environ, f"to {verb} {memory.id}, which is quarantined,")
    elif verb != "edit" and (client := caller.client_of(os.environ)):
        raise caller.NotByPerson(
            f"to {verb} {memory.id} is a person's to decide, and {client} runs this shell"
        )


def in_editor(text: str) -> str:
    """Return the text as the person saved it in $EDITOR."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="ademem-") as folder:
        path = Path(folder, "memory.md")
        path.write_text(text, encoding="utf-8")
        try:
            code = process.run_in_terminal([*shlex.split(editor), str(path)])
            failure = f"exit status {code}" if code else ""
        except OSError as error:
            failure = str(error)
        if failure:
            raise UsageError(f"{editor}: {failure}", "set $EDITOR, or pass --content")
        return path.read_text(encoding="utf-8")


@app.command()
def review(
    limit: Limit = 100,
    list_: Annotated[bool, typer.Option("--list", help="Only list them.")] = False,
    imported: Annotated[
        bool, typer.Option("--imported", help="Unaccepted memories that came with the files.")
    ] = False,
    settle: Annotated[
        tuple[str, str] | None,
        typer.Option("--settle", metavar="ID OTHER", help="Accept both memories of a conflict."),
    ] = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Decide about waiting memories, one by one. Without a terminal, list them and conflicts."""
    with open_project(project) as memories:
        if settle:
            known = api.settle_conflict(memories, *settle)
            line = "both are kept as true" if known else "no conflict between them was known"
            show.report({"settled": known}, [line], as_json=as_json)
            raise typer.Exit(0 if known else NO)
        enrolment.register_typed(memories.project, memories.store, memories.environment)
        waiting = api.review_imported(memories, limit) if imported else api.review(memories, limit)
        asks = sys.stdout.isatty() and caller.typed_by_person(os.environ)
        if waiting and asks and not as_json and not list_:
            Review(memories, [memory.id for memory in waiting]).run()
            return show.contradicting(_conflicts(memories))
        show.waiting(waiting, [] if imported else _conflicts(memories), as_json=as_json)
    return None


def _conflicts(memories: Runtime) -> list[tuple[Memory, str]]:
    """Return both memories of each conflict, with the reason."""
    return [
        (api.get(memories, id), f"conflicts with {other}: {pair.reason}")
        for pair in api.list_conflicts(memories)
        for id, other in ((pair.left, pair.right), (pair.right, pair.left))
    ]


@app.command()
def propose(
    branch: Annotated[
        str | None, typer.Option("--branch", help="A new one; else ademem/candidates.")
    ] = None,
    dry_run: DryRun = False,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Commit the candidates to a branch, as a sheet for review."""
    with open_project(project) as memories:
        proposal = api.propose(memories, branch, dry_run=dry_run)
    if as_json:
        return show.json({"dry_run": dry_run} | as_dict(proposal))
    if dry_run:
        show.echo(f"would commit to {proposal.branch}:\n")
        return show.say(proposal.text)
    noun = "candidate" if proposal.count == 1 else "candidates"
    show.echo(f"committed {proposal.count} {noun} to {proposal.branch}")
    show.echo(f"`git push -u origin {proposal.branch}` sends them to be reviewed")
    return None


class Review:
    """A dialogue about waiting memories; each decision can be undone until its end."""

    def __init__(self, memories: Runtime, ids: Sequence[str]) -> None:
        self.memories = memories
        self.ids = ids
        self.at = 0
        self.done: list[tuple[int, str, str]] = []
        """Position, event and name of each decision."""

    def run(self) -> None:
        while self.at < len(self.ids):
            memory = api.get(self.memories, self.ids[self.at])
            waits = memory.status == "candidate" or memory.claimed_author is not None
            if not memory.live or not (memory.quarantine_reason or waits):
                self.at += 1  # decided elsewhere in the meantime
                continue
            self._show(memory)
            self._decide(memory)
        counts = Counter(name for _, _, name in self.done)
        show.echo(", ".join(f"{name} {count}" for name, count in counts.items()) or "nothing done")

    def note(self, memory: Memory, name: str) -> None:
        """Record the last act on the memory, for `undo`."""
        self.done.append(
            (self.at, api.list_revisions(self.memories, memory.id)[-1]["event_id"], name)
        )
        show.say(f"{name} {show.line(memory, 80)}")

    def _show(self, memory: Memory) -> None:
        show.say(f"\n{self.at + 1} of {len(self.ids)}: {waits_for(memory)}\n")
        show.whole(memory)
        if memory.source_session_id:
            show.say(f"session: {memory.source_session_id}")
        if memory.source_branch:
            show.say(f"branch: {memory.source_branch}")
        for other in api.find_similar(self.memories, memory):
            show.say(f"similar: {show.line(other, 100)}")

    def _decide(self, memory: Memory) -> None:
        show.echo()
        try:
            answer = input(f"{', '.join(choice.shown for choice in CHOICES)}? ").strip().lower()
        except (EOFError, KeyboardInterrupt):
            show.echo()
            return _leave(self, memory)
        for choice in CHOICES:
            if answer and choice.name.startswith(answer):
                try:
                    return choice.act(self, memory)
                except AdememError as error:
                    return show.say(f"{error} ({error.hint})" if error.hint else str(error))
        for choice in CHOICES:
            show.echo(f"  {choice.name:<7} {choice.does}")
        return None


class Choice(Value):
    name: str
    """An answer may be its first letters; each name begins with another letter."""
    does: str
    act: Callable[[Review, Memory], None]

    @property
    def shown(self) -> str:
        return f"[{self.name[0]}]{self.name[1:]}"


def _accept(review: Review, memory: Memory) -> None:
    review.note(api.promote(review.memories, memory.id), "accepted")
    review.at += 1


def _pin(review: Review, memory: Memory) -> None:
    review.note(api.promote(review.memories, memory.id, pinned=True), "pinned")
    review.at += 1


def _edit(review: Review, memory: Memory) -> None:
    """Change the text, and ask about it again."""
    text = in_editor(memory.content).strip()
    if text in ("", memory.content):
        return show.echo("nothing was changed")
    return review.note(api.edit(review.memories, memory.id, content=text), "edited")


def _reject(review: Review, memory: Memory) -> None:
    """Archive a memory that is confirmed elsewhere, as a candidate alone can be rejected."""
    confirmed = memory.status == "promoted"
    decide = api.archive if confirmed else api.reject
    review.note(decide(review.memories, memory.id), "rejected")
    review.at += 1


def _skip(review: Review, _memory: Memory) -> None:
    review.at += 1


def _undo(review: Review, _memory: Memory) -> None:
    if not review.done:
        return show.echo("nothing was decided yet")
    at, event, name = review.done[-1]
    api.undo(review.memories, event)
    review.done.pop()
    review.at = at
    return show.echo(f"not {name} after all")


def _leave(review: Review, _memory: Memory) -> None:
    review.at = len(review.ids)


CHOICES = (
    Choice(name="accept", does="confirm it, and approve it if it is quarantined", act=_accept),
    Choice(name="edit", does="correct its text in $EDITOR", act=_edit),
    Choice(name="reject", does="archive it, so that no capture writes it again", act=_reject),
    Choice(name="pin", does="confirm it, and show it in every briefing", act=_pin),
    Choice(name="skip", does="leave it waiting", act=_skip),
    Choice(name="undo", does="take the last decision back", act=_undo),
    Choice(name="quit", does="leave the rest waiting", act=_leave),
)

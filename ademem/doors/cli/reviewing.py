"""Commands by which people review what waits: one after the other here, or in a pull request."""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from ademem import api
from ademem.core import caller
from ademem.core.errors import AdememError
from ademem.core.value import Value
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.curating import in_editor
from ademem.doors.cli.options import AsJson, DryRun, Limit, Project, opened
from ademem.files import enrolment
from ademem.store.transitions import waits_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ademem.core.memory import Memory
    from ademem.store.runtime import Runtime


@app.command()
def review(
    limit: Limit = 100,
    list_: Annotated[bool, typer.Option("--list", help="Only list them.")] = False,
    imported: Annotated[
        bool, typer.Option("--imported", help="What came with the files and was not accepted.")
    ] = False,
    settle: Annotated[
        tuple[str, str] | None,
        typer.Option("--settle", metavar="ID OTHER", help="Accept both memories of a conflict."),
    ] = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Decide about waiting memories, one by one. Without a terminal, list them and conflicts."""
    if settle:
        from ademem.doors.cli import upkeep

        return upkeep.settle(*settle, project)
    with opened(project) as memories:
        runtime = memories
        enrolment.register_typed(runtime.project, runtime.store, runtime.environment)
        waiting = api.review_imported(memories, limit) if imported else api.review(memories, limit)
        asks = sys.stdout.isatty() and caller.typed_by_person(os.environ)
        if waiting and asks and not as_json and not list_:
            Review(memories, [memory.id for memory in waiting]).run()
            return show.clashing(_at_odds(memories))
        show.waiting(waiting, [] if imported else _at_odds(memories), as_json_=as_json)
    return None


def _at_odds(memories: Runtime) -> list[tuple[Memory, str]]:
    """Both of each pair that contradicts itself, and why."""
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
) -> None:
    """Commit the candidates to a branch, as a sheet for review."""
    with opened(project) as memories:
        proposal = api.propose(memories, branch, dry_run=dry_run)
    if dry_run:
        typer.echo(f"would commit to {proposal.branch}:\n")
        return show.say(proposal.text)
    noun = "candidate" if proposal.count == 1 else "candidates"
    typer.echo(f"committed {proposal.count} {noun} to {proposal.branch}")
    typer.echo(f"`git push -u origin {proposal.branch}` sends them to be reviewed")
    return None


class Review:
    """A walk along what waits; every decision can be taken back until the end."""

    def __init__(self, memories: Runtime, ids: Sequence[str]) -> None:
        self.memories = memories
        self.ids = ids
        self.at = 0
        self.done: list[tuple[int, str, str]] = []
        """Place, event and name of each decision."""

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
        typer.echo(", ".join(f"{name} {count}" for name, count in counts.items()) or "nothing done")

    def note(self, memory: Memory, name: str) -> None:
        """Remember the act that just happened to the memory."""
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
            show.say(f"like it: {show.line(other, 100)}")

    def _decide(self, memory: Memory) -> None:
        typer.echo()
        try:
            answer = input(f"{', '.join(choice.shown for choice in CHOICES)}? ").strip().lower()
        except (EOFError, KeyboardInterrupt):
            typer.echo()
            return leave(self, memory)
        for choice in CHOICES:
            if answer and choice.name.startswith(answer):
                try:
                    return choice.act(self, memory)
                except AdememError as error:
                    return show.say(f"{error} ({error.hint})" if error.hint else str(error))
        for choice in CHOICES:
            typer.echo(f"  {choice.name:<7} {choice.does}")
        return None


class Choice(Value):
    name: str
    """Its beginning is enough of an answer; no two begin with the same letter."""
    does: str
    act: Callable[[Review, Memory], None]

    @property
    def shown(self) -> str:
        return f"[{self.name[0]}]{self.name[1:]}"


def accept(review: Review, memory: Memory) -> None:
    review.note(api.promote(review.memories, memory.id), "accepted")
    review.at += 1


def pin(review: Review, memory: Memory) -> None:
    review.note(api.promote(review.memories, memory.id, pinned=True), "pinned")
    review.at += 1


def edit(review: Review, memory: Memory) -> None:
    """The new text is shown, to be decided about."""
    text = in_editor(memory.content).strip()
    if text in ("", memory.content):
        return typer.echo("nothing was changed")
    return review.note(api.edit(review.memories, memory.id, content=text), "edited")


def reject(review: Review, memory: Memory) -> None:
    """What is confirmed elsewhere is archived here, and with the next commit in the files."""
    confirmed = memory.status == "promoted"
    decide = api.archive if confirmed else api.reject
    review.note(decide(review.memories, memory.id), "rejected")
    review.at += 1


def skip(review: Review, _memory: Memory) -> None:
    review.at += 1


def undo(review: Review, _memory: Memory) -> None:
    if not review.done:
        return typer.echo("nothing was decided yet")
    at, event, name = review.done[-1]
    api.undo(review.memories, event)
    review.done.pop()
    review.at = at
    return typer.echo(f"not {name} after all")


def leave(review: Review, _memory: Memory) -> None:
    review.at = len(review.ids)


CHOICES = (
    Choice(name="accept", does="confirm it, and approve it if it is quarantined", act=accept),
    Choice(name="edit", does="correct its text in $EDITOR", act=edit),
    Choice(name="reject", does="archive it; no machine brings it back", act=reject),
    Choice(name="pin", does="confirm it, and show it in every briefing", act=pin),
    Choice(name="skip", does="leave it waiting", act=skip),
    Choice(name="undo", does="take the last decision back", act=undo),
    Choice(name="quit", does="leave the rest waiting", act=leave),
)

"""What can be asked of an open project memory."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress

from ademem import core, curate, exchange, gate, history, mirror, scrub, sites, status
from ademem import search as search_
from ademem import work as work_
from ademem.curate import Act
from ademem.errors import NoSuchMemory
from ademem.model import Draft, Memory, Origin, Trust
from ademem.search import UNARCHIVED, Filters, as_shown
from ademem.search.recall import recall
from ademem.sites import tree, verify
from ademem.store import LIVE, logs, memories
from ademem.store.turns import TurnKey
from ademem.value import replace
from ademem.work import Shift

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime
    from types import TracebackType
    from typing import Any, Self

    from ademem.capture.review import Captured
    from ademem.core import CoreMemory
    from ademem.exchange import Imported
    from ademem.gate import Step, Written
    from ademem.history import Event
    from ademem.mirror import Problem, Refreshed
    from ademem.runtime import Runtime
    from ademem.scrub import Scrubbed
    from ademem.search import Results
    from ademem.sites.verify import Checked

    Rows = list[dict[str, Any]]
    Kinds = list[str]
    Steps = list[Step]
    Found = list[Memory]
    Events = list[Event]
    Places = list[Checked]
    Tell = Callable[[str], None]


class Memories:
    """An open project memory; a context manager."""

    def __init__(self, runtime: Runtime, now: Callable[[], datetime]) -> None:
        self.runtime = runtime
        self._now = now

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Also tells the hooks where the memories that changed come up by themselves."""
        with suppress(sqlite3.OperationalError):  # read-only, or busy: a hook does it
            sites.refresh(self.runtime)
        self.runtime.close()

    def write(self, draft: Draft | str) -> Written:
        """Ask the gate; a plain text is a fact from an agent."""
        return gate.write(
            self._draft(draft), self.runtime.store, self.runtime.settings.gate, self._now()
        )

    def explain(self, draft: Draft | str) -> Steps:
        """What each rule of the gate would say; nothing is written."""
        return gate.explain(
            self._draft(draft), self.runtime.store, self.runtime.settings.gate, self._now()
        )

    def learn(
        self,
        text: str,
        *,
        prefix: str = "LEARNED",
        bead: str | None = None,
        tags: Iterable[str] = (),
        key: str | None = None,
        cwd: str | None = None,
    ) -> Written:
        """The entry that `bd comment … LEARNED:` makes, without `bd`."""
        from ademem.capture.learned import source_of
        from ademem.capture.lessons import Lesson, draft_of

        lesson = Lesson(content=text, prefix=prefix, bead=bead, key=key, tags=tuple(tags))
        origin = Origin(
            trust=self.speaker,
            source_type=source_of(cwd or os.getcwd()),
            session_id=self.session_id,
        )
        return self.write(draft_of(lesson, origin))

    def capture_feedback(self, text: str) -> Captured:
        """Candidates from what `gh` prints about a pull request; raises BadFeedback."""
        from ademem.capture.review import capture

        return capture(text, self.runtime)

    def search(
        self, query: str, filters: Filters | None = None, limit: int | None = None
    ) -> Results:
        """Rank what answers *query*; all it leaves is the note, in a session, that it ran."""
        results = search_.search(
            query,
            self.runtime.store,
            self.runtime.settings.search,
            filters or Filters(),
            self._now(),
            limit=limit,
        )
        if self.session_id:
            logs.shown(
                self.runtime.store,
                "search",
                as_shown(results.hits),
                self._now(),
                key=self._session_key,
            )
        return results

    def recall(
        self, query: str, filters: Filters | None = None, limit: int | None = None
    ) -> Results:
        """A search that counts an access for what it returns."""
        return recall(
            query,
            self.runtime.store,
            self.runtime.settings.search,
            filters or Filters(),
            self._now(),
            limit,
            key=self._session_key,
        )

    def verify(self, *, fix: bool = False) -> Places:
        """How every place that a memory is tied to stands; *fix* follows what moved."""
        found = verify.check(self.runtime.project, self.runtime.store)
        if not fix:
            return found
        return verify.fix(found, self.runtime.store, self._now(), self._act().actor)

    def astray(self, found: Iterable[Memory]) -> dict[str, str]:
        """By id: moved, changed or gone, for memories whose place in the code is not as noted."""
        return verify.states(found, self.runtime.project)

    def get(self, id: str) -> Memory:
        """One memory whole, by id, sync id or the beginning of its id; raises NoSuchMemory."""
        return memories.get(self.runtime.store, id)

    def list(self, filters: Filters | None = None, limit: int | None = 100) -> Found:
        """Memories by filter, newest first, not ranked; by default all but the archive."""
        return search_.listed(self.runtime.store, filters or Filters(statuses=UNARCHIVED), limit)

    def review(self, limit: int | None = 100) -> Found:
        """What waits for a person's word: first what is quarantined, then candidates, by age."""
        return memories.find(
            self.runtime.store,
            f"(quarantine_reason is not null or status = 'candidate') and {LIVE}",
            "order by quarantine_reason is null, created_at, seq limit :limit",
            limit=-1 if limit is None else limit,
        )

    def history(self, id: str) -> Rows:
        """All revisions of one memory, oldest first; of a hard-deleted one the end remains."""
        try:
            id = self.get(id).id
        except NoSuchMemory:
            if not memories.revisions(self.runtime.store, id):
                raise
        return memories.revisions(self.runtime.store, id)

    def log(self, limit: int = 20) -> Events:
        """What was done to memories, newest first."""
        return history.log(self.runtime.store, limit)

    def at(self, moment: datetime) -> Found:
        """The memories of that moment, newest first."""
        return history.at(self.runtime.store, moment)

    def undo(self, event: str, *, dry_run: bool = False) -> Found:
        """Take one act back whole; the undoing is an act like any other, and can be undone."""
        return history.undo(event, self._act(), dry_run=dry_run)

    def promote(self, id: str) -> Memory:
        return self._decided(curate.promote, id)

    def reject(self, id: str) -> Memory:
        return self._decided(curate.reject, id)

    def archive(self, id: str) -> Memory:
        return self._decided(curate.archive, id)

    def restore(self, id: str) -> Memory:
        return self._decided(curate.restore, id)

    def delete(self, id: str, *, hard: bool = False) -> Memory:
        return curate.delete(id, self._act(), hard=hard)

    def pin(self, id: str, *, pinned: bool = True) -> Memory:
        return self._decided(curate.pin, id, pinned=pinned)

    def edit(self, id: str, **changes: Any) -> Memory:
        """Change content, title, category, importance, tags, file_scope_pattern or anchors."""
        if "anchors" in changes:
            changes["anchors"] = self._noted(changes["anchors"])
        return self._decided(curate.edit, id, self.runtime.settings.gate, **changes)

    def core(self) -> CoreMemory | None:
        return core.load(self.runtime.store)

    def update_core(
        self, changes: Mapping[str, Any], *, expect_version: int | None = None
    ) -> CoreMemory:
        """Replace the given fields of the standing brief; raises when somebody was faster."""
        return core.patch(
            self.runtime.store,
            self.runtime.project,
            changes,
            self._now(),
            expect_version=expect_version,
            by_person=self.speaker is Trust.USER,
        )

    def refresh_files(self, *, force: bool = False) -> Refreshed:
        """Take over edits of `.ade/memory/`, then render it; *force* drops the edits instead."""
        return mirror.refresh(
            self.runtime.project,
            self.runtime.store,
            self.runtime.settings,
            self._now(),
            force=force,
        )

    def check_files(self) -> tuple[Problem, ...]:
        return mirror.check(self.runtime.project, self.runtime.store, self.runtime.settings.mirror)

    def export(self, *, include_personal: bool = False) -> Iterator[dict[str, Any]]:
        return exchange.export_lines(self.runtime.store, include_personal=include_personal)

    def import_lines(
        self, lines: Iterable[str], on_progress: Callable[[int], None] | None = None
    ) -> Imported:
        """Read JSON lines through the gate; bad lines are reported, never fatal."""
        return exchange.import_lines(
            lines, self.runtime.store, self.runtime.settings, self._now(), on_progress
        )

    def scrub(self, *, dry_run: bool = False) -> Scrubbed:
        """Redact all that is stored already; raises Busy when others hold the database."""
        return scrub.scrub(self.runtime, dry_run=dry_run)

    def refusals(self, limit: int = 20) -> Rows:
        return logs.refusals(self.runtime.store, limit)

    def decisions(self, limit: int = 20) -> Rows:
        return logs.decisions(self.runtime.store, limit)

    def work(self, *, retry: bool = False, on_progress: Tell | None = None) -> Kinds:
        """Do what is due now and tell its kinds; *retry* includes what gave up."""
        shift = Shift(self.runtime, self._now, work_.installed(self.runtime), tell=on_progress)
        return work_.run_due(shift, retry=retry)

    def status(self) -> dict[str, Any]:
        """Health in numbers; the keys are those of `ademem status --json`."""
        return status.overview(self.runtime)

    def stats(self) -> dict[str, Any]:
        """Counts of what was learned; the keys are those of `ademem recall --stats --json`."""
        return status.knowledge(self.runtime)

    def guard_state(self) -> dict[str, Any]:
        """Mode, turns under way, and the newest decisions."""
        return status.guard(self.runtime)

    @property
    def session_id(self) -> str | None:
        """The client session this process runs in, if any."""
        return self.runtime.environment.get("CLAUDE_CODE_SESSION_ID") or None

    @property
    def speaker(self) -> Trust:
        """Whose word a command brings: a person's, or that of whoever runs in a client's shell."""
        if self.session_id:
            from ademem.capture.heard import trust_in

            return trust_in(self.session_id, self.runtime.store)
        return Trust.AGENT if self.runtime.environment.get("CLAUDECODE") else Trust.USER

    @property
    def _session_key(self) -> TurnKey | None:
        return TurnKey(session_id=self.session_id) if self.session_id else None

    def _draft(self, draft: Draft | str) -> Draft:
        if isinstance(draft, str):
            draft = Draft(content=draft)
        if draft.origin.session_id is None:
            draft = replace(draft, origin=replace(draft.origin, session_id=self.session_id))
        if not draft.anchors:
            return draft
        return replace(draft, anchors=self._noted(draft.anchors))

    def _noted(self, anchors: Iterable[str]) -> tuple[str, ...]:
        """As they are stored; raises NoSuchPlace or NoSuchCommand."""
        return tree.all_noted(anchors, self.runtime.project.root, os.getcwd())

    def _decided(
        self, decide: Callable[..., Memory], id: str, *arguments: Any, **options: Any
    ) -> Memory:
        """Look and change in one transaction: of two people who edit, none undoes the other."""
        with self.runtime.store.transaction():
            return decide(id, self._act(), *arguments, **options)

    def _act(self) -> Act:
        return Act(
            store=self.runtime.store,
            now=self._now(),
            actor=self.speaker,
            session_id=self.session_id,
        )

"""What can be asked of an open project memory."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress

from ademem.api.briefings import Telling
from ademem.api.missions import Missions
from ademem.api.practice import Practice
from ademem.api.upkeep import Upkeep
from ademem.capture import gate
from ademem.core import worktree
from ademem.core.memory import Draft, Memory, Origin, Trust
from ademem.core.repository import under_way
from ademem.core.text import preview
from ademem.core.value import replace
from ademem.files import standing_brief
from ademem.search import embedding
from ademem.search import engine as search_
from ademem.search.engine import UNARCHIVED, Filters, as_shown
from ademem.search.recall import recall
from ademem.store import embeddings, jobs, logs
from ademem.synthesis import anchor_verification

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime
    from typing import Any

    from ademem.api.scrub import Scrubbed
    from ademem.capture.gate import Step, Written
    from ademem.capture.review import Captured
    from ademem.files.formats import Imported
    from ademem.files.standing_brief import CoreMemory
    from ademem.search.embedding import Embedder
    from ademem.search.engine import Results
    from ademem.store.runtime import Runtime
    from ademem.sync import Problem, Refreshed, Taken
    from ademem.synthesis.anchor_verification import Checked

    Rows = list[dict[str, Any]]
    Steps = list[Step]
    Found = list[Memory]
    Places = list[Checked]


SIMILAR_CHARS = 300
"""Beginning of a text by which others like it are found."""


class Memories(Practice, Missions, Telling, Upkeep):
    """An open project memory; a context manager."""

    def __init__(self, runtime: Runtime, now: Callable[[], datetime]) -> None:
        super().__init__(runtime, now)
        self._model: Embedder | None = None

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
        from ademem.capture.learned_drafts import Lesson, draft_of

        lesson = Lesson(content=text, prefix=prefix, bead=bead, key=key, tags=tuple(tags))
        origin = Origin(
            trust=self.speaker,
            source_type=source_of(cwd or os.getcwd()),
            session_id=self.session_id,
        )
        return self.write(self.at_home(draft_of(lesson, origin)))

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
            self._from_memory(filters),
            self._now(),
            limit=limit,
            embedder=self._embedder(),
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

    def similar(self, memory: Memory, limit: int = 3) -> Found:
        """Others that speak of the same, by their words; leaves no trace."""
        found = search_.search(
            preview(memory.content, SIMILAR_CHARS),
            self.runtime.store,
            self.runtime.settings.search,
            Filters(statuses=UNARCHIVED),
            self._now(),
            limit=limit + 1,
        )
        return [hit.memory for hit in found.hits if hit.memory.id != memory.id][:limit]

    def recall(
        self, query: str, filters: Filters | None = None, limit: int | None = None
    ) -> Results:
        """A search that counts an access for what it returns."""
        return recall(
            query,
            self.runtime.store,
            self.runtime.settings.search,
            self._from_memory(filters),
            self._now(),
            limit,
            key=self._session_key,
            embedder=self._embedder(),
        )

    def verify(self, *, fix: bool = False) -> Places:
        """How every place that a memory is tied to stands; *fix* follows what moved."""
        found = anchor_verification.check(self.runtime.project, self.runtime.store)
        act = self._act()
        return anchor_verification.fix(found, act.store, act.now, act.actor) if fix else found

    def astray(self, found: Iterable[Memory]) -> dict[str, str]:
        """By id: moved, changed or gone, for memories whose place in the code is not as noted."""
        return anchor_verification.states(found, self.runtime.project)

    def list(self, filters: Filters | None = None, limit: int | None = 100) -> Found:
        """Memories by filter, newest first, not ranked; by default all but the archive."""
        filters = filters or Filters(statuses=UNARCHIVED, mission=self.mission)
        return search_.listed(self.runtime.store, filters, limit)

    def core(self, *, labelled: bool = False) -> CoreMemory | None:
        """The standing brief, the newer of file and database; raises BadCore for a broken file.

        *labelled* says of each text that an agent set that it did.
        """
        store, project = self.runtime.store, self.runtime.project
        found = standing_brief.newest(store, project, source=self._file_source)
        return standing_brief.labelled(store, found) if labelled else found

    def update_core(
        self, changes: Mapping[str, Any], *, expect_version: int | None = None
    ) -> CoreMemory:
        """Replace the given fields of the standing brief; raises when somebody was faster."""
        return standing_brief.patch(
            self.runtime.store,
            self.runtime.project,
            changes,
            self._now(),
            expect_version=expect_version,
            by_person=self.speaker is Trust.USER,
            source=self._file_source,
        )

    def refresh_files(
        self, *, force: bool = False, tell: Callable[[int, int], None] | None = None
    ) -> Refreshed:
        """Take over edits of `.ade/memory/`, then render it; *force* drops the edits instead."""
        from ademem import sync  # a search need not wait for what others load

        return sync.refresh(
            self.runtime.project,
            self.runtime.store,
            self.runtime.settings,
            self._now(),
            force=force,
            tell=tell,
            environment=self.runtime.environment,
        )

    def take_over_files(self, *, tell: Callable[[int, int], None] | None = None) -> Taken:
        """Take over edits of the files, and leave the files as they are."""
        from ademem import sync

        runtime = self.runtime
        return sync.take_over(
            *(runtime.project, runtime.store, runtime.settings, self._now()),
            tell=tell,
            environment=runtime.environment,
        )

    def import_waiting(self, tell: Callable[[int, int], None] | None = None) -> None:
        """Import what a hook left to the worker, which may not run here.

        A store that cannot be written is read as it is.
        """
        runtime = self.runtime
        if worktree.import_waits(runtime.project) and not under_way(runtime.project.root):
            with suppress(sqlite3.OperationalError, OSError):
                self.take_over_files(tell=tell)
                jobs.queue(runtime.store, "mirror", "project", self._now())

    def check_files(self) -> tuple[Problem, ...]:
        from ademem import sync

        return sync.check(self.runtime.project, self.runtime.store, self.runtime.settings.mirror)

    def export(self, *, include_personal: bool = False) -> Iterator[dict[str, Any]]:
        from ademem.files import formats

        return formats.export_lines(self.runtime.store, include_personal=include_personal)

    def import_lines(
        self, lines: Iterable[str], on_progress: Callable[[int], None] | None = None
    ) -> Imported:
        """Read JSON lines through the gate; bad lines are reported, never fatal."""
        from ademem.files import formats

        return formats.import_lines(
            lines,
            self.runtime.store,
            self.runtime.settings,
            self._now(),
            on_progress,
            mission=self.mission,
        )

    def import_beads(self, source: str) -> Imported:
        """Read the knowledge of a Beads project; bad lines are kept in `.ade/log/`, redacted."""
        from ademem.files.formats import beads

        runtime = self.runtime
        imported = beads.bring(source, runtime.store, runtime.settings.gate, self._now())
        beads.put_aside(imported.misread, runtime.project)
        return imported

    def scrub(self, *, dry_run: bool = False) -> Scrubbed:
        """Redact all that is stored already; raises Busy when others hold the database."""
        from ademem.api import scrub

        return scrub.scrub(self.runtime, dry_run=dry_run)

    def refusals(self, limit: int = 20) -> Rows:
        return logs.refusals(self.runtime.store, limit)

    def decisions(self, limit: int = 20) -> Rows:
        return logs.decisions(self.runtime.store, limit)

    def status(self) -> dict[str, Any]:
        """Health in numbers; the keys are those of `ademem status --json`."""
        from ademem.api import status

        self.runtime.now = self._now()
        return status.overview(self.runtime)

    def stats(self) -> dict[str, Any]:
        """Counts of what was learned; the keys are those of `ademem recall --stats --json`."""
        from ademem.api import status

        return status.knowledge(self.runtime)

    def cost(self, days: int = 30) -> dict[str, Any]:
        """What an AI and the hooks took; the keys are those of `ademem cost --json`."""
        from ademem.api import status

        return status.cost(self.runtime, days)

    def guard_state(self) -> dict[str, Any]:
        """Mode, turns under way, and the newest decisions."""
        from ademem.api import status

        return status.guard(self.runtime)

    def _from_memory(self, filters: Filters | None) -> Filters:
        """Who asks may be told what faded."""
        return replace(self._from_here(filters), faded=True)

    def _from_here(self, filters: Filters | None) -> Filters:
        filters = filters or Filters()
        return replace(
            filters,
            here=filters.here or self.runtime.branch,
            mission=filters.mission or self.mission,
        )

    def _embedder(self) -> Embedder | None:
        """The model, loaded when a search first needs it; None when words have to do."""
        runtime = self.runtime
        wanted = embedding.model_id(runtime.settings.embed)
        if not (runtime.settings.search.hybrid and embeddings.has_any(runtime.store, wanted)):
            return None
        if self._model is None:
            try:
                self._model = embedding.load_aside(runtime.settings.embed, runtime.environment)
            except embedding.DamagedModel:  # `doctor` tells; the words are there all the same
                return None
        return self._model

    def _draft(self, draft: Draft | str) -> Draft:
        if isinstance(draft, str):
            draft = Draft(content=draft)
        origin = replace(
            draft.origin,
            session_id=draft.origin.session_id or self.session_id,
            branch=draft.origin.branch or self.runtime.branch,
        )
        return replace(draft, origin=origin, anchors=self._noted(draft.anchors))

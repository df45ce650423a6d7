"""What a person does to memories that are there, and what was done to them before."""

from __future__ import annotations

from ademem.api import history
from ademem.api.opened import Opened
from ademem.core.errors import NoSuchMemory
from ademem.core.memory import Memory
from ademem.core.value import replace
from ademem.files import standing_brief
from ademem.store import briefs, memories, memory_queries, transitions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from ademem.api.history import Event
    from ademem.sync.proposal import Proposal

    Rows = list[dict[str, Any]]
    Found = list[Memory]
    Events = list[Event]


class Curation(Opened):
    """One memory at a time."""

    def get(self, id: str) -> Memory:
        """One memory whole, by id, sync id or the beginning of its id; raises NoSuchMemory."""
        return memories.get(self.runtime.store, id)

    def review(self, limit: int | None = 100) -> Found:
        """What waits for a person's word: first what is quarantined, then candidates, by age."""
        return memory_queries.in_review(self.runtime.store, limit)

    def imported(self, limit: int | None = 100) -> Found:
        """What came with the files and was not accepted: first what is quarantined, then by age."""
        return memory_queries.claimed(self.runtime.store, limit)

    def accept_files(self) -> int:
        """Accept all that came with the files, briefs too, but for quarantined texts.

        Return how many memories these are.
        """
        with self.runtime.store.transaction():
            standing_brief.accept(self.runtime.store)
            return transitions.accept_all(replace(self._act(), event_id=memories.new_event()))

    def claimed_briefs(self) -> tuple[str, ...]:
        """Texts of standing briefs that came with the files and were not accepted."""
        store = self.runtime.store
        documents = (
            standing_brief.load(store, agent) for agent in ("", *sorted(briefs.agents(store)))
        )
        return tuple(text for document in documents if document for text in document.claimed)

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

    def promote(self, id: str, *, pinned: bool = False) -> Memory:
        return self._decided(transitions.promote, id, pinned=pinned)

    def reject(self, id: str) -> Memory:
        return self._decided(transitions.reject, id)

    def archive(self, id: str) -> Memory:
        return self._decided(transitions.archive, id)

    def restore(self, id: str) -> Memory:
        return self._decided(transitions.restore, id)

    def delete(self, id: str, *, hard: bool = False) -> Memory:
        return transitions.delete(id, self._act(), hard=hard)

    def pin(self, id: str, *, pinned: bool = True) -> Memory:
        return self._decided(transitions.pin, id, pinned=pinned)

    def edit(self, id: str, **changes: Any) -> Memory:
        """Change content, title, category, importance, tags, file_scope_pattern or anchors."""
        if "anchors" in changes:
            changes["anchors"] = self._noted(changes["anchors"])
        return self._decided(transitions.edit, id, self.runtime.settings.gate, **changes)

    def propose(self, branch: str | None = None, *, dry_run: bool = False) -> Proposal:
        """Commit the sheet of candidates to a new branch; raises CannotPropose."""
        from ademem.sync import proposal

        return proposal.propose(
            self.runtime.project,
            self.runtime.store,
            self.runtime.settings.mirror,
            branch or proposal.BRANCH,
            dry_run=dry_run,
        )

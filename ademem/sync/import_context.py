"""One import of files: its store and settings, where the changes come from, and what was done."""

from __future__ import annotations

from ademem.capture import gate
from ademem.core.memory import Draft, Trust
from ademem.core.text import sha256_hex
from ademem.core.value import replace
from ademem.files.records import Import
from ademem.files.snapshot import Placed
from ademem.files.texts import Problem, digests_of
from ademem.guard.injection import instruction_in
from ademem.store import ledger, transitions
from ademem.store.transitions import Act, CannotDo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from ademem.core.memory import Memory
    from ademem.core.settings import GateSettings
    from ademem.files.branches import Place
    from ademem.store import Store
    from ademem.sync.differences import Difference
    from ademem.sync.git_history import GitHistory
    from ademem.sync.merge_base import Base
    from ademem.sync.provenance import Provenance, Source

SOURCE = "file"


class ImportContext:
    """One import: its target, its sources, and its results so far."""

    def __init__(
        self,
        base: Base,
        history: GitHistory,
        store: Store,
        settings: GateSettings,
        now: datetime,
        place: Place | None,
        provenance: Provenance,
        event: str,
    ) -> None:
        self.event = event
        branch = place.branch if place else None
        self.act = Act(store=store, now=now, actor=Trust.IMPORT, branch=branch, event_id=self.event)
        self.job = Import(store=store, settings=settings, now=now, event_id=self.event)
        self.history = history
        self.provenance = provenance
        self.place = place
        self.before = digests_of(base.texts)
        self.done: dict[str, list[str]] = {}
        self.problems: list[Problem] = []
        self.ignored: list[Problem] = []
        """Problems that count as imported without an effect, so that they are reported once."""
        self.later: list[Difference] | None = []
        """Differences that wait for the others; None once these are imported."""

    def continue_as(self, event: str) -> None:
        """Make further changes part of this act."""
        self.event = event
        self.act = replace(self.act, event_id=event)
        self.job = replace(self.job, event_id=event)

    def emptied(self) -> tuple[dict[str, list[str]], list[Problem]]:
        """Return and clear the results and problems."""
        found = self.done, self.problems
        self.done, self.problems = {}, []
        return found

    def is_new(self, item: Placed) -> bool:
        """Claim the item; return False if a killed import took it from the same file before."""
        return ledger.claim(self.act.store, SOURCE, self._key(item), self.act.now)

    def keep(self, draft: Draft, item: Placed) -> None:
        """Pass the item to the gate; a refused one is reported at each import."""
        act = self.act
        written = gate.write(draft, act.store, self.job.settings, act.now, event_id=self.event)
        if written.memory is None:
            ledger.release(act.store, SOURCE, self._key(item))
            raise CannotDo(f"not kept ({written.rule}): {written.reason}")
        self.note("edited" if written.deduped else "added", written.memory.id)

    def _key(self, item: Placed) -> str:
        file = self.before.get(item.path) or sha256_hex("")
        return sha256_hex(item.path, file, str(item.entry.line), *map(str, item.said))

    def waits_on(self, id: str | None, key: str | None) -> str | None:
        """Return the branch that a memory from the files waits on."""
        return self.place.waits_on(id, key) if self.place else None

    def by(self, source: Source) -> Act:
        """Return the act with this source as its actor."""
        return replace(self.act, actor=source.trust, claimed_author=source.author)

    def edit(self, known: Memory, changes: Mapping[str, Any], source: Source) -> None:
        """Edit the memory; raises CannotDo for instructions, which need a person's command."""
        if not changes:
            return
        whole = {"title": known.title, "content": known.content}
        said = (whole if whole.keys() & changes.keys() else {}) | dict(changes)
        shape = instruction_in("\n".join(map(str, filter(None, said.values()))))
        if shape:
            raise CannotDo(
                f"{known.id} was edited to a text that {shape}", "`ademem edit` takes it"
            )
        transitions.edit(known.id, self.by(source), self.job.settings, **changes)
        self.note("edited", known.id)

    def job_of(self, source: Source, **changes: Any) -> Import:
        """Return the settings of an import from this source, with the trust of a file at most."""
        trust = source.trust if source.by_agent else Trust.IMPORT
        return replace(self.job, trust=trust, claimed_author=source.author, **changes)

    def note(self, what: str, id: str) -> None:
        self.done.setdefault(what, []).append(id)

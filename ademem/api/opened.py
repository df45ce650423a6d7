"""A project memory that is open, and who speaks to it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress

from ademem.capture import provenance
from ademem.core import client
from ademem.core.memory import Memory, Trust
from ademem.core.turn import TurnKey
from ademem.files import standing_brief
from ademem.search import hints
from ademem.store.transitions import Act
from ademem.synthesis import working_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime
    from types import TracebackType
    from typing import Any, Self

    from ademem.files.standing_brief import BadCore, CoreMemory, FileSource
    from ademem.store.runtime import Runtime


class Closing:
    """Closes what it opened; a context manager."""

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
        self.runtime.close()

    def core_news(self) -> tuple[CoreMemory | None, BadCore | None]:
        """What the file of the standing brief says that was not taken over, or why it cannot be."""
        return standing_brief.news(self.runtime.store, self.runtime.project)


class Opened(Closing):
    def close(self) -> None:
        """Also tells the hooks where the memories that changed come up by themselves."""
        with suppress(sqlite3.OperationalError):  # read-only, or busy: a hook does it
            hints.refresh(self.runtime)
        super().close()

    @property
    def session_id(self) -> str | None:
        """The client session this process runs in, if any."""
        return client.session_of(self.runtime.environment) or None

    @property
    def speaker(self) -> Trust:
        """Whose word a command brings: a person's, or that of whoever runs in a client's shell."""
        return provenance.speaker(self.runtime.environment, self.runtime.store)

    @property
    def _session_key(self) -> TurnKey | None:
        return TurnKey(session_id=self.session_id) if self.session_id else None

    def _file_source(self, path: str) -> FileSource:
        """Where changes in the file of a brief come from, which were not taken over yet."""
        from ademem.sync import provenance_of

        runtime = self.runtime
        return provenance_of(runtime.project, runtime.store, runtime.environment).of_brief(path)

    def _noted(self, anchors: Iterable[str]) -> tuple[str, ...]:
        """As they are stored; raises NoSuchPlace or NoSuchCommand."""
        return working_tree.all_noted(anchors, self.runtime.project.root, os.getcwd())

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
            branch=self.runtime.branch,
        )

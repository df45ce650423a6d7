"""The files of a project beside what is known, looked at and left alone."""

from __future__ import annotations

from ademem.api.opened import Closing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from ademem.store.runtime import Runtime
    from ademem.sync import Preview, Problem, Taken


class Inspection(Closing):
    """Of a fresh clone, what its files make of an empty store in memory."""

    def __init__(self, runtime: Runtime, now: Callable[[], datetime], read: Taken | None) -> None:
        super().__init__(runtime, now)
        self.read = read
        """What the empty store was told; None: there is a database."""

    def check(self) -> tuple[Problem, ...]:
        """What is wrong with the files, by file and line."""
        from ademem import sync

        runtime = self.runtime
        return sync.check(
            runtime.project,
            runtime.store,
            runtime.settings.mirror,
            runtime.settings.gate,
            read=self.read,
        )

    def preview(self, *, force: bool = False) -> Preview:
        """What an import would tell the store, and a refresh would write; *force* drops edits."""
        from ademem import sync

        runtime = self.runtime
        if self.read is None:
            return sync.preview(
                runtime.project,
                runtime.store,
                runtime.settings,
                self._now(),
                force=force,
                environment=runtime.environment,
            )
        return sync.preview_aside(runtime.project, runtime.store, runtime.settings)

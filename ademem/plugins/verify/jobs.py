"""The job that checks anchors."""

from __future__ import annotations

from ademem.worker.running import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.store.jobs import Job
    from ademem.worker.running import JobContext


def anchors(context: JobContext, _job: Job) -> None:
    from ademem.plugins.verify.anchor_verification import verify

    verify(context.runtime.project, context.store, context.now())


JOBS = (Kind(name="anchors", run=anchors, before="digest"),)

"""The jobs that learn procedures from sessions, and read the files of skills."""

from __future__ import annotations

from ademem.core.value import as_dict
from ademem.store import memory_queries
from ademem.worker.running import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.store.jobs import Job
    from ademem.worker.running import JobContext


def skills(context: JobContext, _job: Job) -> None:
    from ademem.plugins.procedures import skill_registry

    scanned = skill_registry.scan(context.runtime, context.now())
    context.figures |= {name: len(found) for name, found in as_dict(scanned).items()}


def procedures(context: JobContext, _job: Job) -> None:
    from ademem.plugins.procedures import export, learning

    model = context.model.id if context.model else None
    context.figures |= learning.learn(context.runtime, context.now(), model)
    if context.runtime.settings.skills.export:
        exported = export.export_all(context.runtime, context.now())
        context.figures["written"] = sum(each.outcome == export.WRITTEN for each in exported)


def is_learning_needed(context: JobContext) -> bool:
    """Return True where a procedure was promoted, changed or imported."""
    export = context.runtime.settings.skills.export
    return memory_queries.any_procedure(context.store, export=export)


JOBS = (
    Kind(name="procedures", run=procedures, needed=is_learning_needed, before="digest"),
    Kind(name="skills", run=skills, before="digest"),
)

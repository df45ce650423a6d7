"""Run the background's work now: due jobs, ageing, merging."""

from __future__ import annotations

from ademem import worker
from ademem.worker import running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ademem.store.runtime import Runtime
    from ademem.synthesis.consolidation import Consolidated
    from ademem.synthesis.sweeping import Swept


def work(
    runtime: Runtime,
    *,
    retry: bool = False,
    wait: bool = False,
    on_progress: Callable[[str], None] | None = None,
) -> list[str]:
    """Run the jobs that are due and return their kinds; *retry* includes parked ones.

    With *wait*, jobs of another worker are complete when this returns.
    """
    installed = running.installed(runtime)
    shift = running.JobContext(runtime, runtime.clock, installed, tell=on_progress)
    return running.run_due(shift, retry=retry, wait=wait)


def is_worker_running(runtime: Runtime) -> bool:
    return worker.is_running(runtime.project)


def sweep(runtime: Runtime, *, dry_run: bool = False) -> Swept:
    """Age the memories; the result's `id` is the event that `undo` takes back."""
    from ademem.synthesis import sweeping

    if dry_run:
        return sweeping.preview_sweep(runtime.store, runtime.settings.lifecycle, runtime.clock())
    return sweeping.sweep_locked(runtime, runtime.clock())


def consolidate(runtime: Runtime, *, dry_run: bool = False) -> Consolidated:
    """Merge memories of the same meaning; the result's `id` is what `undo` takes back."""
    from ademem.search.embedding import model_id
    from ademem.synthesis import consolidation

    run = consolidation.Run(
        store=runtime.store,
        settings=runtime.settings,
        model=model_id(runtime.settings.embed),
        write=consolidation.ai_writer(runtime),
    )
    if dry_run:
        return consolidation.preview(run)
    return consolidation.consolidate_locked(runtime, run, runtime.clock)

"""Places that calls may meet, derived before the next call; candidates wait for the worker."""

from __future__ import annotations

from ademem.store import bindings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.store.runtime import Runtime


def refresh(runtime: Runtime) -> None:
    if bindings.is_shown_due(runtime.store):
        from ademem.search import binding

        binding.refresh(runtime)

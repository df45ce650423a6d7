"""The map of the stored vectors, and the memories of an area."""

from __future__ import annotations

from ademem.search.vector_map import read_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.memory import Memory
    from ademem.search.vector_map import Area, Map
    from ademem.store.runtime import Runtime


def get_map(runtime: Runtime) -> Map | None:
    """Return the map as it was last computed; None without one, or where the file is damaged."""
    return read_map(runtime.project)


def list_area(runtime: Runtime, found: Map, area: Area, limit: int) -> tuple[list[Memory], int]:
    """Return the newest memories of an area that may be shown, and how many points it has."""
    from ademem.core.memory import Status
    from ademem.store.filters import Filters, visible

    rows = found.within(area)
    statuses = tuple(Status)
    return visible(rows, runtime.store, Filters(statuses=statuses), statuses, limit), len(rows)


def request_map(runtime: Runtime) -> None:
    """Have the worker compute the map; from then on it is kept up to date."""
    from ademem import worker
    from ademem.store import jobs

    jobs.queue(runtime.store, "map", "project", runtime.clock())
    worker.start(runtime)


def is_map_requested(runtime: Runtime) -> bool:
    from ademem.store import jobs

    return bool(jobs.list_due(runtime.store, "map", runtime.clock()))


def has_vectors(runtime: Runtime) -> bool:
    from ademem.search.embedding import model_id
    from ademem.store import embeddings

    return embeddings.has_any(runtime.store, model_id(runtime.settings.embed))

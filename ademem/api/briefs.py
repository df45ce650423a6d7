"""Briefs of the project and of its agents."""

from __future__ import annotations

from ademem.core.memory import Trust
from ademem.files import agents, project_brief
from ademem.store import identities

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ademem.files.agents import Agent
    from ademem.files.project_brief import CoreMemory, FileSource
    from ademem.store.runtime import Runtime


def get_brief(runtime: Runtime, agent: str = "", *, labelled: bool = False) -> CoreMemory | None:
    """Return the newer of file and database, for one *agent* or else for all.

    *labelled* marks each text that an agent set. Raises BadCore for a broken file.
    """
    store, project = runtime.store, runtime.project

    def source(path: str) -> FileSource:
        return _source(runtime, path)

    if agent:
        found = agents.brief(store, project, agents.folder(agent), source)
    else:
        found = project_brief.newest(store, project, source=source)
    return project_brief.labelled(store, found) if labelled else found


def update_brief(
    runtime: Runtime,
    changes: Mapping[str, Any],
    agent: str = "",
    *,
    expect_version: int | None = None,
) -> CoreMemory:
    """Replace the given fields; raises when another update came first."""
    from ademem.capture import provenance

    document = project_brief.patch(
        runtime.store,
        runtime.project,
        changes,
        runtime.clock(),
        expect_version=expect_version,
        by_person=provenance.trust_of_caller(runtime.environment, runtime.store) is Trust.USER,
        source=lambda path: _source(runtime, path),
        **({"agent": agents.folder(agent)} if agent else {}),
    )
    if agent:
        identities.meet(runtime.store, agent, runtime.clock())
    return document


def list_agents(runtime: Runtime) -> list[Agent]:
    """List agents that worked here, have memories or a brief, by name."""
    return agents.listed(runtime.store, runtime.project)


def _source(runtime: Runtime, path: str) -> FileSource:
    """Find where changes in the file of a brief come from that are not imported yet."""
    from ademem.sync import provenance_of

    found = provenance_of(runtime.project, runtime.store, runtime.environment)
    return found.of_brief(path)

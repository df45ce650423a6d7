"""Agents that work here: each kind has a folder, memories and its own brief."""

from __future__ import annotations

import os

from ademem.core import confined
from ademem.core.text import sha256_hex, slug
from ademem.core.value import Value
from ademem.files import project_brief
from ademem.files.project_brief import BadCore
from ademem.store import briefs, identities

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ademem.core.project import Project
    from ademem.files.project_brief import CoreMemory, FileSource
    from ademem.store import Store

FOLDER_CHARS = 60


class Agent(Value):
    folder: str
    """Its folder under `.ade/agents`."""
    name: str
    """Its kind as the client names it."""
    memories: int = 0
    """The number of its live memories."""
    version: int = 0
    """The version of its project brief; 0: it has none."""
    met_at: str | None = None
    """The time of its first session here."""


def folder(name: str) -> str:
    """Return the folder of an agent; a digest keeps names with equal slugs apart."""
    plain = slug(name, FOLDER_CHARS)
    if plain and plain == name.casefold():
        return plain
    return f"{plain or 'agent'}-{sha256_hex(name.casefold())[:6]}"


def listed(store: Store, project: Project) -> list[Agent]:
    """Return all agents that worked here, have memories, or have a brief, by name."""
    met = {folder(row["name"]): row for row in identities.all_of(store)}
    owners = {folder(name): (name, count) for name, count in identities.owners(store)}
    written = briefs.agents(store) | set(folders(project))
    found = [
        Agent(
            folder=each,
            name=met[each]["name"] if each in met else owners.get(each, (each, 0))[0],
            memories=owners.get(each, ("", 0))[1],
            version=document.version if (document := brief(store, project, each)) else 0,
            met_at=met[each]["created_at"] if each in met else None,
        )
        for each in met.keys() | owners.keys() | written
    ]
    return sorted(found, key=lambda agent: (agent.name.casefold(), agent.folder))


def brief(
    store: Store,
    project: Project,
    agent: str,
    source: Callable[[str], FileSource] | None = None,
) -> CoreMemory | None:
    """Return the project brief, the newer of file and database; nothing is written."""
    try:
        return project_brief.newest(store, project, agent, source)
    except BadCore:  # `refresh` tells of it
        return project_brief.load(store, agent)


def refresh(
    store: Store, project: Project, source: Callable[[str], FileSource] | None = None
) -> None:
    """Synchronize database and files of all briefs; an unreadable file stays as it is."""
    for each in sorted(briefs.agents(store) | set(folders(project))):
        try:
            document = project_brief.reconcile(store, project, each, source)
        except BadCore:
            continue
        if document:
            project_brief.write_file(project, document, each)


def folders(project: Project) -> list[str]:
    """List the folders under `.ade/agents` that hold a brief."""
    root = os.path.join(project.ade, "agents")
    try:
        names = confined.names(project.root, root)
    except OSError:  # refused, which others tell of
        return []
    return [
        name
        for name in names
        if confined.is_file(project.root, project_brief.file_path(project, name))
    ]

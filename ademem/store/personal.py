"""The person's own memories, in one database of the user's data folder beside every project.

They have the agent scope and no owner. Nothing that writes files, exports or journals opens it.
"""

from __future__ import annotations

import os

from ademem.core.errors import NoSuchMemory
from ademem.core.memory import Scope
from ademem.core.project import Project
from ademem.core.trust import has_personal, personal_folder
from ademem.store import memories, open_store
from ademem.store.runtime import Runtime, find_order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ademem.core.memory import Draft

_ROWS = "scope = 'agent' and scope_owner_id is null"


def place(environment: Mapping[str, str]) -> Project:
    """Return the folder of the database, which is no project that anything finds."""
    folder = os.path.realpath(personal_folder(environment))
    return Project(root=folder, home=folder)


def is_personal(draft: Draft) -> bool:
    try:
        return Scope.parse(draft.scope) is Scope.AGENT and not draft.owner
    except ValueError:  # which the gate refuses
        return False


def beside(runtime: Runtime, *, create: bool = False) -> Runtime | None:
    """Return the person's memories, open until the runtime is closed; None where there are none.

    Raises sqlite3.Error or OSError if it cannot be opened.
    """
    if runtime.beside is None:
        wanted = runtime.with_personal and has_personal(runtime.environment)
        if not create and not wanted:
            return None
        found = place(runtime.environment)
        store = open_store(
            found,
            runtime.clock(),
            environment=runtime.environment,
            find_order=find_order,
            connections=runtime.store.connections,
        )
        runtime.beside = Runtime(found, runtime.settings, store, runtime.environment, runtime.now)
        runtime.beside.clock = runtime.clock
    return runtime.beside


def holding(runtime: Runtime, id: str) -> Runtime:
    """Return the runtime that has the memory: the person's own if the project does not have it."""
    try:
        memories.get(runtime.store, id)
    except NoSuchMemory:
        own = beside(runtime)
        if own is None or not memories.revisions(own.store, _whole_id(own, id)):
            return runtime
        return own
    return runtime


def _whole_id(runtime: Runtime, id: str) -> str:
    try:
        return memories.get(runtime.store, id).id
    except NoSuchMemory:
        return id


def has_stray(runtime: Runtime) -> bool:
    """Tell whether the project's database has memories that belong in the person's own.

    One that was made elsewhere has none: its texts are another person's.
    """
    if not runtime.store.is_trusted:
        return False
    query = f"select 1 from unified_memories where project_id = ? and {_ROWS} limit 1"
    return runtime.store.db.execute(query, (runtime.store.project_id,)).fetchone() is not None


def move_stray(runtime: Runtime) -> None:
    """Move them there with their history, and leave no byte of them."""
    from ademem.store import transfers, transitions

    own = beside(runtime, create=True)
    assert own
    where = f"select id from main.unified_memories where {_ROWS}"
    transfers.copy_memories(runtime.store, own.store, where, runtime.clock())
    transfers.remove_memories(runtime.store, where)
    transitions.scrub(runtime.store)

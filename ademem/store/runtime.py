"""An open project: its settings, its store and the time, and the person's own memories beside it.

Those have the agent scope and no owner. They are in one database of the user's data folder, which
nothing opens that writes files, exports or journals.
"""

from __future__ import annotations

import os
import sys

from ademem.core.actor import NOT_ASKED, Who
from ademem.core.errors import NoSuchMemory, suppress
from ademem.core.project import Project
from ademem.core.repository import staging
from ademem.core.settings import MirrorSettings, Settings, load_configuration
from ademem.core.text import clean
from ademem.core.trust import has_personal, personal_folder
from ademem.store import Store, database
from ademem.store.opening import open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from typing import Any, Concatenate, ParamSpec, Self, TypeVar

    from ademem.core.memory import Draft, Memory
    from ademem.core.setting_sources import SettingWarning
    from ademem.store.database import IdleConnections

    Arguments = ParamSpec("Arguments")
    Result = TypeVar("Result")


class Runtime:
    by: Who = NOT_ASKED
    """The answer of `core.who` at the edge: who acts on these memories."""

    def __init__(
        self,
        project: Project,
        settings: Settings,
        store: Store,
        environment: Mapping[str, str],
        now: datetime,
        warnings: tuple[SettingWarning, ...] = (),
        *,
        copy_notice: str = "",
    ) -> None:
        self.project = project
        self.settings = settings
        self.store = store
        self.environment = environment
        self.now = now
        self.clock: Callable[[], datetime] = lambda: now
        """The time of an act, where a project stays open for several."""
        self.before_close: Callable[[Runtime], None] | None = None
        self.warnings = warnings
        self.with_personal = True
        self._personal: Runtime | None = None
        self.limit_s: float | None = None
        """Time for taking over a database from before the first release."""
        self.embedder: Any = None
        """The model, once it was loaded for this project."""
        self.copy_notice = copy_notice
        self.loaded_files: frozenset[str] = frozenset()
        """Instruction files that the client said it put before the model of a hook."""

    @property
    def is_read_only(self) -> bool:
        return bool(self.copy_notice)

    @property
    def branch(self) -> str | None:
        return branch_of(self.project, self.settings.mirror)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self.before_close:
            self.before_close(self)
        if self._personal:
            self._personal.close()
        self.store.close()

    def open_personal(self, *, create: bool = False) -> Runtime | None:
        """Return the person's memories, or None without, or where their folder cannot be written.

        Raises sqlite3.Error or OSError.
        """
        if self._personal is None:
            if not create and not (self.with_personal and has_personal(self.environment)):
                return None
            place = personal_project(self.environment)
            if not create and not is_writable(place):
                return None
            idle, environment = self.store.connections, self.environment
            store = open_store(
                place,
                self.clock(),
                environment=environment,
                connections=idle,
                limit_s=self.limit_s,
            )
            store.show_beside(self.project.main)
            self._personal = Runtime(place, self.settings, store, self.environment, self.now)
            self._personal.clock = self.clock
            self._personal.by = self.by
        return self._personal

    def with_own(self) -> list[Runtime]:
        own = self.open_personal()
        return [self, own] if own else [self]

    def split_by_store(self, found: Iterable[Memory]) -> list[tuple[Runtime, list[Memory]]]:
        """Return the project's memories and the person's, each with what holds them."""
        rows = list(found)
        own = [memory for memory in rows if memory.is_personal]
        parts = [(self, [memory for memory in rows if not memory.is_personal])]
        if own and (holder := self.open_personal()):
            parts.append((holder, own))
        return parts

    def list_by_ids(self, ids: Iterable[str]) -> dict[str, Memory]:
        """Return memories by id, of the project before the person's, and adopted items of files."""
        from ademem.store import memory_queries  # which few hooks need

        wanted = set(ids)
        found: dict[str, Memory] = {}
        for each in self.with_own():
            for memory in memory_queries.by_ids(each.store, wanted - found.keys()):
                found[memory.id] = memory
        if missing := wanted - found.keys():
            from ademem.store import adopted

            for row in adopted.by_ids(self.store, self.project.root, sorted(missing)):
                found[row["id"]] = adopted.as_memory(row, self)
        return found

    def holding(self, id: str) -> Runtime:
        """Return this, or the person's memories if they have the memory and the project has not."""
        from ademem.store import memories  # with the model of a memory, which few hooks need

        try:
            memories.get(self.store, id)
        except NoSuchMemory:
            own = self.open_personal()
            if own is None:
                return self
            with suppress(NoSuchMemory):
                id = memories.get(own.store, id).id
            return own if memories.revisions(own.store, id) else self
        return self


def on_store(
    read: Callable[Concatenate[Store, Arguments], Result],
) -> Callable[Concatenate[Runtime, Arguments], Result]:
    def ask(runtime: Runtime, /, *args: Arguments.args, **options: Arguments.kwargs) -> Result:
        return read(runtime.store, *args, **options)

    return ask


def is_writable(project: Project) -> bool:
    if not os.access(project.home, os.W_OK):
        return not os.path.isdir(project.home)  # which is made, or fails with its own error
    return os.access(project.database, os.W_OK) or not os.path.exists(project.database)


def open_runtime(
    project: Project,
    environment: Mapping[str, str],
    now: datetime,
    *,
    wait_s: float = 5.0,
    connections: IdleConnections | None = None,
    limit_s: float | None = None,
) -> Runtime:
    """Raises what `open_store` does."""
    found = load_configuration(project, environment)
    store = open_store(
        project,
        now,
        wait_s=wait_s,
        environment=environment,
        connections=connections,
        limit_s=limit_s,
    )
    runtime = Runtime(project, found.settings, store, environment, now, found.warnings)
    runtime.limit_s = limit_s
    return runtime


def branch_of(project: Project, settings: MirrorSettings) -> str | None:
    name = staging(project.root, settings.default_branch)
    return redact_branch(name) if name else None


def redact_branch(branch: str) -> str:
    from ademem.core.redaction import redact

    return redact(clean(branch)).text


def program(environment: Mapping[str, str]) -> str:
    for folder in environment.get("PATH", "").split(os.pathsep):
        if folder and os.access(os.path.join(folder, "ademem"), os.X_OK):
            return "ademem"
    installed = os.path.join(os.path.dirname(sys.executable), "ademem")
    if os.path.exists(installed):
        return installed
    if environment.get("CLAUDE_PLUGIN_ROOT"):  # whose `bin` the client puts on its shell's PATH
        return "ademem"
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return os.path.join(os.path.dirname(package), "hooks", "ademem")


def command_to_add(program: str) -> str:
    """Return how a model saves a finding, as each text that asks for one says it.

    Prompts find a memory most often by four occasions of such kinds.
    """
    return (
        f'`{program} add "…" --category gotcha --when "an order that leads into it"'
        ' --when "another" --when "what one asks" --when "what one sees go wrong"`'
    )


def personal_project(environment: Mapping[str, str]) -> Project:
    folder = os.path.realpath(personal_folder(environment))
    return Project(root=folder, home=folder)


def is_personal(draft: Draft) -> bool:
    from ademem.core.memory import PERSONAL  # which few hooks need

    return draft.scope.strip().lower() in PERSONAL and not draft.owner


def move_personal(runtime: Runtime) -> None:
    """Move the person's own memories out of a project; the next opening does where it is busy."""
    store, is_own = runtime.store, "scope = 'agent' and scope_owner_id is null"
    query = f"select 1 from unified_memories where project_id = ? and {is_own} limit 1"
    with suppress(database.OperationalError):
        # One that was made elsewhere has none: its texts are another person's.
        if store.is_trusted and store.has_row(query, (store.project_id,)):
            from ademem.store import transfers, transitions

            own = runtime.open_personal(create=True)
            assert own
            where = f"select id from main.unified_memories where {is_own}"
            own.store.show_all()  # an import was said in no project
            transfers.copy_memories(store, own.store, where, runtime.clock())
            own.store.show_beside(runtime.project.main)
            transfers.remove_memories(store, where)
            transitions.scrub(store)  # which leaves no byte of them

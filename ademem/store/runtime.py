"""An open project: its settings, its store and the time."""

from __future__ import annotations

import os
import sys

from ademem.core import configuration
from ademem.core.repository import staging
from ademem.core.text import clean
from ademem.store import Store, open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import Self

    from ademem.core.project import Project
    from ademem.core.setting_sources import SettingWarning
    from ademem.core.settings import MirrorSettings, Settings
    from ademem.store.idle import IdleConnections


class Runtime:
    """An open project; a context manager that closes it."""

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
        """The moment at which the project was opened."""
        self.clock: Callable[[], datetime] = lambda: now
        """The time of an act, where a project stays open for several."""
        self.before_close: Callable[[Runtime], None] | None = None
        self.warnings = warnings
        """Of the settings, to be shown to the person."""
        self.with_personal = True
        """False where the person's own memories are left out."""
        self.beside: Runtime | None = None
        """The person's own memories, where they were asked for; see `personal`."""
        self.copy_notice = copy_notice
        """Line for the person where the store is a copy, which nothing is written to."""

    @property
    def is_read_only(self) -> bool:
        return bool(self.copy_notice)

    @property
    def branch(self) -> str | None:
        """The branch of new memories; None for the default one."""
        return branch_of(self.project, self.settings.mirror)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self.before_close:
            self.before_close(self)
        if self.beside:
            self.beside.close()
        self.store.close()

    def leave(self) -> None:
        """Before the process ends."""
        self.store.leave()


def is_writable(project: Project) -> bool:
    """Return True if this process may write the database, or make one where there is none."""
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
) -> Runtime:
    """Raises NewerDatabase, Refused, sqlite3.Error or OSError."""
    found = configuration.load(project, environment)
    store = open_store(
        project,
        now,
        wait_s=wait_s,
        environment=environment,
        trusted_roots=lambda: configuration.trust_roots(environment),
        find_order=find_order,
        connections=connections,
    )
    return Runtime(project, found.settings, store, environment, now, found.warnings)


def find_order(text: str) -> str | None:
    from ademem.guard.injection import instruction_in  # for a database of ADE alone

    return instruction_in(text)


def branch_of(project: Project, settings: MirrorSettings) -> str | None:
    name = staging(project.root, settings.default_branch)
    return filed(name) if name else None


def filed(branch: str) -> str:
    from ademem.core.redaction import redact

    return redact(clean(branch)).text


def program(environment: Mapping[str, str]) -> str:
    """Return the command that calls `ademem` in a shell with this PATH."""
    for folder in environment.get("PATH", "").split(os.pathsep):
        if folder and os.access(os.path.join(folder, "ademem"), os.X_OK):
            return "ademem"
    installed = os.path.join(os.path.dirname(sys.executable), "ademem")
    if os.path.exists(installed):
        return installed
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return os.path.join(os.path.dirname(package), "hooks", "ademem")  # of a plugin

"""Where the module in the client and ademem leave files for each other, in the person's data."""

from __future__ import annotations

import os

from ademem.core import trust
from ademem.core.client import config_dir
from ademem.core.errors import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ademem.store import Store

NAME = "ademem-client"
OLDEST = (2, 1, 330)
"""First version of Claude Code that runs modules of plugins."""

PROJECTS = "projects.json"
"""Maps the root of a project to the name of its file."""


def folder(environment: Mapping[str, str]) -> str:
    """Return the folder of the module's files, which `ademem install --client` makes."""
    return os.path.join(trust.data_folder(environment), "client")


def module_folder(environment: Mapping[str, str]) -> str:
    return os.path.join(config_dir(environment), "skills", NAME)


def was_loaded(id: str, environment: Mapping[str, str]) -> bool:
    return os.path.exists(os.path.join(folder(environment), "alive", id))


def last_session(store: Store, environment: Mapping[str, str], but: str = "") -> str:
    """Return the last session that began after the module was written; empty for none."""
    from ademem.core.clock import parse
    from ademem.store import sessions

    with suppress(OSError):
        written = os.stat(os.path.join(module_folder(environment), "hooks", "hooks.json"))
        id, began = sessions.find_newest(store, but=but)
        return id if id and parse(began).timestamp() > written.st_mtime else ""
    return ""

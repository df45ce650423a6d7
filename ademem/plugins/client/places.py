"""Where the module in the client and ademem leave files for each other, in the person's data."""

from __future__ import annotations

import os

from ademem.core import trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECTS = "projects.json"
"""Maps the root of a project to the name of its file."""


def folder(environment: Mapping[str, str]) -> str:
    """Return the folder of the module's files, which `ademem install --client` makes."""
    return os.path.join(trust.data_folder(environment), "client")

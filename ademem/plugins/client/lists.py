"""Write the rules for the module in the client whenever the lists of keys are written."""

from __future__ import annotations

import os

from ademem.core import shared_files
from ademem.core.errors import suppress
from ademem.plugins.client import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.store.runtime import Runtime

MAX_AGE_S = 7 * 86_400


def write(runtime: Runtime) -> None:
    """Write the rules of the project where the module is installed; raises OSError."""
    folder = places.folder(runtime.environment)
    if os.path.isdir(folder):
        from ademem.plugins.client import compiling  # which few people need

        compiling.write(runtime, folder)
        _prune(folder, runtime.clock().timestamp() - MAX_AGE_S)


def _prune(folder: str, before: float) -> None:
    """Delete what the module noted of sessions of long ago."""
    for notes in ("alive", "prompts"):
        with suppress(OSError), os.scandir(os.path.join(folder, notes)) as entries:
            for entry in entries:
                if entry.stat().st_mtime < before:
                    shared_files.remove(entry.path)

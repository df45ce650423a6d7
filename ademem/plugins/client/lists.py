"""Write the rules for the module in the client whenever the lists of keys are written."""

from __future__ import annotations

import os

from ademem.plugins.client import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.store.runtime import Runtime


def write(runtime: Runtime) -> None:
    """Do so where the module is installed; raises OSError."""
    folder = places.folder(runtime.environment)
    if os.path.isdir(folder):
        from ademem.plugins.client import compiling  # which few people need

        compiling.write(runtime, folder)

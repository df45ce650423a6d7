"""The shells of this machine by which a client may start hooks."""

import os
import shutil


def installed(*names: str) -> list[str]:
    """Return the names that are there, without dash where it is what `sh` is."""
    found = {name: os.path.realpath(path) for name in names if (path := shutil.which(name))}
    return [name for name in found if name != "dash" or found[name] != found.get("sh")]

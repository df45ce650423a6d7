"""Who wrote a prompt, as the module in the client noted it just before the hooks ran."""

from __future__ import annotations

import os
import time

from ademem.core import trust
from ademem.core.errors import suppress
from ademem.core.json_text import loads
from ademem.core.text import bytes_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_BYTES = 1000
FRESH_S = 60.0
"""Age from which a note is of an earlier prompt, of a session that goes on without the module."""
MACHINE = "peer"


def origin_of(prompt: str, session_id: str, environment: Mapping[str, str]) -> str:
    """Return a machine's origin for a prompt that no person wrote; empty where the form decides."""
    folder = os.path.join(trust.data_folder(environment), "client", "prompts")
    with suppress(OSError, ValueError, RecursionError):
        with open(os.path.join(folder, os.path.basename(session_id) or "none"), "rb") as file:
            is_fresh = abs(time.time() - os.fstat(file.fileno()).st_mtime) < FRESH_S
            note = loads(file.read(MOST_BYTES).decode())
        if is_fresh and isinstance(note, dict) and note.get("person") is False:
            is_same = note.get("sha256") == bytes_hex(prompt.encode("utf-8", "surrogatepass"))
            return MACHINE if is_same else ""
    return ""

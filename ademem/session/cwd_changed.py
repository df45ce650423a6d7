"""CwdChanged: name the watched files again, which the client forgets at a change of folder.

The folder itself stands in each payload, by which the next prompt weighs what applies there.
"""

from __future__ import annotations

from ademem.core import client
from ademem.session import shell_notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload
    from ademem.store.runtime import Runtime


def handle(_payload: Payload, runtime: Runtime) -> str:
    return client.context("CwdChanged", "", watched=shell_notes.list_watched(runtime))

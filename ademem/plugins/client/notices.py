"""Say at the start of a session that the client did not load the module in the last one."""

from __future__ import annotations

import os

from ademem.core import client
from ademem.plugins.client import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ademem.store.runtime import Runtime


def module_was_not_loaded(runtime: Runtime) -> Iterator[str]:
    environment = runtime.environment
    if not os.path.isdir(places.folder(environment)):
        return
    if client.version(environment) < places.OLDEST:
        return
    here = client.session_of(environment)
    last = places.last_session(runtime.store, environment, but=here)
    if last and not places.was_loaded(last, environment):
        yield "ademem: the client did not load its module; `ademem doctor` says why"


NOTICES = (module_was_not_loaded,)

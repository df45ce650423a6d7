"""Turns at whose end nothing is to be done, noted in their flag, so that the shell ends that hook.

The flag then is not empty, and has the time of the database's log. So what any process stores
since makes the note void, and the hook of Stop starts Python again. `hooks/stop.sh` looks at what
is not in the database: changed files, commits, and what the last message says.
"""

from __future__ import annotations

from ademem import worker
from ademem.core import confined
from ademem.core.client import TurnKey
from ademem.core.errors import suppress
from ademem.session import flags
from ademem.store import data_version, jobs, outcomes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload
    from ademem.store.runtime import Runtime

IDLE = "idle"


def look(event: str, payload: Payload, runtime: Runtime) -> int | None:
    """Return the version of the database where the turn has nothing to end so far, else None.

    A prompt begins a turn; later in it the note must hold.
    """
    key = _key(payload)
    if key is None or runtime.settings.capture.ask_at_stop:
        return None
    version = data_version(runtime.store)
    is_noted = event == "user_prompt_submit" or _has_note(key, runtime)
    return version if is_noted else None


def note(payload: Payload, version: int, runtime: Runtime) -> None:
    """Note that nothing is due, unless another process stored something since `look`."""
    key = _key(payload)
    if key is None or not flags.is_quiet(runtime.project, key):
        return
    with suppress(OSError, runtime.store.db.Error):  # what the hook says is worth more
        time = _log_time(runtime)
        if time is not None and data_version(runtime.store) == version and _is_idle(key, runtime):
            flag = flags.path(runtime.project, key)
            confined.write_text(runtime.project.root, flag, IDLE, mode=0o600, sync=False)
            confined.set_time(runtime.project.root, flag, time)


def _is_idle(key: TurnKey, runtime: Runtime) -> bool:
    if outcomes.list_waiting(runtime.store, key) or not worker.is_idle(runtime):
        return False
    return not jobs.any_due(runtime.store, runtime.now, but=worker.CONDITIONAL)


def _key(payload: Payload) -> TurnKey | None:
    if payload.agent_id or not payload.prompt_id:
        return None
    return TurnKey(session_id=payload.session_id, prompt_id=payload.prompt_id)


def _has_note(key: TurnKey, runtime: Runtime) -> bool:
    """Tell whether the turn's flag has a note that holds."""
    flag = flags.path(runtime.project, key)
    with suppress(OSError):
        found = confined.status(runtime.project.root, flag) if flag else None
        return bool(found and found.st_size and found.st_mtime_ns == _log_time(runtime))
    return False


def _log_time(runtime: Runtime) -> int | None:
    project = runtime.project
    with suppress(OSError):
        found = confined.status(project.home_root, f"{project.database}-wal")
        return found.st_mtime_ns if found else None
    return None

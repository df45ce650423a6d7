"""Run a hook: read one event, call its function, print the answer if there is one."""

from __future__ import annotations

import os
import sys

from ademem.core import client, clock, clone_variables, project, regex, trust
from ademem.core.actor import CALLED_BY_MODEL, NOT_ASKED
from ademem.core.errors import AdememError, NotEnrolled, suppress
from ademem.core.settings import load_configuration
from ademem.store import database
from ademem.store.runtime import Runtime, is_writable, open_runtime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from ademem.core.actor import Who
    from ademem.core.project import Project

    Handle = Callable[[client.Payload, Runtime], "str | None"]

WAIT_S = 5.0
"""Longest wait for another writer: half of a hook's time, as what is not written is lost."""
SHORT_WAITS_S = {"session_end": 0.6, "pre_compact": 2.0}
"""SessionEnd has 1.5 s for everything, and PreCompact waits for each of its steps."""
REPORTING = ("session_start", "user_prompt_submit", "pre_tool_use", "post_tool_use", "stop")
"""Events whose failure is shown to the person; what PreCompact prints goes to a model."""
WRITING = ("user_prompt_submit", "post_tool_use", "stop", "subagent_stop")
"""Events that may write a memory, whose bindings a call may meet at once."""
FOLLOWING = ("user_prompt_submit", "pre_tool_use")
"""Events before which the store is brought in step with files that changed since."""
SPOKEN = ("session_start", "user_prompt_submit")
"""Events in which a person may speak."""
READ_ONLY = (*SPOKEN, "pre_tool_use")
"""Events that are answered from a copy where the project cannot be written."""


def run(handle: Handle) -> None:
    """Answer the event on standard input; a failure never stops the session."""
    by = _ask_who(handle)
    raw = sys.stdin.buffer.read()
    clone_variables.withdraw(os.environ)
    sys.stdout.write(answer(handle, raw, os.environ, clock.now(), leaving=True, by=by))
    sys.stdout.flush()
    regex.keep()
    os._exit(0)  # skips the interpreter's teardown, a tenth of a hook's time


def _event_of(handle: Handle) -> str:
    return handle.__module__.rpartition(".")[2]


def _ask_who(handle: Handle) -> Who:
    """Ask who sent an event in which a person may speak; calls of tools are an agent's."""
    if _event_of(handle) not in SPOKEN:
        return CALLED_BY_MODEL
    from ademem.core.who import of_hook

    return of_hook(os.environ)


def answer(
    handle: Handle,
    raw: bytes,
    environment: Mapping[str, str],
    now: datetime,
    *,
    leaving: bool = False,
    by: Who = NOT_ASKED,
) -> str:
    """Return the output of the hook: one JSON object, plain text for PreCompact, or nothing.

    A process that is *leaving* does not close the database, as that takes longer.
    """
    if environment.get("ADEMEM_DISABLE"):
        return ""
    event = _event_of(handle)
    found = payload = None
    try:
        folder = _working_folder()
        found = _project_around(folder, environment)
        if found is None and event != "pre_tool_use":
            return _offer_init(event, environment)
        payload = _read(raw, found, folder)
        if event == "pre_tool_use":
            found = _project_of_call(payload, found, folder)
        if found is None:
            return ""
        try:
            runtime = _open(event, found, environment, now)
            return _run(handle, payload, runtime, by, leaving=leaving)
        except database.OperationalError as error:
            if event != "pre_tool_use" or not database.is_unwritable(error):
                raise
            copy = _open_copy(found, environment, now, is_locked=database.is_locked(error))
            return _run(handle, payload, copy, by, leaving=leaving)
    except NotEnrolled:
        return _offer_init(event, environment)
    except Exception as error:  # where a hook's failure ends
        from ademem.core import failure_log

        failure_log.log(found, event, error, environment, now)
        denial = _guard_failed(found, error, environment) if event == "pre_tool_use" else ""
        return denial or _report(event, error, found, payload, environment)


def _working_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # the model may remove it
        return os.sep


def _project_around(folder: str, environment: Mapping[str, str]) -> Project | None:
    with suppress(NotEnrolled):
        return project.find(None, environment, folder)
    return None


def _read(raw: bytes, found: Project | None, folder: str) -> client.Payload:
    try:
        return client.read(raw)
    except client.BadPayload:
        if found is None:  # then nothing of it is ours
            raise NotEnrolled(folder) from None
        raise


def _project_of_call(payload: client.Payload, found: Project | None, folder: str) -> Project | None:
    """Return the project of the file that a call is on, else the one that was *found* around it."""
    if found and not payload.path:
        return found
    path = os.path.join(payload.cwd or folder, payload.path or "any")
    return project.of_file(path) or found


def _open(
    event: str, found: Project, environment: Mapping[str, str], now: datetime
) -> Runtime | None:
    """Open the project, or a copy where it cannot be written; None if the event needs to write."""
    if is_writable(found):
        wait_s = SHORT_WAITS_S.get(event, WAIT_S)
        runtime = open_runtime(found, environment, now, wait_s=wait_s, limit_s=wait_s)
        runtime.store.spill_nothing()
        return runtime
    return _open_copy(found, environment, now) if event in READ_ONLY else None


def _open_copy(
    found: Project, environment: Mapping[str, str], now: datetime, *, is_locked: bool = False
) -> Runtime:
    from ademem.worker.read_only import open_copy

    return open_copy(found, environment, now, is_locked=is_locked)


def _run(
    handle: Handle, payload: client.Payload, runtime: Runtime | None, by: Who, *, leaving: bool
) -> str:
    if runtime is None:
        return ""
    runtime.by = by
    try:
        return _handle(handle, payload, runtime)
    finally:
        runtime.store.leave() if leaving else runtime.close()


def _handle(handle: Handle, payload: client.Payload, runtime: Runtime) -> str:
    """Answer the event, with what is brought in step before and after it."""
    event = _event_of(handle)
    if runtime.is_read_only:
        return handle(payload, runtime) or ""
    version = None
    if event in FOLLOWING:
        from ademem.session import idle_turns

        _follow(event, payload, runtime)
        version = idle_turns.look(event, payload, runtime)
    text = handle(payload, runtime) or ""
    if event in WRITING:
        from ademem.session import shown_places

        shown_places.refresh(runtime)
    if text:
        from ademem.store import logs  # most hooks print nothing

        logs.count_output(runtime.store, event, len(text), runtime.now)
    if version is not None:
        idle_turns.note(payload, version, runtime)
    return text


def _follow(event: str, payload: client.Payload, runtime: Runtime) -> None:
    """Bring the store in step; a failure there takes away neither the guard nor a dictation."""
    from ademem.session import shell_notes

    try:
        shell_notes.follow(payload, runtime)
    except Exception as error:  # the hook goes on with the store as it is
        from ademem.core import failure_log

        failure_log.log(runtime.project, event, error, runtime.environment, runtime.now)


def _offer_init(event: str, environment: Mapping[str, str]) -> str:
    """Say at the start of a session with the plugin that its folder is no project yet."""
    if event != "session_start" or not environment.get("CLAUDE_PLUGIN_ROOT"):
        return ""
    from ademem.session import notices

    return client.notice(*notices.offer_init(environment))


def _report(
    event: str,
    error: Exception,
    found: Project | None,
    payload: client.Payload | None,
    environment: Mapping[str, str],
) -> str:
    """Name the failure to the person once a session, or the refused file at its start.

    A dictation that was not stored is named each time.
    """
    from ademem.core.confined import Refused
    from ademem.session import notices

    if isinstance(error, Refused):
        return client.notice(notices.describe_refused(error)) if event == "session_start" else ""
    if found is None or payload is None or event not in REPORTING:
        return ""
    if event == "user_prompt_submit":
        from ademem.capture.prompt_lessons import dictations
        from ademem.core.typed_text import is_machine_text

        if not is_machine_text(payload.prompt, payload.source) and dictations(payload.prompt):
            failure = notices.describe_failure(event, error)
            return client.notice(f"{failure.partition(';')[0]}; dictate it again (`ademem doctor`)")
    is_first = trust.claim_notice(f"failure {payload.session_id}", found.database, environment)
    return client.notice(notices.describe_failure(event, error)) if is_first else ""


def _guard_failed(found: Project | None, error: Exception, environment: Mapping[str, str]) -> str:
    try:
        settings = load_configuration(found, environment).settings
        closed = found is not None and settings.guard.fail == "closed"
    except (AdememError, OSError):
        closed = False
    reason = f"ademem: the guard failed ({type(error).__name__}); `ademem doctor` shows why"
    return client.deny(reason) if closed else ""

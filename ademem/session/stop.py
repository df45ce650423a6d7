"""Stop: end the turn, capture learnings of its last message, and start due jobs."""

from __future__ import annotations

from ademem import worker
from ademem.capture import may_have_learnings
from ademem.core import client
from ademem.core.clock import parse
from ademem.core.errors import suppress
from ademem.core.memory import HEARD
from ademem.core.project import files_changed
from ademem.session import flags, linked_files
from ademem.session.turn_tracking import key_of, mark_read
from ademem.store import agreements, jobs, ledger, outcomes, turns
from ademem.store.runtime import Runtime, command_to_add, program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.client import Payload

QUESTION = (
    "ademem: this turn changed files and saved nothing to project memory. "
    "If it taught something that would help a newcomer, "
    "save it with {command}; if not, say NO_DISCOVERIES."
)
NOTHING = "NO_DISCOVERIES"
"""Answer of a model without findings; it is not asked again."""
CAPTURED = (ledger.ERROR, HEARD, "episode")
"""Source types of memories that the model did not save."""


def handle(payload: Payload, runtime: Runtime) -> str | None:
    if may_have_learnings(payload.last_message):
        from ademem.capture import record

        record.capture_learnings(payload, runtime)
    if NOTHING in payload.last_message:
        ledger.claim(runtime.store, "ask_at_stop", payload.session_id, runtime.now)
    if not payload.stop_hook_active and _should_ask(payload, runtime):
        question = QUESTION.format(command=command_to_add(program(runtime.environment)))
        from ademem.store import injections

        with suppress(runtime.store.db.Error):
            injections.record(runtime, "stop", question, key_of(payload, runtime))
        return client.keep_going(question)
    key = key_of(payload, runtime)
    prevented = outcomes.end_turn(runtime.store, key, runtime.now)
    turns.end(runtime.store, key, runtime.now)
    mark_read(key, runtime)
    flags.set_quiet(runtime.project, key, False)
    is_new = agreements.has_unread_files(runtime.project, runtime.store)
    if is_new or files_changed(runtime.project):
        jobs.queue(runtime.store, "mirror", "project", runtime.now)
    else:
        ledger.renew(runtime.store, ledger.READ, runtime.project.root, runtime.now)
    worker.start(runtime, patient=True)
    return client.notice(*_tell(prevented, payload, runtime)) or None


def _tell(prevented: list[str], payload: Payload, runtime: Runtime) -> list[str]:
    noted = linked_files.list_noted(payload, runtime)
    if not prevented and not noted:
        return []
    from ademem.session import notices

    notices.update_status_line(runtime, payload.session_id)
    return notices.describe_turn(prevented, noted, runtime)


def _should_ask(payload: Payload, runtime: Runtime) -> bool:
    if not runtime.settings.capture.ask_at_stop:
        return False
    turn = turns.get(runtime.store, key_of(payload, runtime))
    if turn is None or turn.turn_class != "required":
        return False
    from ademem.core import git
    from ademem.store import memory_queries

    if not git.output(runtime.project.root, "status", "--porcelain"):
        return False
    began = parse(turn.started_at)
    saved = any(
        each.created_at >= began and each.source_type not in CAPTURED
        for each in memory_queries.of_session(runtime.store, id=payload.session_id)
    )
    return not saved and ledger.claim(runtime.store, "ask_at_stop", payload.session_id, runtime.now)

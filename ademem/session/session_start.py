"""SessionStart: open the session and brief it."""

from __future__ import annotations

import time

from ademem import worker
from ademem.capture import commits, reconciling
from ademem.core import client, client_memory, confined
from ademem.core.client import Payload, TurnKey
from ademem.core.clock import Deadline
from ademem.core.errors import suppress
from ademem.core.project import files_changed, import_waits
from ademem.core.repository import branch
from ademem.files import ignore, skill_files
from ademem.search import reader_lists
from ademem.search.binding import DERIVE_S, renew_lists, update_bindings
from ademem.session import briefing, flags, notices, shell_notes
from ademem.session.briefing import make_reader
from ademem.session.folder_weights import folder_of
from ademem.store import adopted, agreements, injections, jobs, ledger, logs, sessions
from ademem.store import commits as table
from ademem.store.bindings import has_anchors, is_shown_due
from ademem.store.runtime import Runtime, command_to_add, program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ademem.files.texts import Problem

BEGINNINGS = ("startup", "clear")
"""Sources of a session that begins anew, which shows the person the number of memories."""
READING_S = 2.0
"""Longest import of files before the session starts: 20 % of the hook's time-out."""
GIT_S = 1.0
"""Longest listing of new commits, which else is left to the worker."""

FLUSH = (
    "The conversation was just compacted. Asked once in this session: did it teach something that "
    "would help a newcomer and is not in project memory yet (a decision and its reason, "
    "a convention, a pitfall that will come back)? Save each as one sentence with "
    "{command} (or decision, convention) before you go on. "
    "Paths, progress, and what the code or git tell do not count. Most often nothing is left "
    "to save: then say NO_DISCOVERIES and go on."
)


def handle(payload: Payload, runtime: Runtime) -> str | None:
    """Return the briefing at a start, with a question after compaction; only news on resume."""
    source = payload.source or "startup"
    if source == "compact" and not runtime.is_read_only:
        shell_notes.forget_loaded(runtime.project, payload.agent_id or payload.session_id)
        _rearm(payload, runtime)  # even for the hook of a second installation
        if payload.agent_id:
            from ademem.session import subagent_start

            return subagent_start.handle(payload, runtime)
    here = branch(runtime.project.root)
    if runtime.is_read_only:
        reader = make_reader(payload, runtime, here)
        text = briefing.session(reader, program(runtime.environment)).text
        told = [runtime.copy_notice] if source == "startup" else []
        return client.context("SessionStart", text, told)
    if not _is_fresh(payload, source, here, runtime):
        return None
    imported, problems = _catch_up(runtime)
    key = TurnKey(session_id=payload.session_id)
    with runtime.store.transaction():
        has_skills = _renew(key, payload.cwd, runtime)
        text, total = _brief(payload, source, here, imported, runtime)
    worker.start(runtime)
    lines = notices.describe_problems(problems) + notices.collect(payload, runtime)
    lines += notices.describe_sender(runtime)
    line = notices.choose(payload.session_id, lines, runtime)
    if source in BEGINNINGS:
        line = [*line, *notices.summarize(total, payload.session_id, runtime)][:1]
    watched = shell_notes.list_watched(runtime)
    # The client listed its skills before this hook, in which an import or another process wrote.
    reloads = has_skills and bool(watched)
    return client.context("SessionStart", text, line, watched=watched, reloads_skills=reloads)


def _is_fresh(payload: Payload, source: str, here: str | None, runtime: Runtime) -> bool:
    """Enter the session; return False if the hook of a second installation was faster."""
    return not payload.session_id or sessions.start(
        runtime.store,
        payload.session_id,
        source=source,
        directory=payload.cwd,
        branch=here,
        now=runtime.now,
        transcript=payload.transcript_path,
        is_unattended=client.is_unattended(runtime.environment),
    )


def _catch_up(runtime: Runtime) -> tuple[str, Sequence[Problem]]:
    """Take in what changed outside of sessions; return what `import_changes` does."""
    notices.extend_path(runtime.environment)
    with suppress(OSError):
        ignore(runtime.project)
    flags.prune(runtime.project, runtime.now)
    shell_notes.prune(runtime.project, runtime.now)
    imported = import_changes(runtime, Deadline(time.monotonic, READING_S))
    commits.look(runtime.project, runtime.store, runtime.now, Deadline(time.monotonic, GIT_S))
    flags.set_client_memory(runtime.project, client_memory.moved(runtime.environment))
    reconciling.run(runtime)
    follow_instructions(runtime)
    return imported


def _renew(key: TurnKey, directory: str, runtime: Runtime) -> bool:
    """Renew bindings and lists, and queue what the worker does; tell whether skills changed.

    Places of memories that changed are left to the worker or the next prompt, whichever is first,
    unless the briefing weighs those of the session's folder: until then the lists let all through.
    """
    # another worktree may have changed the hints, or a compaction dropped them
    if is_shown_due(runtime.store):
        jobs.queue(runtime.store, "places", "project", runtime.now)
        if folder_of(directory, runtime.project.root):
            update_bindings(runtime.store, runtime.project, DERIVE_S)
    if has_anchors(runtime.store):
        jobs.queue(runtime.store, "anchors", "project", runtime.now)
    renew_lists(runtime, is_start=True)
    reader_lists.remove(runtime.project, key)
    reader_lists.prune(runtime.project, runtime.now)
    has_skills = skill_files.have_changed(runtime.project)
    if has_skills:
        jobs.queue(runtime.store, "skills", "project", runtime.now)
    for left in sessions.list_left_open(runtime.store, runtime.now, key.session_id):
        jobs.queue(runtime.store, "episode", left, runtime.now)
    return has_skills


def _brief(
    payload: Payload, source: str, here: str | None, imported: str, runtime: Runtime
) -> tuple[str, int]:
    """Return the text for the model, which is logged, and the number of all memories."""
    key = TurnKey(session_id=payload.session_id)
    name = program(runtime.environment)
    goes_on = source in briefing.GOES_ON
    seen = logs.list_in_context(runtime.store, key, runtime.now) if goes_on else ()
    reader = make_reader(payload, runtime, here, seen=seen)
    brief = briefing.news(reader) if seen else briefing.session(reader, name)
    asks = source == "compact" and ledger.claim(
        runtime.store, "flush", payload.session_id, runtime.now
    )
    question = FLUSH.format(command=command_to_add(name)) if asks else ""
    text = "\n".join(filter(None, (brief.text, question, imported)))
    shown = [logs.Shown(memory_id=memory.id) for memory in brief.shown]
    if source == "compact":  # a row without a memory: what was shown before is gone
        logs.log_shown(runtime.store, "briefing", (), runtime.now, key=key, query=source)
    logs.log_shown(runtime.store, "briefing", shown, runtime.now, key=key, query=source)
    keep = all(memory.shown_scope != "personal" for memory in brief.shown)
    injections.record(runtime, "session_start", text, key, brief.placed, keep_text=keep)
    if brief.text:
        table.mark_shown(runtime.store, runtime.project.root, payload.session_id, runtime.now)
    return text, brief.total


def follow_instructions(runtime: Runtime) -> None:
    """Read adopted instruction files again that changed; where they are many, the worker does."""
    if not adopted.is_taken(runtime.store):
        return
    from ademem.sync import instruction_state

    if not instruction_state.is_behind(runtime):
        return
    if not instruction_state.needs_worker(runtime):
        from ademem.sync import adopting

        adopting.adopt(runtime)
    jobs.queue(runtime.store, "adopt", "project", runtime.now)


def import_changes(runtime: Runtime, deadline: Deadline) -> tuple[str, Sequence[Problem]]:
    """Import files that changed; return what to tell of it, and the problems in them."""
    try:
        if import_waits(runtime.project):
            jobs.queue(runtime.store, "mirror", "project", runtime.now)
            return "", ()
        is_new = agreements.has_unread_files(runtime.project, runtime.store)
        if not (is_new or files_changed(runtime.project)):
            ledger.renew(runtime.store, ledger.READ, runtime.project.root, runtime.now)
            return "", ()
        from ademem.sync.importer import import_changes_until

        jobs.queue(runtime.store, "mirror", "project", runtime.now)
        taken = import_changes_until(deadline, runtime)
    except confined.Refused:  # a notice reports it, and the session is briefed nevertheless
        return "", ()
    if taken is None:
        return "", ()
    from ademem.files.project_brief import describe_fault

    problems = (*taken.problems, *describe_fault(runtime.store, runtime.project))
    return " ".join(filter(None, (taken.summary, taken.advice))), problems


def _rearm(payload: Payload, runtime: Runtime) -> None:
    """Begin turns anew where a compaction dropped their searches and denials.

    That is in the subagent, or in the session's last turn: one that ended is included, as a
    background task or a queued prompt may go on with it. Older clients do not name the subagent,
    so all that run are meant.
    """
    from ademem.session.turn_tracking import set_flag  # sessions that begin have no turn
    from ademem.store import turns

    for key in turns.list_open(runtime.store, payload.session_id, payload.agent_id):
        turns.rearm(runtime.store, key)
        set_flag(key, runtime)

"""One function for each thing that a door can do; a call loads the module that has it."""

# ruff: noqa: F403 -- for types alone; FUNCTIONS names what is here

from __future__ import annotations

import os
from functools import partial
from importlib import import_module

from ademem.core import clock, project
from ademem.core.errors import NotEnrolled, suppress
from ademem.core.project import files_edited, import_waits
from ademem.core.who import Who
from ademem.store import agreements, database
from ademem.store.runtime import Runtime, is_writable, move_personal, open_runtime, program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import Any

    from ademem.api.browsing import *
    from ademem.api.curation import *
    from ademem.api.files import *
    from ademem.api.inspecting import *
    from ademem.api.placing import *
    from ademem.api.projects import *
    from ademem.api.relating import *
    from ademem.api.reports import *
    from ademem.api.searching import *
    from ademem.api.sessions import *
    from ademem.api.upkeep import *
    from ademem.api.writing import *
    from ademem.store.database import IdleConnections

FUNCTIONS = {
    "searching": """
        recall search explain_search get_search_mode find_similar list_memories count_memories
        get find_related find_drifted find_later list_candidates list_best
    """,
    "browsing": "find read_part timeline get_context read_brief",
    "inspecting": """
        list_embedded list_uses compare check_anchors list_doubtful list_bindings find_lines
        preview_edit explain_selection
    """,
    "projects": """
        list_projects forget_project find_registered open_others find_groups merge_projects
    """,
    "relating": """
        judge list_relations list_proposals scan_relations list_deferred replay_deferred
        drop_deferred get_graph
    """,
    "sessions": """
        start_session end_session summarize_session require_open_session list_sessions get_session
        list_session_memories list_sent list_episodes delete_session add_prompt search_prompts
        find_prompt delete_prompt
    """,
    "placing": """
        show_places list_places check_keys read_keys place place_all list_unplaced read_choices
    """,
    "writing": "write explain learn origin place_draft categorize suggest_topic_key",
    "curation": """
        review list_queue count_queue review_imported list_due mark_reviewed continue_review
        stop_review list_skipped skip unskip decide_all tag_all
        trust_files list_claimed_briefs get_speaker
        promote reject refuse archive restore delete pin edit correct propose
        list_kept_changes take_change keep_mine
        supersede merge update_by_agent remove_by_agent pin_by_agent
        list_conflicts settle_conflict reopen_conflict asks_to_publish
        list_revisions list_events list_at undo list_acts put_acts
    """,
    "files": """
        inspect_files check_files preview_files refresh_files import_files read_pending_brief
        export_memories export_some import_lines import_feedback
        import_foreign compare_foreign
        get_brief update_brief list_earlier_briefs list_agents
    """,
    "upkeep": "work is_worker_running sweep consolidate scrub sync_commits download_model",
    "reports": """
        get_status get_knowledge get_cost get_ledger get_impressions get_digest get_guard_state
        list_refusals list_decisions count_decisions find_overfull judge_command
        get_health get_last_run get_sync_status find_changes list_effects count_effects
    """,
}
"""By their module of this package; those below are defined here."""

_MODULES = {name: module for module, names in FUNCTIONS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def init(
    root: str,
    *,
    environment: Mapping[str, str] = os.environ,
    merges: bool = True,
    by: Who | None = None,
) -> tuple[str, ...]:
    """Enrol the folder and import its files; return a line for each step.

    Without *merges*, git merges the files as text: where no `ademem` outlives the session.
    """
    from ademem.api.files import refresh_files
    from ademem.files import enrolment

    done = enrolment.enrol(project.at(root), program(environment) if merges else "")
    with open_memories(root, environment=environment, by=by) as runtime:
        enrolment.register_typed(runtime)
        done += [f"wrote {path}" for path in refresh_files(runtime, lazily=True).written]
        enrolment.note_use(runtime.project, runtime.settings.project.name, environment, runtime.now)
    return tuple(done)


def open_memories(
    root: str | project.Project | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    now: Callable[[], datetime] = clock.now,
    on_import: Callable[[int, int], None] | None = None,
    catch_up: bool = True,
    with_personal: bool = True,
    connections: IdleConnections | None = None,
    by: Who | None = None,
) -> Runtime:
    """Open the memory of a project, or of that at *root* (default: of the current folder).

    Pending changes of its files are imported first, unless *catch_up* is False; *on_import* gets
    how many of how many are done. A database that cannot be written or is locked is read from a
    copy. Without *with_personal* the person's own memories are left out. *connections* are those
    of a process that opens memories often; *by* says who acts. Raises NotEnrolled,
    Ambiguous, NewerDatabase or sqlite3.Error.
    """
    if isinstance(root, project.Project):
        found = root
    else:
        found = project.find(root, environment, os.getcwd())
    runtime, is_locked, moment = None, False, now()
    if is_writable(found):
        try:
            runtime = open_runtime(found, environment, moment, connections=connections)
        except database.OperationalError as error:
            if not database.is_locked(error):
                raise
            is_locked = True
    if runtime is None:
        from ademem.worker.read_only import open_copy

        runtime = open_copy(found, environment, moment, is_locked=is_locked)
    changes = runtime.store.db.total_changes
    runtime.clock, runtime.before_close = now, partial(_follow_up, changes)
    runtime.with_personal = with_personal
    if by is not None:
        runtime.by = by
    if runtime.is_read_only:
        return runtime
    move_personal(runtime)
    is_pending = import_waits(found)
    is_new = agreements.has_unread_files(found, runtime.store) and not is_pending
    if is_new or (is_pending and catch_up):
        from ademem.api.files import import_pending

        import_pending(runtime, on_import, is_new=is_new)
    return runtime


def find_project(
    root: str | None = None, *, environment: Mapping[str, str] = os.environ
) -> project.Project | None:
    """Return the project at *root*; without one that of the current folder, or None outside."""
    try:
        return project.find(root, environment, os.getcwd())
    except (NotEnrolled, project.Ambiguous):
        if root is not None:
            raise
        return None


def _follow_up(changes: int, runtime: Runtime) -> None:
    """Do what hooks need of changed memories, and leave the rest to the worker."""
    from ademem.store import bindings as table

    is_changed = runtime.store.db.total_changes > changes
    with suppress(database.OperationalError):  # read-only, or busy: a hook does it
        if table.has_bindings(runtime.store, "due"):
            from ademem.search import binding

            binding.refresh(runtime)
    if is_changed:
        start_worker(runtime)


def start_worker(runtime: Runtime) -> None:
    from ademem import worker

    worker.start(runtime)


def request_import(runtime: Runtime) -> None:
    """Have the worker import edits of the files, where no session of hooks does."""
    if files_edited(runtime.project):
        from ademem.store import jobs

        with suppress(database.OperationalError):  # busy: the next call does it
            jobs.queue(runtime.store, "mirror", "project", runtime.clock())

"""One function for each thing that a door can do; a call loads the module that has it."""

# ruff: noqa: F403 -- for types alone; FUNCTIONS names what is here

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ademem.api.briefs import *
    from ademem.api.curation import *
    from ademem.api.files import *
    from ademem.api.opening import *
    from ademem.api.practice import *
    from ademem.api.reports import *
    from ademem.api.searching import *
    from ademem.api.secret_removal import *
    from ademem.api.upkeep import *
    from ademem.api.writing import *

FUNCTIONS = {
    "opening": "init open_memories",
    "searching": "recall search find_similar list_memories get find_related verify find_astray",
    "writing": "write explain learn origin place_draft",
    "curation": """
        review review_imported accept_files list_claimed_briefs get_speaker
        promote reject archive restore delete pin edit propose list_conflicts settle_conflict
        list_revisions list_events list_at undo
    """,
    "practice": """
        list_episodes list_skills reindex_skills list_procedures get_procedure
        get_procedure_history record_outcome export_procedures start_mission end_mission
        list_missions get_mission list_mission_memories promote_from_mission
    """,
    "briefs": "get_brief update_brief list_agents",
    "files": """
        inspect_files check_files preview_files refresh_files import_files read_pending_brief
        export_memories import_lines import_beads import_feedback
    """,
    "upkeep": "work is_worker_running sweep consolidate",
    "secret_removal": "scrub",
    "reports": """
        get_status get_knowledge get_cost get_impressions get_digest get_guard_state
        list_refusals list_decisions find_overfull judge_command
    """,
}
"""Functions by the module of this package that has them."""

_MODULES = {name: module for module, names in FUNCTIONS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)

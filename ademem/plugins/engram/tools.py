"""Engram's tools: names, arguments and texts; the functions are loaded with the first call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ademem.doors.calls import number
from ademem.plugins.mcp.tools import NO, SHARED, TEXT, choice, read_tools

if TYPE_CHECKING:
    from ademem.plugins.mcp.tools import Schema

ID: Schema = {"description": "A number or an id", "type": ["integer", "string"]}
ARGUMENTS: dict[str, Schema] = SHARED | {
    **dict.fromkeys(("id", "observation_id", "memory_id_a", "memory_id_b"), ID),
    **dict.fromkeys(("hard_delete", "compact", "include_history"), NO),
    **dict.fromkeys(("before", "after"), number(0, 20, 5)),
    "scope": choice("project", "personal", "global"),
    "match_mode": choice("all", "any"),
    "observation": TEXT | {"description": "An older name of content"},
    "capture_prompt": NO | {"description": "Prompts are saved by hooks"},
    "action": choice("list", "mark_reviewed", default="list"),
}

TOOLS = tuple(
    read_tools(
        """
mem_search reads repeats
    Search memory by words.
    ( query! type scope all_projects match_mode response_format limit=1-20:10
mem_save
    Save an observation: what, why, where, learned.
    ( title! content type scope observation topic_key capture_prompt session_id
    ( project_choice_reason recovery_token
mem_update destroys
    Change an observation, or replace `find` by `replace` in it.
    ( id! title content type scope topic_key find replace
mem_review repeats
    List observations that are due for review, or mark one as reviewed.
    ( action observation_id id limit=1-100:20
mem_pin repeats
    Show an observation first in the context.
    ( id!
mem_unpin repeats
    Show an observation first no longer.
    ( id!
mem_suggest_topic_key reads repeats
    Suggest a stable key for a topic that evolves.
    ( type title content
mem_delete destroys repeats
    Delete an observation.
    ( id! hard_delete
mem_save_prompt
    Save what the person asked.
    ( content! session_id project_choice_reason recovery_token
mem_context reads repeats
    What earlier sessions left: pinned, recent, prompts.
    ( compact max_bytes=1000-9000:8000 scope
mem_stats reads repeats
    Totals of sessions, observations and prompts.
mem_timeline reads repeats
    What the same session saved around an observation.
    ( observation_id! before after
mem_get_observation reads repeats
    The whole of an observation.
    ( id! include_history history_cursor offset
mem_session_summary
    Save the summary of a session: Goal, Instructions, Discoveries, Accomplished, Next Steps,
    Relevant Files.
    ( content! session_id project_choice_reason recovery_token
mem_session_start repeats
    Register a session.
    ( id!=text directory
mem_session_end repeats
    End a session.
    ( id!=text summary
mem_capture_passive repeats
    Save the items below `Key Learnings` of a text.
    ( content! source session_id
mem_merge_projects destroys
    Merge spellings of one project's name.
    ( from! to!
mem_current_project reads repeats
    Which project this is, and how it was found.
mem_list_projects reads repeats
    The projects that can be reached from here.
mem_doctor reads repeats
    Check memory for damage.
    ( check
mem_judge repeats
    Tell how two observations relate, as mem_save asked; below 0.7 ask the person.
    ( judgment_id! reason evidence relation! confidence session_id
mem_compare repeats
    Tell how any two observations relate.
    ( memory_id_a! memory_id_b! reasoning model relation! confidence
""",
        ARGUMENTS,
        module="ademem.plugins.engram.answers",
        results="project_source project_path result",
        empty={"project_source": "", "project_path": "", "result": ""},
        shows_text=True,
        is_tolerant=True,
    )
)
"""Of the names with which it asks again for the project, `project` is enough here."""

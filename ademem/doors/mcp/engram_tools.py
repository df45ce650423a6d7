"""Engram's tools as clients list them: the names and arguments of its contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ademem.doors.mcp.tools import (
    CURSOR,
    NO,
    QUERY,
    TEXT,
    VERBS,
    Tool,
    choice,
    describe_tool,
    number,
)

if TYPE_CHECKING:
    Schema = dict[str, Any]

ID: Schema = {"description": "A number or an id", "type": ["integer", "string"]}
CHOSEN = "project_choice_reason recovery_token"
"""What Engram asks for after it could not tell the project; `project` is enough here."""
ARGUMENTS: dict[str, Schema] = {
    **dict.fromkeys(("id", "observation_id", "memory_id_a", "memory_id_b"), ID),
    **dict.fromkeys(("all_projects", "hard_delete", "compact", "include_history"), NO),
    **dict.fromkeys(("before", "after"), number(5, 0, 20)),
    "query": QUERY,
    "scope": choice("project", "personal", "global"),
    "match_mode": choice("all", "any"),
    "observation": TEXT | {"description": "An older name of content"},
    "capture_prompt": NO | {"description": "Prompts are saved by hooks"},
    "action": choice("list", "mark_reviewed", default="list"),
    "history_cursor": CURSOR,
    "offset": number(0, 0, 50_000),
    "relation": choice(*VERBS),
    "confidence": {"type": "number", "default": 1.0, "minimum": 0, "maximum": 1},
}
"""Schemas by name; any other argument is a text."""


def _tool(name: str, description: str, hints: str, names: str = "", **own: Schema) -> Tool:
    return describe_tool(
        f"mem_{name}",
        description,
        hints,
        names,
        "project_source project_path result",
        ARGUMENTS | own,
        module="ademem.doors.mcp.engram",
        shows_text=True,
        is_tolerant=True,
        empty={"project_source": "", "project_path": "", "result": ""},
    )


ENGRAM = (
    _tool(
        "search",
        "Search memory by words.",
        "RI",
        "query! type scope all_projects match_mode response_format limit",
        limit=number(10, 1, 20),
    ),
    _tool(
        "save",
        "Save an observation: what, why, where, learned.",
        "",
        f"title! content type scope observation topic_key capture_prompt session_id {CHOSEN}",
    ),
    _tool(
        "update",
        "Change an observation, or replace `find` by `replace` in it.",
        "D",
        "id! title content type scope topic_key find replace",
    ),
    _tool(
        "review",
        "List observations that are due for review, or mark one as reviewed.",
        "I",
        "action observation_id id limit",
        limit=number(20, 1, 100),
    ),
    _tool("pin", "Show an observation first in the context.", "I", "id!"),
    _tool("unpin", "Show an observation first no longer.", "I", "id!"),
    _tool(
        "suggest_topic_key",
        "Suggest a stable key for a topic that evolves.",
        "RI",
        "type title content",
    ),
    _tool("delete", "Delete an observation.", "DI", "id! hard_delete"),
    _tool("save_prompt", "Save what the person asked.", "", f"content! session_id {CHOSEN}"),
    _tool(
        "context",
        "What earlier sessions left: pinned, recent, prompts.",
        "RI",
        "compact max_bytes scope",
        max_bytes=number(8000, 1000, 9000),
    ),
    _tool("stats", "Totals of sessions, observations and prompts.", "RI"),
    _tool(
        "timeline",
        "What the same session saved around an observation.",
        "RI",
        "observation_id! before after",
    ),
    _tool(
        "get_observation",
        "The whole of an observation.",
        "RI",
        "id! include_history history_cursor offset",
    ),
    _tool(
        "session_summary",
        "Save the summary of a session: Goal, Instructions, Discoveries, Accomplished, Next"
        " Steps, Relevant Files.",
        "",
        f"content! session_id {CHOSEN}",
    ),
    _tool("session_start", "Register a session.", "I", "id! directory", id=TEXT),
    _tool("session_end", "End a session.", "I", "id! summary", id=TEXT),
    _tool(
        "capture_passive",
        "Save the items below `Key Learnings` of a text.",
        "I",
        "content! source session_id",
    ),
    _tool("merge_projects", "Merge spellings of one project's name.", "D", "from! to!"),
    _tool("current_project", "Which project this is, and how it was found.", "RI"),
    _tool("list_projects", "The projects that can be reached from here.", "RI"),
    _tool("doctor", "Check memory for damage.", "RI", "check"),
    _tool(
        "judge",
        "Tell how two observations relate, as mem_save asked; below 0.7 ask the person.",
        "I",
        "judgment_id! reason evidence relation! confidence session_id",
    ),
    _tool(
        "compare",
        "Tell how any two observations relate.",
        "I",
        "memory_id_a! memory_id_b! reasoning model relation! confidence",
    ),
)

"""Engram's tools as clients list them: the names and arguments of its contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ademem.doors.mcp.tools import CURSOR, NO, QUERY, TEXT, VERBS, Tool, choice, number

if TYPE_CHECKING:
    Schema = dict[str, Any]

FROM: dict[str, Any] = {"from": TEXT}
ID: Schema = {"description": "A number or an id", "type": ["integer", "string"]}
SCOPE: Schema = choice("project", "personal", "global")
SESSION: dict[str, Any] = {"session_id": TEXT}
CHOSEN: dict[str, Any] = {"project_choice_reason": TEXT, "recovery_token": TEXT}
"""What Engram asks for after it could not tell the project; `project` is enough here."""
SAVED: dict[str, Any] = {"title": TEXT, "content": TEXT, "type": TEXT, "scope": SCOPE}
VERDICT: dict[str, Any] = {
    "relation": choice(*VERBS),
    "confidence": {"type": "number", "default": 1.0, "minimum": 0, "maximum": 1},
}


def _tool(
    name: str,
    description: str,
    required: str = "",
    *,
    hints: str = "",
    **arguments: Schema,
) -> Tool:
    """Describe a tool; *hints* are R, D and I."""
    return Tool(
        name=f"mem_{name}",
        description=description,
        arguments=arguments,
        required=tuple(required.split()),
        results="project_source project_path result",
        run=name,
        module="ademem.doors.mcp.engram",
        reads="R" in hints,
        destroys="D" in hints,
        repeats="I" in hints,
        shows_text=True,
        is_tolerant=True,
        empty={"project_source": "", "project_path": "", "result": ""},
    )


ENGRAM = (
    _tool(
        "search",
        "Search memory by words.",
        "query",
        hints="RI",
        query=QUERY,
        type=TEXT,
        scope=SCOPE,
        all_projects=NO,
        match_mode=choice("all", "any"),
        response_format=TEXT,
        limit=number(10, 1, 20),
    ),
    _tool(
        "save",
        "Save an observation: what, why, where, learned.",
        "title",
        **SAVED,
        observation=TEXT | {"description": "An older name of content"},
        topic_key=TEXT,
        capture_prompt=NO | {"description": "Prompts are saved by hooks"},
        **SESSION,
        **CHOSEN,
    ),
    _tool(
        "update",
        "Change an observation, or replace `find` by `replace` in it.",
        "id",
        hints="D",
        id=ID,
        **SAVED,
        topic_key=TEXT,
        find=TEXT,
        replace=TEXT,
    ),
    _tool(
        "review",
        "List observations that are due for review, or mark one as reviewed.",
        hints="I",
        action=choice("list", "mark_reviewed", default="list"),
        observation_id=ID,
        id=ID,
        limit=number(20, 1, 100),
    ),
    _tool("pin", "Show an observation first in the context.", "id", hints="I", id=ID),
    _tool("unpin", "Show an observation first no longer.", "id", hints="I", id=ID),
    _tool(
        "suggest_topic_key",
        "Suggest a stable key for a topic that evolves.",
        hints="RI",
        type=TEXT,
        title=TEXT,
        content=TEXT,
    ),
    _tool("delete", "Delete an observation.", "id", hints="DI", id=ID, hard_delete=NO),
    _tool(
        "save_prompt",
        "Save what the person asked.",
        "content",
        content=TEXT,
        **SESSION,
        **CHOSEN,
    ),
    _tool(
        "context",
        "What earlier sessions left: pinned, recent, prompts.",
        hints="RI",
        compact=NO,
        max_bytes=number(8000, 1000, 9000),
        scope=SCOPE,
    ),
    _tool("stats", "Totals of sessions, observations and prompts.", hints="RI"),
    _tool(
        "timeline",
        "What the same session saved around an observation.",
        "observation_id",
        hints="RI",
        observation_id=ID,
        before=number(5, 0, 20),
        after=number(5, 0, 20),
    ),
    _tool(
        "get_observation",
        "The whole of an observation.",
        "id",
        hints="RI",
        id=ID,
        include_history=NO,
        history_cursor=CURSOR,
        offset=number(0, 0, 50_000),
    ),
    _tool(
        "session_summary",
        "Save the summary of a session: Goal, Instructions, Discoveries, Accomplished, Next"
        " Steps, Relevant Files.",
        "content",
        content=TEXT,
        **SESSION,
        **CHOSEN,
    ),
    _tool("session_start", "Register a session.", "id", hints="I", id=TEXT, directory=TEXT),
    _tool("session_end", "End a session.", "id", hints="I", id=TEXT, summary=TEXT),
    _tool(
        "capture_passive",
        "Save the items below `Key Learnings` of a text.",
        "content",
        hints="I",
        content=TEXT,
        source=TEXT,
        **SESSION,
    ),
    _tool(
        "merge_projects",
        "Merge spellings of one project's name.",
        "from to",
        hints="D",
        to=TEXT,
        **FROM,
    ),
    _tool("current_project", "Which project this is, and how it was found.", hints="RI"),
    _tool("list_projects", "The projects that can be reached from here.", hints="RI"),
    _tool("doctor", "Check memory for damage.", hints="RI", check=TEXT),
    _tool(
        "judge",
        "Tell how two observations relate, as mem_save asked; below 0.7 ask the person.",
        "judgment_id relation",
        hints="I",
        judgment_id=TEXT,
        reason=TEXT,
        evidence=TEXT,
        **VERDICT,
        **SESSION,
    ),
    _tool(
        "compare",
        "Tell how any two observations relate.",
        "memory_id_a memory_id_b relation",
        hints="I",
        memory_id_a=ID,
        memory_id_b=ID,
        reasoning=TEXT,
        model=TEXT,
        **VERDICT,
    ),
)

"""The tools: their arguments and results as schemas, and the function that each calls."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ademem.core.errors import NotFound, UsageError
from ademem.core.memory import SCOPES, Category, Importance
from ademem.core.value import Value
from ademem.doors.calls import NOTICE, check_arguments, choose_schemas

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ademem.doors.mcp.access import Call

    Schema = dict[str, Any]


REFUSAL = ("rule", "why", "next")


class Tool(Value):
    """A tool as the client lists it. `answer` gets the open project and the arguments."""

    name: str
    description: str
    arguments: Mapping[str, Schema]
    required: tuple[str, ...] = ()
    results: str
    """Keys of the result; those that may be missing end with `?`."""
    module: str = "ademem.doors.mcp.core"
    """Has the function that is named as the tool, and is loaded with the first call."""
    reads: bool = False
    destroys: bool = False
    repeats: bool = False
    """Twice is as once."""
    always_loaded: bool = False
    empty: dict[str, Any] | None = None
    """Result where no project is enrolled; None: a refusal."""
    joins: bool = False
    """Of several projects all answer; else the first that has one."""
    is_tolerant: bool = False
    """Unknown arguments are left out."""
    shows_text: bool = False
    """The result has texts of memories."""

    @property
    def input_schema(self) -> Schema:
        return {
            "type": "object",
            "properties": {**self.arguments, "project": TEXT},
            **({"required": list(self.required)} if self.required else {}),
            "additionalProperties": self.is_tolerant,
        }

    @property
    def output_schema(self) -> Schema:
        names = [*(["notice"] if self.shows_text else []), "project", *self.results.split()]
        answer = [name for name in names if not name.endswith("?")]
        return {
            "type": "object",
            "properties": {name.rstrip("?"): {} for name in (*names, *REFUSAL)},
            # A refusal has the same schema, as some clients validate it too.
            "anyOf": [{"required": answer}, {"required": list(REFUSAL)}],
        }

    def answer(self, call: Call) -> dict[str, Any]:
        """Validate the arguments before anything opens, then call the function of the tool."""
        schema, given = self.input_schema, call.arguments
        if self.is_tolerant:
            given = {name: value for name, value in given.items() if name in schema["properties"]}
        arguments = check_arguments(schema, given)
        projects = call.choose(arguments.pop("project", ""), writes=not self.reads)
        if not self.reads:
            call.caller.admit_write(projects[0])
        notice = {"notice": NOTICE} if self.shows_text else {}
        if not projects:
            if self.empty is None:
                raise call.none_enrolled()
            return notice | {"project": ""} | self.empty | {"next": "ademem init"}
        run = getattr(import_module(self.module), self.name.partition("_")[2])
        if self.joins and len(projects) > 1:
            with call.open_all(projects) as (memories, others):
                answer: dict[str, Any] = run(memories, call, **arguments, others=others)
                names = ", ".join(found.name for found in projects)
                return notice | {"project": names} | answer
        for found in projects:
            try:
                with call.open(found, writes=not self.reads) as memories:
                    answer = run(memories, call, **arguments)
                    return notice | {"project": found.name} | answer
            except NotFound:
                if found is projects[-1]:
                    raise
        raise AssertionError  # the last project has answered or raised


TEXT: Schema = {"type": "string"}
ID: Schema = {"type": "string", "maxLength": 64}
QUERY: Schema = {"type": "string", "maxLength": 1000}
TEXTS: Schema = {"type": "array", "items": TEXT, "maxItems": 20}
YES: Schema = {"type": "boolean", "default": True}
NO: Schema = {"type": "boolean", "default": False}


def number(default: int, least: int, most: int) -> Schema:
    return {"type": "integer", "default": default, "minimum": least, "maximum": most}


CURSOR = number(0, 0, 2**31)


def choice(*names: str, default: str = "") -> Schema:
    return {"enum": list(names)} | ({"default": default} if default else {})


def _text(description: str, longest: int = 0) -> Schema:
    length = {"maxLength": longest} if longest else {}
    return {"type": "string", "description": description} | length


VERBS = "related compatible scoped conflicts_with supersedes not_conflict".split()
ABOUT = "category type title topic_key tags path anchors"
ARGUMENTS: dict[str, Schema] = {
    **dict.fromkeys(("id", "other", "judgment_id"), ID),
    "query": QUERY | {"description": "Plain words"},
    "content": _text("One fact in one or two sentences, with why it holds", 50_000),
    "category": choice(*Category),
    "topic_key": _text("A new text with the same key replaces the old one"),
    "tags": TEXTS,
    "path": _text("Glob of the files that it is about"),
    "anchors": TEXTS | {"description": "file:first-last, or `$ command`"},
    "importance": choice(*Importance),
    "scope": choice(*SCOPES),
    "since": _text("ISO 8601, or ago: 3h, 2d"),
    "candidates": NO | {"description": "Unconfirmed ones too"},
    **dict.fromkeys(("archived", "all_projects", "history"), NO),
    "limit": number(5, 1, 20),
    "cursor": _text("next_cursor of the page before"),
    **dict.fromkeys(("before", "after"), number(3, 0, 20)),
    "offset": number(0, 0, 50_000),
    "history_cursor": CURSOR,
    "max_chars": number(8000, 1000, 10_000),
    "operation_id": _text("Makes a repeated call the same one", 128),
    "revision": {"type": "integer", "description": "The one that you read"},
    "how": choice("archive", "delete", default="archive"),
    "pinned": YES,
    "relation": choice(*VERBS),
    "confidence": {"type": "number", "default": 1.0, "minimum": 0, "maximum": 1},
    **dict.fromkeys("criticalConventions userPreferences activeFocus notes".split(), TEXTS),
    "version": number(0, 0, 2**31) | {"description": "The version that you read"},
}
"""Schemas by name; any other argument is a text."""


def describe_tool(
    name: str,
    description: str,
    hints: str,
    names: str,
    results: str,
    schemas: Mapping[str, Schema] = ARGUMENTS,
    **options: Any,
) -> Tool:
    """Describe a tool; *hints* are R, D and I. The *names* that end with `!` are required."""
    arguments, required = choose_schemas(names, schemas)
    return Tool(
        name=name,
        description=description,
        arguments=arguments,
        required=required,
        results=results,
        reads="R" in hints,
        destroys="D" in hints,
        repeats="I" in hints,
        **options,
    )


CORE = (
    describe_tool(
        "memory_search",
        "Search project memory by words of a task, a path or an error."
        " Call it before you change anything.",
        "RI",
        "query! limit category type scope path branch since until candidates archived"
        " all_projects cursor",
        "query mode relaxed count total memories next_cursor?",
        ARGUMENTS | {"path": _text("Only about this file")},
        empty={
            "query": "",
            "mode": "none",
            "relaxed": False,
            "count": 0,
            "total": 0,
            "memories": [],
        },
        joins=True,
        shows_text=True,
        always_loaded=True,
    ),
    describe_tool(
        "memory_timeline",
        "What the same session saved before and after a memory.",
        "RI",
        "id! before after",
        "session? focus before after left_out?",
        shows_text=True,
    ),
    describe_tool(
        "memory_get",
        "A whole memory, with its history on request.",
        "RI",
        "id! offset history history_cursor",
        "memory text next_offset? revisions? next_history_cursor?",
        shows_text=True,
        always_loaded=True,
    ),
    describe_tool(
        "memory_context",
        "What a session starts with: brief, conventions, decisions, recent work.",
        "RI",
        "max_chars scope",
        "text left_out",
        ARGUMENTS | {"scope": choice(*SCOPES, default="project")},
        empty={"text": "", "left_out": {}},
        shows_text=True,
    ),
    describe_tool(
        "memory_status",
        "Which project and session this is, and how much memory there is.",
        "RI",
        "",
        "root how others session counts model queue guard version",
        empty=dict.fromkeys(("root", "how", "session", "queue", "guard", "version"), "")
        | {"others": [], "counts": {}, "model": {}},
    ),
    describe_tool(
        "memory_add",
        "Save what would save somebody an hour: a decision and why, a trap, a"
        " convention, the cause of a bug. Never a secret. A person confirms it later.",
        "",
        f"content! {ABOUT} importance scope owner operation_id",
        "accepted durability id? rule? why? next? deduped merged_into? revision"
        " truncated? notes? topic_key_suggestion? judgment_required candidates",
        ARGUMENTS
        | {
            "importance": choice(*Importance, default="medium"),
            "scope": choice(*SCOPES, default="project"),
        },
        shows_text=True,
        always_loaded=True,
    ),
    describe_tool(
        "memory_update",
        "Change a memory, or replace `find` by `replace` in its text.",
        "D",
        f"id! content find replace {ABOUT} importance revision",
        "id revision changed why? next?",
    ),
    describe_tool(
        "memory_remove",
        "Archive or delete a memory that is wrong or outdated; `undo` restores it.",
        "DI",
        "id! how reason",
        "id how undo",
    ),
    describe_tool(
        "memory_pin",
        "Show a memory in each briefing, or with pinned=false no longer.",
        "I",
        "id! pinned",
        "id pinned",
    ),
    describe_tool(
        "memory_judge",
        "Tell how two memories relate, as memory_add asked or for any pair.",
        "I",
        "relation! judgment_id id other reason evidence confidence",
        "relation_id relation status effect",
    ),
    describe_tool(
        "memory_update_core",
        "Replace fields of the project brief; lists replace lists.",
        "D",
        "projectSummary criticalConventions userPreferences activeFocus notes version!",
        "version updatedAt",
    ),
)


ENGRAM_ID: Schema = {"description": "A number or an id", "type": ["integer", "string"]}
CHOSEN = "project_choice_reason recovery_token"
"""What Engram asks for after it could not tell the project; `project` is enough here."""
ENGRAM_ARGUMENTS: dict[str, Schema] = {
    **dict.fromkeys(("id", "observation_id", "memory_id_a", "memory_id_b"), ENGRAM_ID),
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


def _engram_tool(name: str, description: str, hints: str, names: str = "", **own: Schema) -> Tool:
    return describe_tool(
        f"mem_{name}",
        description,
        hints,
        names,
        "project_source project_path result",
        ENGRAM_ARGUMENTS | own,
        module="ademem.doors.mcp.engram",
        shows_text=True,
        is_tolerant=True,
        empty={"project_source": "", "project_path": "", "result": ""},
    )


ENGRAM = (
    _engram_tool(
        "search",
        "Search memory by words.",
        "RI",
        "query! type scope all_projects match_mode response_format limit",
        limit=number(10, 1, 20),
    ),
    _engram_tool(
        "save",
        "Save an observation: what, why, where, learned.",
        "",
        f"title! content type scope observation topic_key capture_prompt session_id {CHOSEN}",
    ),
    _engram_tool(
        "update",
        "Change an observation, or replace `find` by `replace` in it.",
        "D",
        "id! title content type scope topic_key find replace",
    ),
    _engram_tool(
        "review",
        "List observations that are due for review, or mark one as reviewed.",
        "I",
        "action observation_id id limit",
        limit=number(20, 1, 100),
    ),
    _engram_tool("pin", "Show an observation first in the context.", "I", "id!"),
    _engram_tool("unpin", "Show an observation first no longer.", "I", "id!"),
    _engram_tool(
        "suggest_topic_key",
        "Suggest a stable key for a topic that evolves.",
        "RI",
        "type title content",
    ),
    _engram_tool("delete", "Delete an observation.", "DI", "id! hard_delete"),
    _engram_tool("save_prompt", "Save what the person asked.", "", f"content! session_id {CHOSEN}"),
    _engram_tool(
        "context",
        "What earlier sessions left: pinned, recent, prompts.",
        "RI",
        "compact max_bytes scope",
        max_bytes=number(8000, 1000, 9000),
    ),
    _engram_tool("stats", "Totals of sessions, observations and prompts.", "RI"),
    _engram_tool(
        "timeline",
        "What the same session saved around an observation.",
        "RI",
        "observation_id! before after",
    ),
    _engram_tool(
        "get_observation",
        "The whole of an observation.",
        "RI",
        "id! include_history history_cursor offset",
    ),
    _engram_tool(
        "session_summary",
        "Save the summary of a session: Goal, Instructions, Discoveries, Accomplished, Next"
        " Steps, Relevant Files.",
        "",
        f"content! session_id {CHOSEN}",
    ),
    _engram_tool("session_start", "Register a session.", "I", "id! directory", id=TEXT),
    _engram_tool("session_end", "End a session.", "I", "id! summary", id=TEXT),
    _engram_tool(
        "capture_passive",
        "Save the items below `Key Learnings` of a text.",
        "I",
        "content! source session_id",
    ),
    _engram_tool("merge_projects", "Merge spellings of one project's name.", "D", "from! to!"),
    _engram_tool("current_project", "Which project this is, and how it was found.", "RI"),
    _engram_tool("list_projects", "The projects that can be reached from here.", "RI"),
    _engram_tool("doctor", "Check memory for damage.", "RI", "check"),
    _engram_tool(
        "judge",
        "Tell how two observations relate, as mem_save asked; below 0.7 ask the person.",
        "I",
        "judgment_id! reason evidence relation! confidence session_id",
    ),
    _engram_tool(
        "compare",
        "Tell how any two observations relate.",
        "I",
        "memory_id_a! memory_id_b! reasoning model relation! confidence",
    ),
)


def choose(profile: str, *, read_only: bool) -> list[Tool]:
    """Return the tools of `core`, `engram`, `all`, or by their names; raises UsageError."""
    profiles = {"core": CORE, "engram": ENGRAM, "all": (*CORE, *ENGRAM)}
    every = {tool.name: tool for tool in profiles["all"]}
    if profile in profiles:
        chosen = list(profiles[profile])
    else:
        names = [name.strip() for name in profile.split(",")]
        if unknown := [name for name in names if name not in every]:
            raise UsageError(f"there is no tool {unknown[0]!r}", ", ".join(every))
        chosen = [every[name] for name in names]
    return [tool for tool in chosen if tool.reads or not read_only]

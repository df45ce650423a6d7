"""The tools: their arguments and results as schemas, and the function that each calls."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ademem.core.errors import NotFound, UsageError
from ademem.core.memory import SCOPES, Category, Importance
from ademem.core.value import Value
from ademem.doors.calls import NOTICE, check_arguments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ademem.doors.mcp.access import Call

    Schema = dict[str, Any]


REFUSAL = ("rule", "why", "next")
"""Keys of each refusal."""


class Tool(Value):
    """A tool as the client lists it. `answer` gets the open project and the arguments."""

    name: str
    description: str
    arguments: Mapping[str, Schema]
    required: tuple[str, ...] = ()
    results: str
    """Keys of the result; those that may be missing end with `?`."""
    run: str
    """Function of the module, which is loaded with the first call."""
    module: str = "ademem.doors.mcp.core"
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
        run = getattr(import_module(self.module), self.run)
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


CATEGORIES = tuple(Category)
IMPORTANCES = tuple(Importance)
VERBS = "related compatible scoped conflicts_with supersedes not_conflict".split()
WHAT = _text("One fact in one or two sentences, with why it holds", 50_000)
ABOUT: dict[str, Schema] = {
    "category": choice(*CATEGORIES),
    "type": TEXT,
    "title": TEXT,
    "topic_key": _text("A new text with the same key replaces the old one"),
    "tags": TEXTS,
    "path": _text("Glob of the files that it is about"),
    "anchors": TEXTS | {"description": "file:first-last, or `$ command`"},
}

CORE = (
    Tool(
        name="memory_search",
        description="Search project memory by words of a task, a path or an error."
        " Call it before you change anything.",
        arguments={
            "query": QUERY | {"description": "Plain words"},
            "limit": number(5, 1, 20),
            "category": choice(*CATEGORIES),
            "type": TEXT,
            "scope": choice(*SCOPES),
            "path": _text("Only about this file"),
            "branch": TEXT,
            "since": _text("ISO 8601, or ago: 3h, 2d"),
            "until": TEXT,
            "candidates": NO | {"description": "Unconfirmed ones too"},
            "archived": NO,
            "all_projects": NO,
            "cursor": _text("next_cursor of the page before"),
        },
        required=("query",),
        results="query mode relaxed count total memories next_cursor?",
        run="search",
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
        reads=True,
        repeats=True,
        always_loaded=True,
    ),
    Tool(
        name="memory_timeline",
        description="What the same session saved before and after a memory.",
        arguments={"id": ID, "before": number(3, 0, 20), "after": number(3, 0, 20)},
        required=("id",),
        results="session? focus before after left_out?",
        run="timeline",
        shows_text=True,
        reads=True,
        repeats=True,
    ),
    Tool(
        name="memory_get",
        description="A whole memory, with its history on request.",
        arguments={
            "id": ID,
            "offset": number(0, 0, 50_000),
            "history": NO,
            "history_cursor": CURSOR,
        },
        required=("id",),
        results="memory text next_offset? revisions? next_history_cursor?",
        run="get",
        shows_text=True,
        reads=True,
        repeats=True,
        always_loaded=True,
    ),
    Tool(
        name="memory_context",
        description="What a session starts with: brief, conventions, decisions, recent work.",
        arguments={
            "max_chars": number(8000, 1000, 10_000),
            "scope": choice(*SCOPES, default="project"),
        },
        results="text left_out",
        run="context",
        empty={"text": "", "left_out": {}},
        shows_text=True,
        reads=True,
        repeats=True,
    ),
    Tool(
        name="memory_status",
        description="Which project and session this is, and how much memory there is.",
        arguments={},
        results="root how others session counts model queue guard version",
        run="status",
        empty=dict.fromkeys(("root", "how", "session", "queue", "guard", "version"), "")
        | {"others": [], "counts": {}, "model": {}},
        reads=True,
        repeats=True,
    ),
    Tool(
        name="memory_add",
        description="Save what would save somebody an hour: a decision and why, a trap, a"
        " convention, the cause of a bug. Never a secret. A person confirms it later.",
        arguments={
            "content": WHAT,
            **ABOUT,
            "importance": choice(*IMPORTANCES, default="medium"),
            "scope": choice(*SCOPES, default="project"),
            "owner": TEXT,
            "operation_id": _text("Makes a repeated call the same one", 128),
        },
        required=("content",),
        results="accepted durability id? rule? why? next? deduped merged_into? revision"
        " truncated? notes? topic_key_suggestion? judgment_required candidates",
        run="add",
        shows_text=True,
        always_loaded=True,
    ),
    Tool(
        name="memory_update",
        description="Change a memory, or replace `find` by `replace` in its text.",
        arguments={
            "id": ID,
            "content": WHAT,
            "find": TEXT,
            "replace": TEXT,
            **ABOUT,
            "importance": choice(*IMPORTANCES),
            "revision": {
                "type": "integer",
                "description": "The one that you read",
            },
        },
        required=("id",),
        results="id revision changed why? next?",
        run="update",
        destroys=True,
    ),
    Tool(
        name="memory_remove",
        description="Archive or delete a memory that is wrong or outdated; `undo` restores it.",
        arguments={
            "id": ID,
            "how": choice("archive", "delete", default="archive"),
            "reason": TEXT,
        },
        required=("id",),
        results="id how undo",
        run="remove",
        destroys=True,
        repeats=True,
    ),
    Tool(
        name="memory_pin",
        description="Show a memory in each briefing, or with pinned=false no longer.",
        arguments={"id": ID, "pinned": YES},
        required=("id",),
        results="id pinned",
        run="pin",
        repeats=True,
    ),
    Tool(
        name="memory_judge",
        description="Tell how two memories relate, as memory_add asked or for any pair.",
        arguments={
            "relation": choice(*VERBS),
            "judgment_id": ID,
            "id": ID,
            "other": ID,
            "reason": TEXT,
            "evidence": TEXT,
            "confidence": {"type": "number", "default": 1.0, "minimum": 0, "maximum": 1},
        },
        required=("relation",),
        results="relation_id relation status effect",
        run="judge",
        repeats=True,
    ),
    Tool(
        name="memory_update_core",
        description="Replace fields of the project brief; lists replace lists.",
        arguments={
            "projectSummary": TEXT,
            "criticalConventions": TEXTS,
            "userPreferences": TEXTS,
            "activeFocus": TEXTS,
            "notes": TEXTS,
            "version": number(0, 0, 2**31) | {"description": "The version that you read"},
        },
        required=("version",),
        results="version updatedAt",
        run="update_core",
        destroys=True,
    ),
)


def choose(profile: str, *, read_only: bool) -> list[Tool]:
    """Return the tools of `core`, `engram`, `all`, or by their names; raises UsageError."""
    from ademem.doors.mcp.engram_tools import ENGRAM

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

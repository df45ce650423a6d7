"""The tools: their arguments and results as schemas, and the function that each calls."""

from __future__ import annotations

import re
from contextlib import ExitStack
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ademem.core import plugins
from ademem.core.errors import NotFound, UsageError
from ademem.core.memory import SCOPES, Category, Importance
from ademem.core.value import Value
from ademem.doors.calls import NOTICE, check_arguments, choose_schemas, number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ademem.plugins.mcp.access import Call

    Schema = dict[str, Any]


REFUSAL = ("rule", "why", "next")


class Tool(Value):
    name: str
    description: str
    arguments: Mapping[str, Schema]
    required: tuple[str, ...] = ()
    results: str
    """Keys of the result; those that may be missing end with `?`."""
    module: str = "ademem.plugins.mcp.core"
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
        named, may_lack = arguments.pop("project", ""), self.reads and self.empty is not None
        projects = call.choose(named, writes=not self.reads, may_lack=may_lack)
        if not self.reads:
            call.caller.admit_write(projects[0])
        head: dict[str, Any] = {"notice": NOTICE} if self.shows_text else {}
        if not projects:
            return head | {"project": ""} | (self.empty or {}) | {"next": "ademem init"}
        module, name = import_module(self.module), self.name.partition("_")[2]
        run: Callable[..., dict[str, Any]] = getattr(module, name)
        if self.joins and len(projects) > 1:
            head["project"] = ", ".join(found.name for found in projects)
            with ExitStack() as opened:
                memories, *rest = (opened.enter_context(call.open(each)) for each in projects)
                others = {each.project.name: each for each in rest}
                return head | run(memories, call, **arguments, others=others)
        for found in projects:
            try:
                with call.open(found, writes=not self.reads) as memories:
                    answer = run(memories, call, **arguments)
                    head["project"] = found.name
                    if self.is_tolerant and "rule" not in answer:
                        head |= {"project_source": call.how, "project_path": found.root}
                    return head | answer
            except NotFound:
                if found is projects[-1]:
                    raise
        raise AssertionError  # the last project has answered or raised


TEXT: Schema = {"type": "string"}
QUERY: Schema = {"type": "string", "maxLength": 1000}
TEXTS: Schema = {"type": "array", "items": TEXT, "maxItems": 20}
NO: Schema = {"type": "boolean", "default": False}
CURSOR = number(0, 2**31, 0)


def choice(*names: str, default: str = "") -> Schema:
    return {"enum": list(names)} | ({"default": default} if default else {})


def _text(description: str, longest: int = 0) -> Schema:
    length = {"maxLength": longest} if longest else {}
    return {"type": "string", "description": description} | length


SHARED: dict[str, Schema] = {
    "query": QUERY,
    "all_projects": NO,
    "offset": number(0, 50_000, 0),
    "history_cursor": CURSOR,
    "relation": choice(*"related compatible scoped conflicts_with supersedes not_conflict".split()),
    "confidence": {"type": "number", "default": 1.0, "minimum": 0, "maximum": 1},
}
ID: Schema = {"type": "string", "maxLength": 64}
ARGUMENTS: dict[str, Schema] = SHARED | {
    **dict.fromkeys(("id", "other", "judgment_id"), ID),
    "query": QUERY | {"description": "Plain words"},
    "content": _text("One fact in one or two sentences, with why it holds", 50_000),
    "category": choice(*Category),
    "topic_key": _text("A new text with the same key replaces the old one"),
    "tags": TEXTS,
    "path": _text("Glob of the files that it is about"),
    "searched_path": _text("Only about this file"),
    "anchors": TEXTS | {"description": "file:first-last, or `$ command`"},
    "at": TEXTS | {"description": "Where it applies: src/**, `npm install`, act:deploy"},
    "importance": choice(*Importance),
    "new_importance": choice(*Importance, default="medium"),
    "scope": choice(*SCOPES),
    "own_scope": choice(*SCOPES, default="project"),
    "since": _text("ISO 8601, or ago: 3h, 2d"),
    "candidates": NO | {"description": "Unconfirmed ones too"},
    **dict.fromkeys(("archived", "history"), NO),
    "cursor": _text("next_cursor of the page before"),
    "operation_id": _text("Makes a repeated call the same one", 128),
    "revision": {"type": "integer", "description": "The one that you read"},
    "how": choice("archive", "delete", default="archive"),
    "pinned": {"type": "boolean", "default": True},
    **dict.fromkeys("criticalConventions userPreferences activeFocus notes".split(), TEXTS),
    "version": CURSOR | {"description": "The version that you read"},
}
"""Schemas by name; any other argument is a text."""
EMPTY: dict[str, dict[str, Any]] = {
    "memory_search": {"query": "", "mode": "none", "relaxed": False}
    | {"count": 0, "total": 0, "memories": []},
    "memory_context": {"text": "", "left_out": {}},
    "memory_status": {"root": "", "how": "", "others": [], "session": "", "counts": {}, "model": {}}
    | dict.fromkeys(("queue", "guard", "version"), ""),
}
"""Results where no project is enrolled; other tools are refused there."""


def read_tools(table: str, schemas: Mapping[str, Schema], **shared: Any) -> Iterator[Tool]:
    """Yield the tools of a table: a name with what holds of the tool, and below it its texts.

    The arguments, as `choose_schemas` reads them, are behind `(`, the keys of the result behind
    `>`, and other lines describe the tool.
    """
    for block in re.split(r"\n(?=\S)", table.strip()):
        head, *below = block.split("\n")
        name, *traits = head.split()
        texts = {"(": "", ">": "", "": ""}
        for line in map(str.strip, below):
            mark = line[0] if line[0] in texts else ""
            texts[mark] = f"{texts[mark]} {line.removeprefix(mark)}".strip()
        arguments, required = choose_schemas(texts["("], schemas)
        given = {"results": texts[">"], "empty": EMPTY.get(name), "required": required} | shared
        given |= dict.fromkeys(traits, True)
        yield Tool(name=name, description=texts[""], arguments=arguments, **given)


CORE = tuple(
    read_tools(
        """
memory_search reads repeats joins shows_text always_loaded
    Search project memory by words of a task, a path or an error. Call it before you change
    anything.
    ( query! limit=1-20:5 category type scope path=searched_path branch since until candidates
    ( archived all_projects cursor
    > query mode relaxed count total memories next_cursor?
memory_timeline reads repeats shows_text
    What the same session saved before and after a memory.
    ( id! before=0-20:3 after=0-20:3
    > session? focus before after left_out?
memory_get reads repeats shows_text always_loaded
    A whole memory, with its history on request.
    ( id! offset history history_cursor
    > memory text next_offset? revisions? next_history_cursor?
memory_context reads repeats shows_text
    What a session starts with: brief, conventions, decisions, recent work.
    ( max_chars=1000-10000:8000 scope
    > text left_out
memory_status reads repeats
    Which project and session this is, and how much memory there is.
    > root how others session counts model queue guard version
memory_add shows_text always_loaded
    Save what would save a colleague an hour: a decision and why, a trap, a convention, the cause
    of a bug. Never a secret. A person confirms it later.
    ( content! category type title topic_key tags path anchors at importance=new_importance
    ( scope=own_scope owner operation_id
    > accepted durability id? rule? why? next? deduped merged_into? revision truncated? notes?
    > at? topic_key_suggestion? judgment_required candidates
memory_update destroys shows_text
    Change a memory, or replace `find` by `replace` in its text.
    ( id! content find replace category type title topic_key tags path anchors at importance
    ( revision
    > id revision changed at? notes? why? next?
memory_remove destroys repeats
    Archive or delete a memory that is wrong or outdated; `undo` restores it.
    ( id! how reason
    > id how undo
memory_pin repeats
    Show a memory in each briefing, or with pinned=false no longer.
    ( id! pinned
    > id pinned
memory_judge repeats
    Tell how two memories relate, as memory_add asked or for any pair.
    ( relation! judgment_id id other reason evidence confidence
    > relation_id relation status effect
memory_update_core destroys
    Replace fields of the project brief; lists replace lists.
    ( projectSummary criticalConventions userPreferences activeFocus notes version!
    > version updatedAt
""",
        ARGUMENTS,
    )
)


def choose(profile: str, *, read_only: bool) -> list[Tool]:
    profiles = {"core": CORE} if profile == "core" else load_profiles()
    every = {tool.name: tool for tools in profiles.values() for tool in tools}
    if profile == "all":
        chosen = list(every.values())
    elif profile in profiles:
        chosen = list(profiles[profile])
    else:
        names = [name.strip() for name in profile.split(",")]
        if unknown := [name for name in names if name not in every]:
            raise UsageError(f"there is no tool {unknown[0]!r}", ", ".join(every))
        chosen = [every[name] for name in names]
    return [tool for tool in chosen if tool.reads or not read_only]


def load_profiles() -> dict[str, tuple[Tool, ...]]:
    """Return the core's tools and those of parts, by the names of their profiles."""
    found = {"core": CORE}
    for profile, (module, *_) in plugins.modules_by_word("TOOLS").items():
        if loaded := plugins.load(module):
            found[profile] = loaded.TOOLS
    return found

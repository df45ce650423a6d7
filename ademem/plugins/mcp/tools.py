"""The tools, which follow from the signatures of operations."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from ademem.core import plugins
from ademem.core.errors import NotFound, UsageError
from ademem.core.project import Project
from ademem.core.value import Value
from ademem.doors.calls import NOTICE
from ademem.operations.arguments import check_arguments
from ademem.operations.memory_operations import OPERATIONS
from ademem.operations.signatures import schema_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ademem.operations.signatures import Operation
    from ademem.plugins.mcp.access import Call

    Schema = dict[str, Any]


REFUSAL = ("rule", "why", "next")


class Tool(Value):
    """An operation as a tool."""

    name: str
    operation: Operation
    is_tolerant: bool = False
    """Unknown arguments are left out, and the answer says which project it is of."""

    @property
    def description(self) -> str:
        return self.operation.summary

    @property
    def reads(self) -> bool:
        return self.operation.reads

    @property
    def input_schema(self) -> Schema:
        schema = schema_of(self.operation.parameters)
        schema["properties"]["project"] = TEXT
        return schema | {"additionalProperties": self.is_tolerant}

    @property
    def output_schema(self) -> Schema:
        keys = self.operation.answer
        head = [*(["notice"] if self.operation.shows_text else []), "project"]
        always = [*head, *keys.always]
        return {
            "type": "object",
            "properties": {name: {} for name in (*always, *keys.sometimes, *REFUSAL)},
            # A refusal has the same schema, as some clients validate it too.
            "anyOf": [{"required": always}, {"required": list(REFUSAL)}],
        }

    def answer(self, call: Call) -> dict[str, Any]:
        """Validate the arguments before anything opens, then call the function of the tool."""
        operation, schema, given = self.operation, self.input_schema, call.arguments
        if self.is_tolerant:
            given = {name: value for name, value in given.items() if name in schema["properties"]}
        arguments = check_arguments(schema, given)
        named, may_lack = arguments.pop("project", ""), operation.empty is not None
        projects = call.choose(named, writes=not operation.reads, may_lack=may_lack)
        if not operation.reads:
            call.caller.admit_write(projects[0])
        head: dict[str, Any] = {"notice": NOTICE} if operation.shows_text else {}
        if not projects:
            return head | {"project": ""} | dict(operation.empty or {}) | {"next": "ademem init"}
        if operation.joins and len(projects) > 1:
            return head | self._answer_joined(call, projects, arguments)
        return head | self._answer_first(call, projects, arguments)

    def _answer_first(
        self, call: Call, projects: Sequence[Project], arguments: dict[str, Any]
    ) -> dict[str, Any]:
        """Answer from the first project that has what is asked for."""
        *others, last = projects
        for project in others:
            with suppress(NotFound):
                return self._answer_from(project, call, arguments)
        return self._answer_from(last, call, arguments)

    def _answer_from(
        self, project: Project, call: Call, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        with call.open(project, writes=not self.operation.reads) as memories:
            answer: dict[str, Any] = self.operation.call(memories, call, arguments)
        head = {"project": project.name}
        if self.is_tolerant and "rule" not in answer:
            head |= {"project_source": call.how, "project_path": project.root}
        return head | answer

    def _answer_joined(
        self, call: Call, projects: Sequence[Project], arguments: dict[str, Any]
    ) -> dict[str, Any]:
        """Answer from several projects at once, of which the first is asked with the others."""
        with ExitStack() as opened:
            memories, *rest = (opened.enter_context(call.open(each)) for each in projects)
            call.others = {each.project.name: each for each in rest}
            names = ", ".join(found.name for found in projects)
            return {"project": names, **self.operation.call(memories, call, arguments)}


TEXT: Schema = {"type": "string"}


def make_tools(
    operations: Iterable[Operation], prefix: str, *, is_tolerant: bool = False
) -> tuple[Tool, ...]:
    """Return a tool for each operation that programs may call, named after its function."""
    return tuple(
        Tool(name=prefix + each.run.__name__, operation=each, is_tolerant=is_tolerant)
        for each in operations
        if each.audience != "people"
    )


CORE = make_tools(OPERATIONS, "memory_")


def choose(profile: str, *, read_only: bool) -> list[Tool]:
    """Return the tools of a profile, or those that a list between commas names."""
    profiles = {"core": CORE} if profile == "core" else load_profiles()
    every = {tool.name: tool for tools in profiles.values() for tool in tools}
    if profile == "all":
        chosen: Iterable[Tool] = every.values()
    elif profile in profiles:
        chosen = profiles[profile]
    else:
        chosen = _pick(profile, every)
    return [tool for tool in chosen if tool.reads or not read_only]


def _pick(listed: str, every: Mapping[str, Tool]) -> list[Tool]:
    names = [name.strip() for name in listed.split(",")]
    if unknown := [name for name in names if name not in every]:
        raise UsageError(f"there is no tool {unknown[0]!r}", ", ".join(every))
    return [every[name] for name in names]


def load_profiles() -> dict[str, tuple[Tool, ...]]:
    """Return the core's tools and those of parts, by the names of their profiles."""
    found = {"core": CORE}
    for profile, (module, *_) in plugins.modules_by_word("TOOLS").items():
        if loaded := plugins.load(module):
            found[profile] = loaded.TOOLS
    return found

"""The methods of JSON-RPC: `ade.memory.*`, each one function of `ademem.operations`."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from ademem.core.errors import AdememError, NoSuchMemory
from ademem.core.memory import Category, Draft, Importance, Scope, Status
from ademem.core.value import Value, replace
from ademem.doors import calls
from ademem.operations import curation, files, reports, searching, upkeep, writing
from ademem.operations.rows import describe_gate_refusal
from ademem.operations.sessions import list_sessions
from ademem.operations.signatures import About, Parameter, bind, read_parameters, summarize
from ademem.plugins.ade import views
from ademem.plugins.ade.messages import REFUSED, RpcError
from ademem.plugins.procedures import operations
from ademem.plugins.procedures.records import Procedure
from ademem.search.engine import UNARCHIVED
from ademem.store.filters import Filters
from ademem.store.runtime import Runtime

Notify = Callable[[str, dict[str, Any]], None]
"""Sends a notification to the caller: method and parameters."""


class Call(Value):
    runtime: Runtime
    by_person: bool
    """The door was opened with `--trust user`."""
    notify: Notify


class Method(NamedTuple):
    verb: str
    run: Callable[..., Any]
    result: dict[str, Any]
    writes: bool
    """It changes a memory or a brief."""

    @property
    def name(self) -> str:
        return PREFIX + self.verb

    @property
    def summary(self) -> str:
        return summarize(self.run)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Those behind the call, with ADE's spelling."""
        given = read_parameters(self.run, after=1)
        return tuple(replace(each, name=views.camel_case(each.variable)) for each in given)

    @property
    def params(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {each.name: each.schema for each in self.parameters},
            "required": [each.name for each in self.parameters if each.is_required],
            "additionalProperties": False,
        }

    def answer(self, call: Call, given: Mapping[str, Any]) -> Any:
        """Answer a call with parameters that the schema allows."""
        return self.run(call, **bind(self.parameters, given))


_methods: list[Method] = []
Function = TypeVar("Function", bound=Callable[..., Any])


def method(
    *, result: dict[str, Any], writes: bool = False, verb: str = ""
) -> Callable[[Function], Function]:
    """Define a method, by default of the function's name as ADE spells it."""

    def define(function: Function) -> Function:
        name = verb or views.camel_case(function.__name__)
        _methods.append(Method(name, function, result, writes))
        return function

    return define


def or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


ENTRY: dict[str, Any] = {"$ref": "#/components/schemas/Entry"}
ENTRIES = {"type": "array", "items": ENTRY}
NOTHING = {"type": "object", "maxProperties": 0}
OBJECT = {"type": "object"}
OBJECTS = {"type": "array", "items": OBJECT}
STATUSES = {
    "promoted": (Status.PROMOTED,),
    "candidate": (Status.CANDIDATE,),
    "archived": (Status.ARCHIVED,),
    "all": tuple(Status),
}
BUDGETS = {"lite": 3, "standard": 8, "deep": 20}
"""Memories of each level of `getBudget`."""
SCOPES = ("project", "agent", "mission", "user", "lane")
PREFIX = "ade.memory."
Id = Annotated[str, About(help="id of a memory, or its beginning", chars=64)]
Name = Annotated[str, About(chars=200)]
Query = Annotated[str, About(chars=1000)]
ScopeName = Annotated[str, About(choices=SCOPES)]
StatusName = Annotated[str, About(choices=tuple(STATUSES))]
Level = Annotated[str, About(choices=tuple(BUDGETS))]
Limit = Annotated[int, About(least=1, most=200)]


@method(result=OBJECT, writes=True)
def add(
    call: Call,
    content: Annotated[str, About(chars=50_000)],
    category: Category,
    scope: ScopeName | None = None,
    scope_owner_id: Name | None = None,
    importance: Importance = Importance.MEDIUM,
    source_run_id: Name | None = None,
    project_id: Name | None = None,
) -> Any:
    """Write a memory through the gate."""
    runtime = call.runtime
    if project_id not in (None, runtime.store.project_id):
        facts = {"rule": "project", "why": "projectId names another", "next": "leave projectId out"}
        raise RpcError(REFUSED, facts, f"the project here is {runtime.store.project_id}")
    origin = replace(writing.origin(runtime, "rpc"), run_id=source_run_id)
    draft = Draft(
        content=content,
        category=category,
        importance=importance,
        origin=origin,
    )
    written = writing.write(runtime, writing.place_draft(runtime, draft, scope, scope_owner_id))
    if not written.accepted:
        raise RpcError(REFUSED, describe_gate_refusal(written.rule, written.reason))
    return {
        "accepted": True,
        "durability": written.durability,
        "memory": written.memory and views.entry(runtime, written.memory),
        "reason": written.reason,
        "deduped": written.deduped,
        "mergedIntoId": written.merged_into_id,
    }


@method(result=NOTHING, writes=True)
def pin(call: Call, id: Id) -> Any:
    """Pin a memory to every briefing."""
    (curation.pin if call.by_person else curation.pin_by_agent)(call.runtime, id)
    return {}


@method(result=OBJECT, writes=True)
def update_core(
    call: Call,
    patch: dict[str, Any],
    agent_id: Name = "",
    version: Annotated[int, About(least=0, most=2**31)] | None = None,
) -> Any:
    """Replace fields of the brief of the project or of an agent."""
    changed = files.update_brief(call.runtime, patch, agent_id, expect_version=version)
    names = ("started_at", "ended_at", "branch", "prompts", "summary")
    sessions = [
        views.camel({name: each.get(name) for name in names})
        for each in list_sessions(call.runtime, 5)
    ]
    return {"coreMemory": views.brief(changed), "recentSessions": sessions}


@method(result=OBJECT)
def get_budget(
    call: Call,
    level: Level = "standard",
    scope: ScopeName = "project",
    scope_owner_id: Name | None = None,
) -> Any:
    """Return the best memories of a scope, and how full each scope is."""
    scope = Scope.parse(scope)
    found = searching.list_best(call.runtime, scope, scope_owner_id, BUDGETS[level])
    usage = [
        {name: each[name] for name in ("scope", "current", "max")}
        for each in reports.get_health(call.runtime)["scopes"]
    ]
    return {"level": level, "scopes": usage, "memories": views.entries(call.runtime, found)}


@method(result=ENTRIES)
def get_candidates(call: Call, limit: Limit = 20) -> Any:
    """List candidates by confidence, then by observations, then the newest."""
    return views.entries(call.runtime, searching.list_candidates(call.runtime, limit))


@method(result=NOTHING, writes=True)
def promote(call: Call, id: Id) -> Any:
    """Confirm a candidate, for a person."""
    if not call.by_person:
        facts = {"rule": "trust", "why": "a person confirms memories", "next": "ademem review"}
        raise RpcError(REFUSED, facts | {"id": id})
    curation.promote(call.runtime, id)
    return {}


@method(result=or_null(ENTRY), writes=True)
def promote_mission_entry(call: Call, id: Id, mission_id: Name, run_id: Name | None = None) -> Any:
    """Copy a memory of a mission to the project; null if the mission has none with this id."""
    try:
        memory = searching.get(call.runtime, id)
    except NoSuchMemory:
        return None
    owners = (mission_id, run_id)
    if memory.scope is not Scope.MISSION or memory.scope_owner_id not in owners:
        return None
    return views.entry(call.runtime, operations.promote_from_mission(call.runtime, memory.id))


@method(result=NOTHING, writes=True)
def archive(call: Call, id: Id) -> Any:
    """Archive a memory."""
    (curation.archive if call.by_person else curation.remove_by_agent)(call.runtime, id)
    return {}


@method(result=ENTRIES)
def search(
    call: Call,
    query: Query,
    scope: ScopeName | None = None,
    scope_owner_id: Name | None = None,
    limit: Annotated[int, About(least=1, most=100)] = 10,
    mode: Literal["lexical", "hybrid"] | None = None,
    status: StatusName = "promoted",
) -> Any:
    """Rank the memories that answer a query; counts no access."""
    runtime = call.runtime
    if mode == "lexical":
        words_only = replace(runtime.settings.search, hybrid=False)
        runtime.settings = replace(runtime.settings, search=words_only)
    filters = _filters(scope, scope_owner_id, STATUSES[status])
    found = searching.search(runtime, query, filters, limit)
    scores = {hit.memory.id: hit.score for hit in found.hits}
    return views.entries(runtime, (hit.memory for hit in found.hits), scores)


@method(verb="list", result=ENTRIES)
def list_memories(
    call: Call,
    scope: ScopeName | None = None,
    tier: Annotated[int, About(least=1, most=3)] | None = None,
    status: StatusName | None = None,
    limit: Limit = 100,
) -> Any:
    """List memories by filter, newest first; by the scope of missions those of each."""
    statuses = STATUSES[status] if status else UNARCHIVED
    tiers = (tier,) if tier else ()
    filters = replace(_filters(scope, None, statuses), tiers=tiers, all_missions=bool(scope))
    return views.entries(call.runtime, searching.list_memories(call.runtime, filters, limit))


@method(result=ENTRIES)
def list_mission_entries(
    call: Call, mission_id: Name, run_id: Name | None = None, status: StatusName = "all"
) -> Any:
    """List the memories of a mission, oldest first."""
    statuses = STATUSES[status]
    owners = dict.fromkeys(filter(None, (mission_id, run_id)))
    found = [
        memory
        for owner in owners
        for memory in operations.list_mission_memories(call.runtime, owner)
        if memory.status in statuses
    ]
    return views.entries(call.runtime, found)


@method(result=OBJECTS)
def list_procedures(
    call: Call, status: StatusName = "all", scope: ScopeName | None = None, query: Query = ""
) -> Any:
    """List procedures, the highest confidence first."""
    statuses = STATUSES[status]
    words = query.casefold().split()
    scope = Scope.parse(scope) if scope else None

    def text_of(found: Procedure) -> str:
        return f"{found.memory.title or ''}\n{found.memory.content}".casefold()

    found = (
        each
        for each in operations.list_procedures(call.runtime, archived=Status.ARCHIVED in statuses)
        if calls.is_shown(each.memory)
        and each.memory.status in statuses
        and scope in (None, each.memory.scope)
        and all(word in text_of(each) for word in words)
    )
    return [views.procedure(call.runtime, each) for each in found]


@method(result=or_null(OBJECT))
def get_procedure_detail(call: Call, id: Id) -> Any:
    """Return a procedure with its episodes and its outcomes; null if there is none."""
    found = _find_procedure(call, id)
    if found is None:
        return None
    past = operations.get_procedure_history(call.runtime, found.id)
    episodes = [searching.get(call.runtime, id) for id in past["sources"]]
    return {
        **views.procedure(call.runtime, found),
        "sourceEpisodes": views.entries(call.runtime, episodes),
        "confidenceHistory": views.camel(past["history"]),
    }


@method(result=or_null(OBJECT))
def export_procedure_skill(call: Call, id: Id, name: Annotated[str, About(chars=64)] = "") -> Any:
    """Write a procedure as a skill file; null if there is none."""
    found = _find_procedure(call, id)
    if found is None:
        return None
    exported = operations.export_procedures(call.runtime, found.id, name=name)
    path = exported[0].path
    indexed = (each for each in operations.list_skills(call.runtime) if each.entry.path == path)
    return {"path": path, "skill": next(map(views.skill, indexed), None)}


@method(result=OBJECTS)
def list_indexed_skills(call: Call) -> Any:
    """List the skill files of the index, deleted ones last."""
    return [views.skill(each) for each in operations.list_skills(call.runtime, archived=True)]


@method(result=OBJECTS)
def reindex_skills(call: Call, paths: tuple[Annotated[str, About(chars=1000)], ...] = ()) -> Any:
    """Scan the folders of skills, and list the files of the index."""
    operations.reindex_skills(call.runtime)
    found = operations.list_skills(call.runtime, archived=True)
    return [views.skill(each) for each in found if not paths or each.entry.path in paths]


@method(result=or_null(OBJECT))
def sync_knowledge(call: Call) -> Any:
    """Read the commits since the last look; null where HEAD did not move."""
    return views.camel(upkeep.sync_commits(call.runtime))


@method(result=OBJECT)
def get_knowledge_sync_status(call: Call) -> Any:
    """Return how far the commits of this worktree were read."""
    return views.camel(reports.get_sync_status(call.runtime))


@method(result=OBJECT)
def health_stats(call: Call) -> Any:
    """Return the memories of each scope, the last runs of the upkeep, and the model."""
    runtime = call.runtime
    found = reports.get_health(runtime)
    embeddings = found["embeddings"]
    model = {"id": embeddings.pop("model"), "installed": embeddings.pop("installed")}
    return {
        "scopes": found["scopes"],
        "lastSweep": found["last_sweep"] and views.run("sweep", runtime, found["last_sweep"]),
        "lastConsolidation": found["last_consolidation"]
        and views.run("consolidation", runtime, found["last_consolidation"]),
        "embeddings": {**views.camel(embeddings), "model": model},
    }


@method(result=OBJECT)
def download_embedding_model(call: Call) -> Any:
    """Start the download of the model, and return health at once."""
    upkeep.download_model(call.runtime)
    return health_stats(call)


@method(result=or_null(OBJECT))
def run_sweep(call: Call) -> Any:
    """Age the memories now."""
    return _run(call, "sweep", upkeep.sweep)


@method(result=or_null(OBJECT))
def sweep_status(call: Call) -> Any:
    """Return the last event of a sweep; null before the first."""
    return _last_event(call, "sweep")


@method(result=or_null(OBJECT))
def run_consolidation(call: Call) -> Any:
    """Merge memories of the same meaning now."""
    return _run(call, "consolidation", upkeep.consolidate)


@method(result=or_null(OBJECT))
def consolidation_status(call: Call) -> Any:
    """Return the last event of a consolidation; null before the first."""
    return _last_event(call, "consolidation")


def _run(call: Call, kind: str, work: Callable[[Runtime], Any]) -> Any:
    runtime, status = call.runtime, f"{PREFIX}{kind}Status"
    started_at = views.time_of(runtime.clock())
    call.notify(status, {"type": f"memory-{kind}-started", "startedAt": started_at})
    try:
        work(runtime)
    except AdememError as error:
        failed = {"type": f"memory-{kind}-failed", "startedAt": started_at, "error": str(error)}
        call.notify(status, failed)
        raise
    row = reports.get_last_run(runtime, kind)
    if row is None:
        return None
    call.notify(status, views.event(kind, runtime, row))
    return views.run(kind, runtime, row)


def _last_event(call: Call, kind: str) -> Any:
    row = reports.get_last_run(call.runtime, kind)
    return row and views.event(kind, call.runtime, row)


def _filters(name: str | None, owner: str | None, statuses: tuple[str, ...]) -> Filters:
    """Return filters for one owner's memories of a scope beside those of the project."""
    scope = Scope.parse(name) if name else None
    return Filters(
        scopes=(scope,) if scope else (),
        statuses=statuses,
        owner=owner if scope in (None, Scope.AGENT) else None,
        mission=owner if scope is Scope.MISSION else None,
    )


def _find_procedure(call: Call, id: str) -> Procedure | None:
    try:
        found = operations.get_procedure(call.runtime, id)
    except AdememError:
        return None
    return found if calls.is_shown(found.memory) else None


METHODS = tuple(_methods)
"""ADE's 24 methods, in the order of their table."""

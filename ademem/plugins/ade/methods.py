"""The methods of JSON-RPC: `ade.memory.*`, each one function of `ademem.operations`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ademem.core.errors import AdememError, NoSuchMemory
from ademem.core.memory import Category, Draft, Importance, Scope, Status
from ademem.core.value import Value, replace
from ademem.doors import calls
from ademem.operations import curation, files, reports, searching, upkeep, writing
from ademem.operations.sessions import list_sessions
from ademem.plugins.ade import views
from ademem.plugins.ade.messages import REFUSED, RpcError
from ademem.plugins.procedures import operations
from ademem.search.engine import UNARCHIVED
from ademem.store.filters import Filters
from ademem.store.runtime import Runtime

if TYPE_CHECKING:
    from ademem.plugins.procedures.records import Procedure

Notify = Callable[[str, dict[str, Any]], None]
"""Sends a notification to the caller: method and parameters."""


class Call(Value):
    runtime: Runtime
    params: dict[str, Any]
    by_person: bool
    """The door was opened with `--trust user`."""
    notify: Notify

    def __getitem__(self, name: str) -> Any:
        return self.params.get(name)


class Method(NamedTuple):
    verb: str
    run: Callable[[Call], Any]
    names: str
    """Names of its parameters, as `choose_schemas` reads them; it takes no others."""
    result: dict[str, Any]
    writes: bool = False
    """It changes a memory or a brief."""

    @property
    def name(self) -> str:
        return PREFIX + self.verb

    @property
    def summary(self) -> str:
        return (self.run.__doc__ or "").partition("\n")[0]

    @property
    def params(self) -> dict[str, Any]:
        properties, required = calls.choose_schemas(self.names, SCHEMAS)
        schema = {"type": "object", "properties": properties, "required": list(required)}
        return schema | {"additionalProperties": False}


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


def add(call: Call) -> Any:
    """Write a memory through the gate."""
    runtime = call.runtime
    if call["projectId"] not in (None, runtime.store.project_id):
        facts = {"rule": "project", "why": "projectId names another", "next": "leave projectId out"}
        raise RpcError(REFUSED, facts, f"the project here is {runtime.store.project_id}")
    origin = replace(writing.origin(runtime, "rpc"), run_id=call["sourceRunId"])
    draft = Draft(
        content=call["content"],
        category=call["category"],
        importance=call["importance"] or Importance.MEDIUM,
        origin=origin,
    )
    written = writing.write(
        runtime, writing.place_draft(runtime, draft, call["scope"], call["scopeOwnerId"])
    )
    if not written.accepted:
        raise RpcError(REFUSED, calls.describe_gate_refusal(written.rule, written.reason))
    return {
        "accepted": True,
        "durability": written.durability,
        "memory": written.memory and views.entry(runtime, written.memory),
        "reason": written.reason,
        "deduped": written.deduped,
        "mergedIntoId": written.merged_into_id,
    }


def pin(call: Call) -> Any:
    """Pin a memory to every briefing."""
    (curation.pin if call.by_person else curation.pin_by_agent)(call.runtime, call["id"])
    return {}


def promote(call: Call) -> Any:
    """Confirm a candidate, for a person."""
    if not call.by_person:
        facts = {"rule": "trust", "why": "a person confirms memories", "next": "ademem review"}
        raise RpcError(REFUSED, facts | {"id": call["id"]})
    curation.promote(call.runtime, call["id"])
    return {}


def archive(call: Call) -> Any:
    """Archive a memory."""
    (curation.archive if call.by_person else curation.remove_by_agent)(call.runtime, call["id"])
    return {}


def update_core(call: Call) -> Any:
    """Replace fields of the brief of the project or of an agent."""
    changed = files.update_brief(
        call.runtime, call["patch"], call["agentId"] or "", expect_version=call["version"]
    )
    names = ("started_at", "ended_at", "branch", "prompts", "summary")
    sessions = [
        views.camel({name: each.get(name) for name in names})
        for each in list_sessions(call.runtime, 5)
    ]
    return {"coreMemory": views.brief(changed), "recentSessions": sessions}


def get_budget(call: Call) -> Any:
    """Return the best memories of a scope, and how full each scope is."""
    level = call["level"] or "standard"
    scope = Scope.parse(call["scope"] or "project")
    found = searching.list_best(call.runtime, scope, call["scopeOwnerId"], BUDGETS[level])
    usage = [
        {name: each[name] for name in ("scope", "current", "max")}
        for each in reports.get_health(call.runtime)["scopes"]
    ]
    return {"level": level, "scopes": usage, "memories": views.entries(call.runtime, found)}


def get_candidates(call: Call) -> Any:
    """List candidates by confidence, then by observations, then the newest."""
    return views.entries(call.runtime, searching.list_candidates(call.runtime, call["limit"] or 20))


def promote_mission_entry(call: Call) -> Any:
    """Copy a memory of a mission to the project; null if the mission has none with this id."""
    try:
        memory = searching.get(call.runtime, call["id"])
    except NoSuchMemory:
        return None
    owners = (call["missionId"], call["runId"])
    if memory.scope is not Scope.MISSION or memory.scope_owner_id not in owners:
        return None
    return views.entry(call.runtime, operations.promote_from_mission(call.runtime, memory.id))


def search(call: Call) -> Any:
    """Rank the memories that answer a query; counts no access."""
    runtime = call.runtime
    if call["mode"] == "lexical":
        words_only = replace(runtime.settings.search, hybrid=False)
        runtime.settings = replace(runtime.settings, search=words_only)
    filters = _filters(call, STATUSES[call["status"] or "promoted"])
    found = searching.search(runtime, call["query"], filters, call["limit"] or 10)
    scores = {hit.memory.id: hit.score for hit in found.hits}
    return views.entries(runtime, (hit.memory for hit in found.hits), scores)


def list_memories(call: Call) -> Any:
    """List memories by filter, newest first."""
    statuses = STATUSES[call["status"]] if call["status"] else UNARCHIVED
    filters = replace(_filters(call, statuses), tiers=(call["tier"],) if call["tier"] else ())
    return views.entries(
        call.runtime, searching.list_memories(call.runtime, filters, call["limit"] or 100)
    )


def list_mission_entries(call: Call) -> Any:
    """List the memories of a mission, oldest first."""
    statuses = STATUSES[call["status"] or "all"]
    owners = dict.fromkeys(filter(None, (call["missionId"], call["runId"])))
    found = [
        memory
        for owner in owners
        for memory in operations.list_mission_memories(call.runtime, owner)
        if memory.status in statuses
    ]
    return views.entries(call.runtime, found)


def list_procedures(call: Call) -> Any:
    """List procedures, the highest confidence first."""
    statuses = STATUSES[call["status"] or "all"]
    words = (call["query"] or "").casefold().split()
    scope = Scope.parse(call["scope"]) if call["scope"] else None

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


def get_procedure_detail(call: Call) -> Any:
    """Return a procedure with its episodes and its outcomes; null if there is none."""
    found = _find_procedure(call)
    if found is None:
        return None
    past = operations.get_procedure_history(call.runtime, found.id)
    episodes = [searching.get(call.runtime, id) for id in past["sources"]]
    return {
        **views.procedure(call.runtime, found),
        "sourceEpisodes": views.entries(call.runtime, episodes),
        "confidenceHistory": views.camel(past["history"]),
    }


def export_procedure_skill(call: Call) -> Any:
    """Write a procedure as a skill file; null if there is none."""
    found = _find_procedure(call)
    if found is None:
        return None
    exported = operations.export_procedures(call.runtime, found.id, name=call["name"] or "")
    path = exported[0].path
    indexed = (each for each in operations.list_skills(call.runtime) if each.entry.path == path)
    return {"path": path, "skill": next(map(views.skill, indexed), None)}


def list_indexed_skills(call: Call) -> Any:
    """List the skill files of the index, deleted ones last."""
    return [views.skill(each) for each in operations.list_skills(call.runtime, archived=True)]


def reindex_skills(call: Call) -> Any:
    """Scan the folders of skills, and list the files of the index."""
    operations.reindex_skills(call.runtime)
    paths = call["paths"]
    found = operations.list_skills(call.runtime, archived=True)
    return [views.skill(each) for each in found if not paths or each.entry.path in paths]


def sync_knowledge(call: Call) -> Any:
    """Read the commits since the last look; null where HEAD did not move."""
    return views.camel(upkeep.sync_commits(call.runtime))


def get_knowledge_sync_status(call: Call) -> Any:
    """Return how far the commits of this worktree were read."""
    return views.camel(reports.get_sync_status(call.runtime))


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


def download_embedding_model(call: Call) -> Any:
    """Start the download of the model, and return health at once."""
    upkeep.download_model(call.runtime)
    return health_stats(call)


def run_sweep(call: Call) -> Any:
    """Age the memories now."""
    return _run(call, "sweep", upkeep.sweep)


def sweep_status(call: Call) -> Any:
    """Return the last event of a sweep; null before the first."""
    return _last_event(call, "sweep")


def run_consolidation(call: Call) -> Any:
    """Merge memories of the same meaning now."""
    return _run(call, "consolidation", upkeep.consolidate)


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


def _filters(call: Call, statuses: tuple[str, ...]) -> Filters:
    """Return filters for one owner's memories of a scope beside those of the project."""
    scope = Scope.parse(call["scope"]) if call["scope"] else None
    owner = call["scopeOwnerId"]
    return Filters(
        scopes=(scope,) if scope else (),
        statuses=statuses,
        owner=owner if scope in (None, Scope.AGENT) else None,
        mission=owner if scope is Scope.MISSION else None,
    )


def _find_procedure(call: Call) -> Procedure | None:
    try:
        found = operations.get_procedure(call.runtime, call["id"])
    except AdememError:
        return None
    return found if calls.is_shown(found.memory) else None


def text(chars: int, description: str = "") -> dict[str, Any]:
    kind: dict[str, Any] = {"type": "string", "maxLength": chars}
    return kind | {"description": description} if description else kind


def choice(values: Iterable[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(map(str, values))}


ENTRY: dict[str, Any] = {"$ref": "#/components/schemas/Entry"}
ENTRIES = {"type": "array", "items": ENTRY}
NOTHING = {"type": "object", "maxProperties": 0}
OBJECT = {"type": "object"}
OBJECTS = {"type": "array", "items": OBJECT}
SCHEMAS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(
        "scopeOwnerId sourceRunId projectId agentId missionId runId".split(), text(200)
    ),
    "id": text(64, "id of a memory, or its beginning"),
    "name": text(64),
    "content": text(50_000),
    "query": text(1000),
    "category": choice(Category),
    "importance": choice(Importance),
    "scope": choice(SCOPES),
    "status": choice(STATUSES),
    "level": choice(BUDGETS),
    "mode": choice(("lexical", "hybrid")),
    "tier": calls.number(1, 3),
    "limit": calls.number(1, 200),
    "version": calls.number(0, 2**31),
    "patch": OBJECT,
    "paths": {"type": "array", "items": text(1000)},
}


def or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


METHODS: tuple[Method, ...] = (
    Method(
        "add",
        add,
        "content! category! scope scopeOwnerId importance sourceRunId projectId",
        OBJECT,
        writes=True,
    ),
    Method("pin", pin, "id!", NOTHING, writes=True),
    Method("updateCore", update_core, "patch! agentId version", OBJECT, writes=True),
    Method("getBudget", get_budget, "level scope scopeOwnerId", OBJECT),
    Method("getCandidates", get_candidates, "limit", ENTRIES),
    Method("promote", promote, "id!", NOTHING, writes=True),
    Method(
        "promoteMissionEntry",
        promote_mission_entry,
        "id! missionId! runId",
        or_null(ENTRY),
        writes=True,
    ),
    Method("archive", archive, "id!", NOTHING, writes=True),
    Method("search", search, "query! scope scopeOwnerId limit=1-100 mode status", ENTRIES),
    Method("list", list_memories, "scope tier status limit", ENTRIES),
    Method("listMissionEntries", list_mission_entries, "missionId! runId status", ENTRIES),
    Method("listProcedures", list_procedures, "status scope query", OBJECTS),
    Method("getProcedureDetail", get_procedure_detail, "id!", or_null(OBJECT)),
    Method("exportProcedureSkill", export_procedure_skill, "id! name", or_null(OBJECT)),
    Method("listIndexedSkills", list_indexed_skills, "", OBJECTS),
    Method("reindexSkills", reindex_skills, "paths", OBJECTS),
    Method("syncKnowledge", sync_knowledge, "", or_null(OBJECT)),
    Method("getKnowledgeSyncStatus", get_knowledge_sync_status, "", OBJECT),
    Method("healthStats", health_stats, "", OBJECT),
    Method("downloadEmbeddingModel", download_embedding_model, "", OBJECT),
    Method("runSweep", run_sweep, "", or_null(OBJECT)),
    Method("sweepStatus", sweep_status, "", or_null(OBJECT)),
    Method("runConsolidation", run_consolidation, "", or_null(OBJECT)),
    Method("consolidationStatus", consolidation_status, "", or_null(OBJECT)),
)
"""ADE's 24 methods, in the order of their table."""

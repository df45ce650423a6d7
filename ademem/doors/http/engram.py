"""Engram's routes for its plugins and scripts: its paths and answers on the rules of ours."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

import anyio
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, Router

from ademem import __version__, api
from ademem.core import git
from ademem.core.errors import NotFound, UsageError
from ademem.core.memory import Memory, flags
from ademem.core.project import Project
from ademem.core.settings import load_configuration
from ademem.core.untrusted import escape
from ademem.doors import calls
from ademem.doors.http import ADDRESS, Loopback, Refused, Server, bind, bind_file, read_token
from ademem.doors.mcp import core, engram
from ademem.doors.mcp.access import Call, Caller
from ademem.doors.mcp.engram import Id
from ademem.doors.mcp.tools import CURSOR, ENGRAM_ARGUMENTS, NO, QUERY, TEXT
from ademem.files.engram import observation_of
from ademem.files.enrolment import name_of, normalize_name, strip_credentials
from ademem.guard.injection import instruction_in
from ademem.search.engine import UNARCHIVED, Filters
from ademem.store.journal import FAILURES
from ademem.store.runtime import Runtime
from ademem.store.verdicts import Verdict

Row = dict[str, Any]
Schema = dict[str, Any]

PORT = 7437
SOCKET = "http.sock"
BODY_BYTES = 1 << 20
HEALTH = "/health"
PROJECTS = {"project": TEXT, "expected_project": TEXT}
"""Names of a project that a request may give; it has to be the one that is served."""


class Operation(NamedTuple):
    """A route. `run` gets the open project, the call and the arguments, and returns the answer."""

    line: str
    run: Callable[..., Any]
    names: str = ""
    """Names of its arguments, as `choose_schemas` reads them."""
    status: int = 200
    reads: bool = False
    """It changes nothing, as any GET."""

    @property
    def method(self) -> str:
        return self.line.partition(" ")[0]

    @property
    def path(self) -> str:
        return self.line.partition(" ")[2]

    @property
    def writes(self) -> bool:
        return self.method != "GET" and not self.reads

    @property
    def schema(self) -> Schema:
        in_path = [part[1:-1] for part in self.path.split("/") if part.startswith("{")]
        takes, required = calls.choose_schemas(self.names, SCHEMAS)
        properties = {**dict.fromkeys(in_path, TEXT), **takes, **PROJECTS}
        return {"properties": properties, "required": [*in_path, *required]}


def _time(text: str | None) -> str | None:
    return text[:19].replace("T", " ") if text else None


def _observation(memories: Runtime, memory: Memory) -> Row:
    row = observation_of(memory, {}, memories.project.name)
    row |= {name: escape(row[name]) for name in ("title", "content")}
    row |= {"id": engram.number_of(memory), "by": memory.trust.value, "flags": flags(memory)}
    if memory.shown_scope == "personal":
        row["scope"] = "personal"
    return row | {"status": memory.status.value, "pinned": memory.pinned}


def _observations(memories: Runtime, found: Iterable[Memory]) -> list[Row]:
    return [_observation(memories, memory) for memory in found if calls.is_shown(memory)]


def _session(memories: Runtime, row: Row) -> Row:
    shown = {
        "id": row["id"],
        "project": memories.project.name,
        "directory": row.get("directory"),
        "started_at": _time(row.get("started_at")),
        "ended_at": _time(row.get("ended_at")),
        "summary": row.get("summary"),
        "observation_count": row["memories"],
    }
    return {name: value for name, value in shown.items() if value is not None}


def _acknowledge(status: str, act: Callable[..., object]) -> Callable[..., Row]:
    def run(memories: Runtime, call: Call, id: str, **given: str) -> Row:
        act(memories, id, **given)
        return {"id": id, "status": status}

    return run


def list_sessions(memories: Runtime, call: Call, limit: int) -> list[Row]:
    return [_session(memories, row) for row in api.list_sessions(memories, limit)]


def get_session(memories: Runtime, call: Call, id: str) -> Row:
    return _session(memories, api.get_session(memories, id))


def add_observation(memories: Runtime, call: Call, **given: Any) -> Row:
    saved = engram.save(memories, call, **given)
    if "rule" in saved:
        raise Refused(saved["rule"], saved["why"], saved["next"], status=400)
    names = ("id", "sync_id", "deduped", "judgment_required", "candidates", "notes", "truncated")
    return {name: saved[name] for name in names if name in saved} | {"status": "saved"}


def list_observations(memories: Runtime, call: Call, limit: int, scope: str = "") -> list[Row]:
    wanted = "personal" if scope in ("personal", "global") else scope
    found = [
        memory
        for memory in api.list_memories(memories, None, limit if not wanted else None)
        if not wanted or memory.shown_scope == wanted
    ]
    return _observations(memories, found[:limit])


def get_observation(memories: Runtime, call: Call, id: Id) -> Row:
    return _observation(memories, engram.find_memory(memories, id))


def update_observation(memories: Runtime, call: Call, id: str, **given: Any) -> Row:
    engram.update(memories, call, id, **given)
    return get_observation(memories, call, id)


def delete_observation(memories: Runtime, call: Call, id: str, hard: bool) -> Row:
    if hard:
        own = engram.find_memory(memories, id).id
        raise Refused("person", "deleting for good is for a person", f"ademem delete {own} --hard")
    deleted = engram.delete(memories, call, id, hard_delete=False)
    return {"id": deleted["id"], "status": "deleted", "hard_delete": False}


def pin(memories: Runtime, call: Call, id: str, *, pinned: bool = True) -> Row:
    return {"id": engram.pin(memories, call, id, pinned=pinned)["id"], "pinned": pinned}


def capture_passive(memories: Runtime, call: Call, content: str, **given: Any) -> Row:
    done = engram.capture_passive(memories, call, content, **given)
    extracted, saved = done["extracted"], done["saved"]
    return {"extracted": extracted, "saved": saved, "duplicates": extracted - saved}


def search(
    memories: Runtime, call: Call, q: str, limit: int, type: str = "", scope: str = ""
) -> list[Row]:
    scopes = engram.scopes_of(scope)
    filters = Filters(statuses=UNARCHIVED, types=tuple(filter(None, [type])), scopes=scopes)
    page = call.find(memories, q, filters, limit)
    ranks = {row["id"]: row["score"] for row in page["memories"]}
    found = _observations(memories, [core.get_readable(memories, id) for id in ranks])
    wanted = {"global": "personal"}.get(scope, scope)
    return [
        row | {"rank": score}
        for row, score in zip(found, ranks.values(), strict=True)
        if wanted in ("", row["scope"])
    ]


def timeline(memories: Runtime, call: Call, observation_id: Id, before: int, after: int) -> Row:
    memory = engram.find_memory(memories, observation_id)
    found = api.timeline(memories, memory.id, before, after)
    sides = {
        side: _observations(memories, (api.get(memories, row["id"]) for row in found[side]))
        for side in ("before", "after")
    }
    return {"session_info": found["session"], "focus": _observation(memories, memory)} | sides


def get_context(
    memories: Runtime, call: Call, compact: bool, max_bytes: int, session_id: str = ""
) -> Row:
    found = api.get_context(memories, max_bytes, compact=compact, session=session_id)
    return {"notice": calls.NOTICE, "context": found["text"], "left_out": found["left_out"]}


def get_stats(memories: Runtime, call: Call) -> Row:
    found = api.get_status(memories)
    counts = found["memories"]
    return {
        "total_sessions": found["sessions"],
        "total_observations": counts["promoted"] + counts["candidates"],
        "total_prompts": found["prompts"],
        "projects": [memories.project.name],
    }


def examine(memories: Runtime, call: Call, check: str = "") -> Row:
    done = engram.doctor(memories, call, check)
    lines = done["result"].splitlines()
    status = "ok" if done["ok"] else "error"
    return {"status": status, "project": memories.project.name, "checks": lines}


def _due(memory: Memory, memories: Runtime) -> Row:
    row = _observation(memories, memory)
    is_due = memory.review_after is not None and memory.review_after <= memories.clock()
    names = ("id", "sync_id", "title", "type", "project", "review_after")
    state = {"state": "needs_review" if is_due else "active"}
    return {name: row[name] for name in names if name in row} | state


def list_due(memories: Runtime, call: Call, limit: int) -> Row:
    due = [each for each in api.list_due(memories, limit) if not each.quarantine_reason]
    return {"observations": [_due(each, memories) for each in due], "count": len(due)}


def mark_reviewed(memories: Runtime, call: Call, observation_id: Id = "", id: Id = "") -> Row:
    if not (observation_id or id):
        raise UsageError("observation_id is required", "give observation_id")
    memory = engram.find_memory(memories, observation_id or id)
    return _due(api.mark_reviewed(memories, memory.id), memories)


def import_export(memories: Runtime, call: Call, **document: Any) -> Row:
    report = api.import_engram(memories, json.dumps(document).encode())
    return {
        "sessions_imported": report.sessions,
        "observations_imported": report.inserted + report.updated,
        "prompts_imported": report.prompts,
        "rejected": report.rejected,
        "skipped": [f"{each.where}: {each.why}" for each in report.skipped],
    }


def get_project(memories: Runtime, call: Call, cwd: str = "") -> Row:
    return {
        "project": memories.project.name,
        "project_source": call.how,
        "project_path": memories.project.root,
        "cwd": cwd or call.caller.cwd,
        "available_projects": [memories.project.name],
    }


def get_sync_status(memories: Runtime, call: Call) -> Row:
    found = api.get_exchange_status(memories)
    return {
        "enabled": bool(found.folders),
        "phase": "idle" if found.folders else "disabled",
        "waiting": sum(each.waiting for each in found.folders),
        "deferred_count": found.deferred,
        "dead_count": len(found.dead),
    }


def suggest_topic_key(memories: Runtime, call: Call, **given: str) -> Row:
    if not (given.get("title") or given.get("content")):
        raise UsageError("title or content is required", "give one of them")
    return {"topic_key": engram.suggest_topic_key(memories, call, **given)["topic_key"]}


def add_prompt(memories: Runtime, call: Call, session_id: str, content: str) -> Row:
    engram.save_prompt(memories, call, content, session_id=session_id)
    (saved,) = api.search_prompts(memories, session=session_id, limit=1)
    return {"id": saved["id"], "status": "saved"}


def list_prompts(memories: Runtime, call: Call, limit: int, q: str = "") -> list[Row]:
    return [
        {
            "id": row["id"],
            "session_id": row["session_id"],
            "content": escape(row["text"]),
            "project": memories.project.name,
            "created_at": _time(row["created_at"]),
        }
        for row in api.search_prompts(memories, q, limit=limit)
    ]


def _relation(memories: Runtime, verdict: Verdict) -> Row:
    sides: Row = {}
    for side in ("source", "target"):
        own = getattr(verdict, side)
        memory = api.get(memories, own) if own else None
        is_shown = memory and not (memory.quarantine_reason or memory.deleted_at)
        title = _observation(memories, memory)["title"] if memory and is_shown else "(deleted)"
        sides |= {f"{side}_id": memory.sync_id if memory else "", f"{side}_title": title}
    texts = {"reason": verdict.reason, "evidence": verdict.evidence, "actor": verdict.actor}
    if instruction_in("\n".join(map(str, texts.values()))):  # another machine may have sent them
        texts = dict.fromkeys(texts, "")
    return {
        "id": verdict.id,
        "sync_id": verdict.id,
        "relation": verdict.relation,
        "judgment_status": verdict.status,
        **sides,
        "reason": texts["reason"],
        "evidence": texts["evidence"],
        "confidence": verdict.confidence,
        "marked_by_actor": texts["actor"],
        "marked_by_kind": verdict.kind,
        "created_at": _time(verdict.created_at),
        "updated_at": _time(verdict.updated_at),
    }


def list_conflicts(memories: Runtime, call: Call, limit: int, offset: int, status: str = "") -> Row:
    found = api.list_relations(memories, None, status or None, -1)
    shown = [_relation(memories, each) for each in found[offset : offset + limit]]
    return {"total": len(found), "limit": limit, "offset": offset, "relations": shown}


def get_conflict(memories: Runtime, call: Call, id: str) -> Row:
    found = [each for each in api.list_relations(memories, None, None, -1) if each.id == id]
    if not found:
        raise NotFound(f"no relation has the id {id!r}", "GET /conflicts lists them")
    return _relation(memories, found[0])


def count_conflicts(memories: Runtime, call: Call) -> Row:
    found = api.list_relations(memories, None, None, -1)
    waiting = api.list_deferred(memories)
    dead = sum(row["attempts"] >= FAILURES for row in waiting)
    return {
        "project": memories.project.name,
        "by_relation": Counter(each.relation for each in found),
        "by_judgment_status": Counter(each.status for each in found),
        "deferred": len(waiting) - dead,
        "dead": dead,
    }


def judge(memories: Runtime, call: Call, **given: Any) -> Row:
    done = engram.judge(memories, call, **given)
    row = {"sync_id": done["relation_id"], "judgment_status": done["status"]}
    return {"relation": row | {"relation": done["relation"], "effect": done["effect"]}}


def compare(memories: Runtime, call: Call, **given: Any) -> Row:
    return {"sync_id": engram.compare(memories, call, **given)["relation_id"]}


def scan(
    memories: Runtime, call: Call, apply: bool, limit: int, semantic: bool, cursor: int = 0
) -> Row:
    if semantic:
        raise UsageError("no AI compares memories here", "leave `semantic` out")
    found, rest = api.scan_relations(memories, apply=apply, limit=limit, cursor=cursor)
    counts = {"candidates_found": len(found), "inserted": len(found) if apply else 0}
    page = {"dry_run": not apply, "capped": False} | ({"next_cursor": rest} if rest else {})
    semantics = dict.fromkeys(("semantic_judged", "semantic_skipped", "semantic_errors"), 0)
    return {"project": memories.project.name} | counts | page | semantics


def list_deferred(memories: Runtime, call: Call, limit: int, offset: int, status: str = "") -> Row:
    rows = [
        {
            "sync_id": row["id"],
            "entity": row["entity"],
            "apply_status": "dead" if row["attempts"] >= FAILURES else "deferred",
            "retry_count": row["attempts"],
            "last_error": row["reason"],
            "first_seen_at": _time(row["created_at"]),
        }
        for row in api.list_deferred(memories)
    ]
    rows = [row for row in rows if status in ("", row["apply_status"])]
    return {"total": len(rows), "limit": limit, "rows": rows[offset : offset + limit]}


def replay_deferred(memories: Runtime, call: Call) -> Row:
    retried = len(api.list_deferred(memories))
    succeeded = api.replay_deferred(memories)
    dead = sum(row["attempts"] >= FAILURES for row in api.list_deferred(memories))
    failed = retried - succeeded - dead
    return {"retried": retried, "succeeded": succeeded, "failed": failed, "dead": dead}


ROWS: Schema = {"type": "array", "items": {"type": "object"}}
SCHEMAS: dict[str, Schema] = {
    **ENGRAM_ARGUMENTS,
    **dict.fromkeys(("hard", "apply", "semantic"), NO),
    **dict.fromkeys(("sessions", "observations", "prompts"), ROWS),
    "q": QUERY,
    "max_bytes": calls.number(500, 64 << 10, 16 << 10),
    "offset": calls.number(0, 2**31, 0),
    "cursor": CURSOR,
    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
}
"""Schemas by name; any other argument is a text."""


start_session = _acknowledge("created", partial(api.start_session, source="http"))
OPERATIONS = (
    Operation("POST /sessions", start_session, "id!=text directory", status=201),
    Operation("POST /sessions/{id}/end", _acknowledge("completed", api.end_session), "summary"),
    Operation("GET /sessions/recent", list_sessions, "limit=1-100:5"),
    Operation("GET /sessions/{id}", get_session),
    Operation("DELETE /sessions/{id}", _acknowledge("deleted", api.delete_session)),
    Operation(
        "POST /observations",
        add_observation,
        "session_id! title! content! type scope topic_key",
        status=201,
    ),
    Operation("GET /observations", list_observations, "scope limit=1-100:20"),
    Operation("GET /observations/recent", list_observations, "scope limit=1-100:20"),
    Operation("POST /observations/passive", capture_passive, "session_id! content! source"),
    Operation("GET /observations/{id}", get_observation),
    Operation(
        "PATCH /observations/{id}",
        update_observation,
        "find replace type title content scope topic_key",
    ),
    Operation("DELETE /observations/{id}", delete_observation, "hard"),
    Operation("PUT /observations/{id}/pin", pin),
    Operation("DELETE /observations/{id}/pin", partial(pin, pinned=False)),
    Operation("GET /search", search, "q! type scope limit=1-20:10"),
    Operation("GET /timeline", timeline, "observation_id! before after"),
    Operation("GET /context", get_context, "compact max_bytes"),
    Operation("GET /context/compaction", get_context, "session_id! compact max_bytes"),
    Operation("GET /stats", get_stats),
    Operation("GET /doctor", examine, "check"),
    Operation("GET /review", list_due, "limit=1-100:10"),
    Operation("POST /review/mark_reviewed", mark_reviewed, "observation_id id"),
    Operation("GET /export", lambda memories, call: api.export_engram(memories)),
    Operation("POST /import", import_export, "version! exported_at sessions observations prompts"),
    Operation("GET /project/current", get_project, "cwd"),
    Operation("GET /sync/status", get_sync_status),
    Operation("POST /topic-keys/suggest", suggest_topic_key, "type title content", reads=True),
    Operation("POST /prompts", add_prompt, "session_id! content!", status=201),
    Operation("GET /prompts/recent", list_prompts, "limit=1-100:20"),
    Operation("GET /prompts/search", list_prompts, "q! limit=1-100:10"),
    Operation("DELETE /prompts/{id}", _acknowledge("deleted", api.delete_prompt)),
    Operation("GET /conflicts", list_conflicts, "status limit=1-500:50 offset"),
    Operation("GET /conflicts/stats", count_conflicts),
    Operation("GET /conflicts/deferred", list_deferred, "status limit=1-500:50 offset"),
    Operation("GET /conflicts/{id}", get_conflict),
    Operation("POST /conflicts/judge", judge, "judgment_id! relation! reason evidence confidence"),
    Operation(
        "POST /conflicts/compare",
        compare,
        "memory_id_a! memory_id_b! relation! reasoning! confidence! model",
    ),
    Operation("POST /conflicts/scan", scan, "apply semantic limit=1-100:100 cursor"),
    Operation("POST /conflicts/deferred/replay", replay_deferred),
)


class Door:
    """One project that is served, and the one thread in which it is opened for each request."""

    def __init__(self, found: Project, environment: Mapping[str, str]) -> None:
        environment = calls.without_session(environment)
        self.project = found
        self.settings = load_configuration(found, environment).settings
        self.caller = Caller(found.root, environment, found.root, door="http")
        self.thread = anyio.CapacityLimiter(1)
        remote = strip_credentials(git.text(found.root, "remote", "get-url", "origin"))
        configured = name_of(found, self.settings.project.name, remote)
        self.names = {normalize_name(found.name), configured}

    def make_app(self, port: int | None, token: str) -> Loopback:
        is_open = self.settings.doors.http_open
        routes = (
            Route(each.path, partial(self.answer, each), methods=[each.method])
            for each in OPERATIONS
        )
        return Loopback(
            Router([Route(HEALTH, _tell_health), *routes]),
            port,
            BODY_BYTES,
            token="" if is_open else token,
            free=[HEALTH],
            has_pages=False,
        )

    async def answer(self, operation: Operation, request: Request) -> Response:
        given = _read_query(request.query_params, operation.schema)
        body = await request.body()
        if body:
            given = _read_body(body) | given
        given |= request.path_params
        agent = request.headers.get("user-agent", "")
        answer = await to_thread.run_sync(self.run, operation, given, agent, limiter=self.thread)
        return JSONResponse(answer, operation.status, {"x-ademem-notice": calls.NOTICE})

    def run(self, operation: Operation, given: Row, agent: str) -> Any:
        schema = operation.schema
        known = {
            name: value
            for name, value in given.items()
            if name in schema["properties"]
            if not isinstance(value, str) or value.strip() or name in ("replace", "cursor")
        }
        arguments = calls.check_arguments(schema, known)
        for name in PROJECTS:
            named = arguments.pop(name, "")
            if named and normalize_name(named) not in self.names:
                rule = "project" if operation.writes else "not_found"
                hint = f"this is {self.project.name!r}"
                raise Refused(rule, f"{named!r} is not served here", hint)
        if operation.writes:
            rows = sum(len(given) for given in arguments.values() if isinstance(given, list))
            self.caller.admit_write(self.project, max(1, rows))
        call = Call(self.caller, {}, {}, calls.name_agent(agent))
        with call.open(self.project, writes=False) as memories:
            return operation.run(memories, call, **arguments)


def _read_query(query: Mapping[str, str], schema: Schema) -> Row:
    """Return the values of a query; a wrong number is the default, one out of range the nearest."""
    given: Row = {}
    for name, text in query.items():
        kind = schema["properties"].get(name, {})
        if kind.get("type") == "integer":
            if text.isascii() and text.removeprefix("-").isdecimal():
                value = int(text[:20])  # out of every range with so many digits
                given[name] = min(max(value, kind["minimum"]), kind["maximum"])
        elif kind.get("type") == "boolean":
            given[name] = text.lower() in ("1", "t", "true")
        else:
            given[name] = text
    return given


def _read_body(body: bytes) -> Row:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UsageError("the body is not JSON", "send one JSON object") from error
    if not isinstance(found, dict):
        raise UsageError("the body is not a JSON object", "send one JSON object")
    return found


async def _tell_health(_: Request) -> Response:
    return JSONResponse({"status": "ok", "service": "engram", "version": __version__})


def serve(
    found: Project,
    port: int | None,
    environment: Mapping[str, str],
    on_ready: Callable[[str], None],
) -> None:
    """Answer at a port, or without one at a socket, until a signal or nothing asks any more."""
    door = Door(found, environment)
    with ExitStack() as held:
        if port is None:
            listener = held.enter_context(bind_file(found, SOCKET, environment))
            address = listener.getsockname()
        else:
            listener = held.enter_context(bind(port))
            port = listener.getsockname()[1]
            address = f"http://{ADDRESS}:{port}"
        app = door.make_app(port, read_token(found))
        on_ready(address)
        Server(app, door.settings.doors.http_idle_minutes * 60).run([listener])

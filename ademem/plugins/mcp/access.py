"""A call of a tool: its project, its session, and its answer or refusal."""

from __future__ import annotations

import os
import re
import secrets
import threading
import time
from contextlib import contextmanager, suppress
from json import loads
from typing import TYPE_CHECKING, Any

from ademem import operations
from ademem.capture import provenance
from ademem.core import project
from ademem.core.actor import CALLED_BY_MODEL
from ademem.core.client import SESSION, TurnKey, safe_id
from ademem.core.errors import NO_PROJECT, AdememError, Conflict, NotEnrolled
from ademem.core.memory import Origin
from ademem.core.settings import load_configuration
from ademem.core.untrusted import escape
from ademem.doors.calls import NOTICE, WriteRate, describe_refusal
from ademem.plugins.mcp.settings import McpSettings
from ademem.store import Store, logs, turns
from ademem.store.database import IdleConnections

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ademem.core.project import Project
    from ademem.plugins.mcp.tools import Tool
    from ademem.store.runtime import Runtime

VARIABLES = ("ADEMEM_PROJECT", "CLAUDE_PROJECT_DIR")


class NoCertainProject(AdememError):
    rule = "project"
    exit_code = NO_PROJECT


class Caller:
    def __init__(
        self, root: str | None, environment: Mapping[str, str], cwd: str, door: str = "mcp"
    ) -> None:
        self.root, self.environment, self.cwd, self.door = root, environment, cwd, door
        self.roots: list[str] | None = None
        """Folders that the client declared; None where it has not been asked."""
        self.session_id = ""
        """Of the session that this process is, where the client has none."""
        self.opened: dict[str, Project] = {}
        self.connections = IdleConnections()
        self.rate: WriteRate | None = None
        self.lock = threading.Lock()

    @property
    def is_named(self) -> bool:
        """True where a folder was given, which precedes those that the client declares."""
        return bool(self.root or any(self.environment.get(name) for name in VARIABLES))

    def find(self) -> tuple[tuple[Project, ...], str]:
        """Return the projects that a call may reach, and the first source that names any."""
        named = {"--project": self.root, **{name: self.environment.get(name) for name in VARIABLES}}
        for how, folder in named.items():
            if folder:
                return self._enrolled([folder]), how
        if found := self._enrolled(self.roots or []):
            return found, "roots"
        return self._enrolled([self.cwd]), "cwd"

    def _enrolled(self, folders: Sequence[str]) -> tuple[Project, ...]:
        home = os.path.realpath(os.path.expanduser("~"))
        found: dict[str, Project] = {}
        for folder in folders:
            try:
                there = [project.find(None, {}, os.path.abspath(folder))]
            except project.Ambiguous as several:
                there = [project.at(root) for root in several.candidates]
            except NotEnrolled:
                there = []
            found |= {each.root: each for each in there if each.root != home or self.root}
        return tuple(found.values())

    def set_roots(self, uris: Sequence[str]) -> None:
        paths = [uri.removeprefix("file://").encode() for uri in uris if uri.startswith("file:///")]
        escaped = re.compile(rb"%([0-9A-Fa-f]{2})")
        self.roots = [
            os.fsdecode(escaped.sub(lambda hit: bytes.fromhex(hit[1].decode()), path))
            for path in paths
        ]

    def admit_write(self, found: Project) -> None:
        with self.lock:
            if self.rate is None:
                settings = load_configuration(found, self.environment).settings
                self.rate = WriteRate(settings.doors.writes_per_minute)
            self.rate.admit(time.monotonic())

    def own_session(self, client: str) -> str:
        with self.lock:
            if not self.session_id:
                name = "".join(char if char.isalnum() else "-" for char in client.partition("/")[0])
                self.session_id = (
                    f"{self.door}-{name[:40].lower() or 'client'}-{secrets.token_hex(6)}"
                )
            return self.session_id

    def begin_session(self, memories: Runtime) -> None:
        from ademem.operations import sessions

        with self.lock:
            if memories.project.root not in self.opened:
                sessions.start_session(memories, self.session_id, self.cwd, source=self.door)
                self.opened[memories.project.root] = memories.project

    def was_briefed(self) -> bool:
        session = safe_id(self.environment.get(SESSION, ""))
        for found in self.find()[0]:
            with operations.open_memories(
                found.root, environment=self.environment, catch_up=False
            ) as memories:
                if logs.was_briefed(memories.store, session):
                    return True
        return False

    def close(self) -> None:
        from ademem.operations import sessions

        for root in self.opened:
            with operations.open_memories(
                root, environment=self.environment, catch_up=False
            ) as memories:
                sessions.end_session(memories, self.session_id, reason="mcp")
        self.connections.close()


class Call:
    def __init__(
        self, caller: Caller, arguments: dict[str, Any], meta: dict[str, Any], client: str
    ) -> None:
        self.caller, self.arguments, self.meta = caller, arguments, meta
        self.client = client
        self.projects, self.how = caller.find()
        self.others: Mapping[str, Runtime] = {}
        self.runtime: Runtime | None = None
        self.turn = TurnKey(session_id="")

    place = "mcp"

    @property
    def door(self) -> str:
        return self.caller.door

    @property
    def model(self) -> str:
        assert self.runtime
        return self.runtime.settings.of(McpSettings).model

    def answer(self, tool: Tool) -> dict[str, Any]:
        """Return the result; one with a `rule` is a refusal."""
        try:
            result = tool.answer(self)
        except Exception as error:  # logged where it is not a refusal; the server goes on
            result = describe_refusal(error)
            if isinstance(error, Conflict):  # which quotes the present text
                result = {"notice": NOTICE} | result
        shown: dict[str, Any] = _escape(result)
        return shown

    def interrupt(self) -> None:
        with self.caller.lock:
            if self.runtime:
                self.runtime.store.db.interrupt()

    @contextmanager
    def open(self, found: Project, *, writes: bool = False) -> Iterator[Runtime]:
        environment = {**self.caller.environment}
        with operations.open_memories(
            found,
            environment=environment,
            connections=self.caller.connections,
            by=CALLED_BY_MODEL,
        ) as memories:
            self.runtime = memories
            self.turn = self._find_turn(memories.store)
            environment[SESSION] = self.turn.session_id
            if self.turn.session_id == self.caller.session_id:  # no hook runs in it
                operations.request_import(memories)
                if writes:
                    self.caller.begin_session(memories)
            try:
                yield memories
            finally:
                with self.caller.lock:  # its connection is the next call's
                    self.runtime = None

    def origin(self) -> Origin:
        assert self.runtime
        turn = f"{self.turn.session_id}:{self.turn.agent_id or self.turn.prompt_id}"
        return Origin(
            trust=provenance.trust_of_turn(turn, self.runtime.store),
            source_type=self.door,
            session_id=self.turn.session_id,
            run_id=self.client or None,
            agent_id=self.turn.agent_id or None,
        )

    def _find_turn(self, store: Store) -> TurnKey:
        noted = turns.find_turn_of_call(store, str(self.meta.get("claudecode/toolUseId")))
        if noted:
            return noted
        codex = self.meta.get("x-codex-turn-metadata")
        if isinstance(codex, str):
            with suppress(ValueError):
                codex = loads(codex)
        if isinstance(codex, dict) and isinstance(codex.get("session_id"), str):
            return TurnKey(session_id=safe_id(codex["session_id"]))
        given = safe_id(self.caller.environment.get(SESSION, ""))
        return TurnKey(session_id=given or self.caller.own_session(self.client))

    def choose(self, named: str, *, writes: bool, may_lack: bool = False) -> tuple[Project, ...]:
        """Return the named project, or all that reads may reach; raises NoCertainProject."""
        projects = self.projects
        listed = ", ".join(f"{each.name} ({each.root})" for each in projects)
        if named and projects:
            projects = tuple(each for each in projects if named in (each.name, each.root))
            if not projects:
                raise NoCertainProject(f"{named!r} is none of: {listed}", "give one of these names")
        if writes and len(projects) > 1:
            why = f"several projects are open here: {listed}"
            raise NoCertainProject(why, "give `project` with one of these names")
        if not projects and not may_lack:
            raise NoCertainProject("no project here has a memory", "ademem init")
        return projects


def _escape(value: Any) -> Any:
    """Escape each text in the value, and leave out keys without a value."""
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, dict):
        return {name: _escape(each) for name, each in value.items() if each is not None}
    return [_escape(each) for each in value] if isinstance(value, list | tuple) else value

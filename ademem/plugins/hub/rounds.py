"""A round with the hub: pull what others changed, then push what it does not have.

One process at a time does it, by a lease. What arrives is applied in one transaction with the
number up to which it arrived; what was sent is sent again until the hub has acknowledged it.
"""

from __future__ import annotations

import os
import random
import secrets
import sqlite3
from contextlib import suppress

from ademem.core import confined, record_json, registers
from ademem.core.clock import datetime, parse, stamp, timedelta
from ademem.core.errors import NotFound, UsageError
from ademem.core.memory import FROM_HUB, UNSEEN_BRANCH, Memory
from ademem.core.text import preview, sha256_hex
from ademem.core.untrusted import visible
from ademem.core.value import Value, replace
from ademem.files import project_brief
from ademem.plugins.hub import documents, hub_state, leaving, mutations
from ademem.plugins.hub.hub_state import HubState, Parked
from ademem.plugins.hub.leaving import Sender
from ademem.plugins.hub.store import administration
from ademem.plugins.hub.transport import FACT_CHARS, Client, HubError, check_url
from ademem.store import (
    Store,
    database,
    journal,
    memories,
    replication,
    stamps,
    transitions,
)
from ademem.store.memories import Change, new_event
from ademem.sync.provenance import safe_name
from ademem.sync.record_import import make_admission_rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ademem.core.project import Project
    from ademem.core.settings import GateSettings
    from ademem.plugins.hub.mutations import Fields
    from ademem.plugins.hub.settings import HubSettings

TOKEN = os.path.join("run", "hub.token")
"""File of the token below `.ade/`, for its owner alone."""
FIRST_WAIT_S, LONGEST_WAIT_S = 5, 900
RENEWED_BEFORE = timedelta(days=30)
"""Age before its end at which a token is replaced."""
_ROW_KEYS = {"seq", "entity", "entity_key", "fields", "shows_promoted", "replica", "role", "person"}
VERDICTS = ("taken", "known", "superseded", "refused")
_FACTS = ("project", "slug", "person", "role", "epoch")
_REMOVED = "hub_removed"
"""Name of the mark that freed pages may hold a text that was deleted for good."""
PAGES = 400
"""Most pages of changes that a round reads, 200,000 changes; the next round goes on there."""
TOO_MANY = 429
UNREADABLE = ("answer", "digest")
"""Rules of failures of a pull that say nothing about a push."""
CONFIRMING = ("reviewer", "owner")
"""Roles whose confirmation counts here."""


class NotAHub(HubError):
    def __init__(self) -> None:
        super().__init__(502, "answer", "it does not answer as a hub")


class Round(Value):
    event: str = ""
    """The act that `ademem undo` takes back; empty if nothing changed here."""
    received: int = 0
    changed: int = 0
    """Memories and relations that changed here."""
    sent: int = 0
    parked: tuple[Parked, ...] = ()
    has_more: bool = False


class Hub:
    def __init__(
        self,
        store: Store,
        project: Project,
        gate: GateSettings,
        settings: HubSettings,
        now: Callable[[], datetime],
    ) -> None:
        self.store, self.project, self.gate, self.settings = store, project, gate, settings
        self.now = now
        self.token = ""
        self.client: Client | None = None
        self.protocol = mutations.PROTOCOL
        self.owner = f"{os.getpid()}-{secrets.token_hex(4)}"
        self.pages_left = PAGES

    def ask(self, method: str, rest: str = "", body: bytes | None = None) -> dict[str, Any]:
        state, tokens = self.state(), read_tokens(self.project)
        if self.client is None or self.client.url != state.url:
            self._close()
            self.client = Client(state.url)
        for token in reversed(tokens):
            self.client.token = token
            try:
                answer = self.client.ask(method, f"/v1/projects/{state.project}{rest}", body)
                self.token = token
                return answer
            except HubError as error:
                if error.status != 401 or token == tokens[0]:
                    raise
        raise AssertionError("there is a token")

    def _close(self) -> None:
        if self.client:
            self.client.close()

    def state(self) -> HubState:
        if (state := hub_state.read(self.store)) is None:
            raise NotFound("this project is in no hub", "`ademem hub join URL CODE`")
        return state

    def run(self) -> Round:
        """Pull and push everything; raises HubError after it noted when to try again."""
        self.state()
        hub_state.take_lease(self.store, self.owner, self.now())
        try:
            done = self._run_through_changes()
        except HubError as error:
            failures = self.state().failures + 1
            wait = error.retry_s + backoff(failures, random.random())
            self.note(
                lifecycle="stopped" if error.needs_person else "backoff",
                failures=failures,
                retry_at=stamp(self.now() + timedelta(seconds=wait)),
                reason=str(error),
            )
            raise
        else:
            state = self.state()
            reason = state.reason if state.push_at > stamp(self.now()) else ""
            self.note(lifecycle="healthy", failures=0, retry_at="", reason=reason)
            return done
        finally:
            self._close()
            found = hub_state.read(self.store)
            if found and found.owner == self.owner:
                hub_state.change(self.store, self.owner, self.now(), owner="")

    def _run_through_changes(self) -> Round:
        for _ in range(4):
            try:
                self._read_facts()
                return self._exchange()
            except HubError as error:
                if error.rule == "moved":
                    try:
                        url = check_url(error.hint)
                    except UsageError as unsafe:
                        why = f"the project has moved, but {unsafe}"
                        raise HubError(502, "answer", why, unsafe.hint) from unsafe
                    self.note(url=url)
                elif error.rule == "epoch" and record_json.is_id(error.hint):
                    noticed = {"mark": "", "put_back_at": stamp(self.now())}
                    self.note(epoch=error.hint, position=0, snapshot=(0, 0), **noticed)
                    journal.advance(self.store, self.state().target, journal.ALL)
                    hub_state.forget_sent(self.store)
                elif error.rule in ("snapshot", "gap"):
                    self.note(position=0, snapshot=(0, 0), mark="")
                else:
                    raise
        raise HubError(502, "answer", "it does not stay in one state", "ask its operator")

    def _exchange(self) -> Round:
        self.note(lifecycle="pulling")
        event = new_event()
        change = Change(operation="import", actor="import", at=self.now(), event_id=event)
        sends_all = journal.cursor(self.store, self.state().target) == journal.ALL
        own = frozenset(leaving.waiting(self.sender())) if sends_all else None
        failure = None
        received = changed = 0
        try:
            received, changed = self._pull(change)
        except HubError as error:
            if error.rule not in UNREADABLE:
                raise
            failure = error
        self.note(lifecycle="pushing")
        try:
            sent, parked = self._push(own)
        except HubError as error:
            if error.status == TOO_MANY:
                self.note(push_at=stamp(self.now() + timedelta(seconds=error.retry_s)))
                error.retry_s = 0  # for which pulls do not wait
            raise
        if failure:
            raise failure
        if sent:
            more = self._pull(change)
            received, changed = received + more[0], changed + more[1]
        if database.value(self.store.db, _REMOVED):
            with suppress(sqlite3.OperationalError):  # another process reads the file: next time
                transitions.scrub(self.store)
                database.set_value(self.store.db, _REMOVED, "")
        self.note(pulled_at=stamp(self.now()))
        return Round(
            event=event if changed else "",
            received=received,
            changed=changed,
            sent=sent,
            parked=tuple(parked),
            has_more=not self.pages_left,
        )

    def note(self, **changes: Any) -> HubState:
        return hub_state.change(self.store, self.owner, self.now(), **changes)

    def _read_facts(self) -> None:
        """Replace a token that ends soon; one whose answer was lost is beside the old one."""
        facts = self.ask("GET")
        role, slug, protocol = facts.get("role"), facts.get("slug"), facts.get("protocol", 1)
        expires_at = registers.as_time(facts.get("expires_at"))
        if not (isinstance(role, str) and isinstance(slug, str) and type(protocol) is int):
            raise NotAHub
        if not expires_at:
            raise NotAHub
        self.protocol = protocol
        self.note(role=role, slug=visible(slug))
        if parse(expires_at) < self.now() + RENEWED_BEFORE:
            new = administration.new_secret(administration.TOKEN)
            write_token(self.project, f"{self.token}\n{new}")
            asked = {"token": administration.digest(new).hex()}
            self.ask("POST", "/token", mutations.to_bytes(asked))
            write_token(self.project, new)
        elif read_tokens(self.project) != [self.token]:
            write_token(self.project, self.token)

    def _pull(self, change: Change) -> tuple[int, int]:
        received = changed = 0
        state = self.state()
        after, head = state.snapshot
        while state.position == 0 and self.pages_left:
            page = self._page(after, live=True)
            if not head:
                head = page["head"]
                state = self.note(mark=_mark_of(page))
            rows = page["mutations"]
            received, changed = received + len(rows), changed + self._apply(rows, change)
            if page["more"] and rows[-1]["seq"] < head:
                after = rows[-1]["seq"]
                state = self.note(snapshot=(after, head))
            else:  # what came after the first page comes with the numbers after its head
                state = self.note(position=head, snapshot=(0, 0))
                break
        while self.pages_left:
            page = self._page(state.position)
            if not (rows := page["mutations"]):
                if _mark_of(page) != state.mark:
                    state = self.note(mark=_mark_of(page))
                break
            if rows[-1]["seq"] != state.position + len(rows):
                raise HubError(502, "gap", "a number is missing in what it answers")
            with self.store.transaction():
                received, changed = received + len(rows), changed + self._apply(rows, change)
                state = self.note(position=rows[-1]["seq"], mark=_mark_of(page))
        with self.store.transaction():
            waiting = replace(change, author=FROM_HUB)
            replication.replay(self.store, waiting, self._admit(None, change))
            changed += documents.apply_received(self.store, change)
        return received, changed

    def _page(self, after: int, *, live: bool = False) -> dict[str, Any]:
        self.pages_left -= 1
        state = self.state()
        more = "&live=1" if live else f"&mark={state.mark}" if state.mark else ""
        page = self.ask("GET", f"/mutations?after={after}&epoch={state.epoch}{more}")
        _check_page(page, after)
        if page["head"] < after:
            raise HubError(
                409, "epoch", "its database was put back to an earlier state", state.epoch
            )
        return page

    def _apply(self, rows: list[Fields], change: Change) -> int:
        with self.store.transaction():
            self.note()
            mine, target = stamps.replica(self.store), self.state().target
            there = (row for row in rows if row["fields"] is not None)
            return sum(self._apply_row(row, change, mine, target) for row in there)

    def _apply_row(self, row: Fields, change: Change, mine: str, target: str) -> int:
        """Return how many memories and relations a mutation changed."""
        entity, fields = row["entity"], row["fields"]
        if not _has_readable_fields(row):
            replication.receive(self.store, "", row, change)
            return 0
        if fields.get(registers.LIFE) == registers.REMOVED:
            database.set_value(self.store.db, _REMOVED, "1")
        if entity == mutations.PERSON:
            digest = str(fields.get("id"))
            changed = memories.forget_author(self.store, digest)
            return changed + project_brief.forget_author(self.store, digest)
        if row["replica"] == mine:
            return 0
        if entity in mutations.DOCUMENTS:
            person = FROM_HUB + safe_name(row["person"])
            hub_state.add_received(self.store, entity, row["entity_key"], fields, person)
            return 0
        return self._receive(row, change, target)

    def _receive(self, row: Fields, change: Change, target: str) -> bool:
        entity, fields = row["entity"], row["fields"]
        admit = self._admit(row, change)
        by = replace(change, author=FROM_HUB + safe_name(row["person"]))
        is_changed = replication.receive(self.store, entity, fields, by, admit, target)
        id = fields.get("id")
        if entity == "memory" and isinstance(id, str) and record_json.is_id(id):
            branch = mutations.branch_of(fields)
            is_changed |= replication.follow_hub(self.store, id, branch, change)
        return is_changed

    def _admit(self, mutation: Fields | None, change: Change) -> replication.Admit:
        name = safe_name(mutation.get("person")) if mutation else ""
        promotes = bool(mutation and mutation["role"] in CONFIRMING and mutation["shows_promoted"])
        promotes = promotes and self.settings.promote == "reviewer"
        admit = make_admission_rule(
            self.store, self.gate, change.at, FROM_HUB + name, promotes=promotes
        )
        branch = mutations.branch_of(mutation["fields"]) if mutation else None

        def admit_on_branch(row: Memory, before: Memory | None) -> Memory:
            row = admit(row, before)
            if branch and before is None:
                row = replace(row, source_branch=branch, write_gate_reason=UNSEEN_BRANCH)
            return row

        return admit_on_branch

    def sender(self) -> Sender:
        with self.store.transaction():
            replica = stamps.replica(self.store)
        state, found = self.state(), {}
        if self.protocol >= mutations.WITH_DOCUMENTS:
            found = documents.due(self.store, state.target, with_uses=self.settings.uses)
        return Sender(
            store=self.store,
            state=state,
            replica=replica,
            protocol=self.protocol,
            documents=found,
            incomplete=frozenset(one["id"] for one in journal.list_deferred(self.store)),
        )

    def _push(self, own: frozenset[tuple[str, str]] | None) -> tuple[int, list[Parked]]:
        """Send what the hub lacks; what it refuses is parked, and stops nothing else.

        Of everything only the *own* and what has changed since is sent, not what arrived first.
        """
        state = self.state()
        if state.role == "reader" or state.push_at > stamp(self.now()):
            return 0, []
        sender, last = self.sender(), journal.last(self.store.db)
        parked: list[Parked] = []
        sent = 0
        waiting = leaving.waiting(sender)
        if own is not None:
            rows = journal.rows_since(self.store, sender.state.target)
            due = own | {(row["entity"], row["entity_id"]) for row in rows}
            waiting = [one for one in waiting if one in due]
        for batch in leaving.batches(self._prepared(waiting, sender, parked)):
            verdicts = self._ask_verdicts(batch)
            with self.store.transaction():
                self.note()
                refused = self._note_sent(batch, verdicts)
            parked += refused
            sent += len(batch) - len(refused)
        with self.store.transaction():
            self.note()
            for found in parked:
                hub_state.park(self.store, found.entity, found.id, found.rule, found.why)
            journal.advance(self.store, sender.state.target, last)
        return sent, parked

    def _note_sent(self, batch: list[Fields], verdicts: list[Fields]) -> list[Parked]:
        """Note what the hub took; return what it refused."""
        refused = []
        for mutation, verdict in zip(batch, verdicts, strict=True):
            entity, id = mutation["entity"], mutation["entity_key"]
            if entity in mutations.DOCUMENTS:
                documents.note_sent(self.store, entity, mutation["fields"])
            if verdict["verdict"] != "refused":
                hub_state.drop(self.store, hub_state.PARKED, entity, id)
                continue
            rule, why = (
                preview(visible(str(verdict.get(name, ""))), FACT_CHARS) for name in ("rule", "why")
            )
            refused.append(Parked(entity=entity, id=id, rule=rule, why=why))
        return refused

    def _ask_verdicts(self, batch: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return a verdict for each mutation; raises HubError for any other answer."""
        query = f"/mutations?epoch={self.state().epoch}"
        verdicts = self.ask("POST", query, leaving.body(batch)).get("verdicts")
        if not isinstance(verdicts, list) or len(verdicts) != len(batch):
            raise HubError(502, "answer", "it does not answer a verdict for each mutation")
        if not all(isinstance(one, dict) and one.get("verdict") in VERDICTS for one in verdicts):
            raise HubError(502, "answer", "it answers what is not a verdict")
        return verdicts

    def _prepared(
        self, waiting: list[tuple[str, str]], sender: Sender, parked: list[Parked]
    ) -> Iterator[Fields]:
        for entity, id in waiting:
            found = leaving.prepare(entity, id, sender)
            if not isinstance(found, Parked):
                yield found
            elif found.rule != "shareable":
                parked.append(found)


def _check_page(page: Fields, after: int) -> None:
    """Raise HubError unless the page has mutations in the order of their numbers."""
    rows = page.get("mutations")
    if not isinstance(rows, list) or "more" not in page or not _is_number(page.get("head")):
        raise HubError(502, "answer", "it answers no list of mutations")
    if not all(isinstance(row, dict) and row.keys() >= _ROW_KEYS for row in rows):
        raise HubError(502, "answer", "it answers what is not a mutation")
    if not _are_ordered(after, rows) or (page["more"] and not rows):
        raise HubError(502, "answer", "it answers mutations in no order")


def _are_ordered(after: int, rows: list[Fields]) -> bool:
    numbers = [after, *(row["seq"] for row in rows)]
    return all(map(_is_number, numbers)) and numbers == sorted({*numbers})


def _has_readable_fields(row: Fields) -> bool:
    entity = row["entity"]
    if not isinstance(entity, str) or not isinstance(row["fields"], dict):
        return False
    return entity not in mutations.DOCUMENTS or record_json.is_id(row["entity_key"])


def _mark_of(page: dict[str, Any]) -> str:
    """Return the mark of the last number that a page brings the reader to."""
    mark = str(page.get("mark"))
    return mark if "mark" in page and record_json.is_id(mark) else ""


def _is_number(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 62


def backoff(failures: int, chance: float) -> float:
    """Return seconds until the next try: twice as many each time, give or take a quarter.

    *chance*, from 0 to 1, keeps the clients of one hub from coming back together.
    """
    wait = min(FIRST_WAIT_S * 2.0 ** min(failures - 1, 10), LONGEST_WAIT_S)
    return wait * (0.75 + chance / 2)


def join(store: Store, project: Project, url: str, code: str, device: str) -> HubState:
    """Make a token of the invitation, and enrol the project; raises HubError.

    The token follows from the invitation and the secret of this store, so that another try sends
    the same one where the answer to the first was lost.
    """
    url, token = check_url(url), administration.TOKEN + sha256_hex("join", store.secret, code)
    asked = {"code": code, "token": administration.digest(token).hex(), "device": device}
    facts = Client(url).ask("POST", "/v1/join", mutations.to_bytes(asked))
    texts = ((name, facts.get(name)) for name in _FACTS)
    found: Fields = {name: visible(text) for name, text in texts if isinstance(text, str)}
    if len(found) < len(_FACTS) or not all(
        record_json.is_id(found[name]) for name in ("project", "epoch")
    ):
        raise NotAHub
    write_token(project, token)
    state = hub_state.HubState(url=url, **found)
    hub_state.join(store, state)
    return state


def leave(store: Store, project: Project) -> HubState | None:
    confined.remove(project.home_root, os.path.join(project.home, TOKEN))
    return hub_state.leave(store)


def read_tokens(project: Project) -> list[str]:
    """Return the token, and the next one if it was asked for; raises NotFound without any."""
    found = confined.read_text(project.home_root, os.path.join(project.home, TOKEN))
    if not found:
        raise NotFound("the token of the hub is missing", "`ademem hub join URL CODE` makes one")
    return found.split()


def write_token(project: Project, token: str) -> None:
    path = os.path.join(project.home, TOKEN)
    confined.write_text(project.home_root, path, f"{token}\n", mode=0o600)

"""Bring memories in step with the files of the client's own memory, which are only read.

A file that is there again as it was is not opened, and a second run changes nothing.
"""

from __future__ import annotations

import os
import time

from ademem.core import client_memory
from ademem.core.client_memory import INDEX
from ademem.core.clock import Deadline, timedelta
from ademem.core.errors import AdememError, suppress
from ademem.core.memory import CLIENT_FILE
from ademem.core.value import Value, replace
from ademem.store import client_files
from ademem.store.client_files import ClientFile, Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ademem.capture.gate import Written
    from ademem.capture.memory_files import MemoryFile
    from ademem.core.client import Payload
    from ademem.core.client_memory import Folder, Found, Listing
    from ademem.core.memory import Draft, Memory, Origin, Trust
    from ademem.store.memory_queries import Home
    from ademem.store.runtime import Runtime
    from ademem.store.transitions import Act

JOB = "client_memory"
HOOK_S = 0.05
"""CPU time in which a hook reads what is new; the worker reads the rest."""
START_S = 2.0
"""Longest time between a command and its hook."""
MANY, MOST_GONE = 6, 0.5
"""Of so many files no more than this share may be gone at once, else nothing is archived."""
TOPIC = "client/"
PROPOSED = " proposed"
"""End of the topic of a text that waits beside what a person confirmed."""
QUOTE_CHARS = 1000
"""Part of a text that is redacted and quoted as evidence, which is shorter."""
PLACED = ("path", "dir", "glob", "runs", "program")


class Writer(Value):
    """The call that wrote files, as its hook knows it."""

    session_id: str
    prompt_id: str
    trust: Trust
    path: str = ""
    """The file that the call wrote; empty for a command, which may have written any."""
    since_s: float = 0.0
    """Time from which a changed file may be the command's."""

    def wrote(self, folder: Folder, path: str, changed_s: float) -> bool:
        if self.path:
            return self.path == os.path.join(folder.path, path)
        return changed_s >= self.since_s


class Entry(Value):
    """A file, or an entry of the index, as it is now."""

    path: str
    state: str
    file: MemoryFile
    writer: Writer | None = None


def run(runtime: Runtime, *, writer: Writer | None = None, seconds: float = HOOK_S) -> bool:
    """Read all folders of this project as far as the CPU time allows; False if some is left."""
    if not runtime.settings.learn.client_memory or runtime.is_read_only:
        return True
    if not client_memory.is_on(runtime.project, runtime.environment):
        return True
    deadline = Deadline(time.process_time, seconds)
    folders = client_memory.list_folders(runtime.project, runtime.environment)
    # A clone may bring any number of them.
    is_done = all(
        deadline.left_s > 0 and reconcile(each, runtime, writer, deadline) for each in folders
    )
    if not is_done:
        from ademem.store import jobs

        jobs.queue(runtime.store, JOB, "project", runtime.now)
    return is_done


def after_call(payload: Payload, runtime: Runtime) -> None:
    """Read what a call may have written: a file below a folder, or a command that names one."""
    folders = client_memory.list_folders(runtime.project, runtime.environment)
    path = os.path.join(payload.cwd, payload.path) if payload.path else ""
    if path:
        folder = next((each for each in folders if client_memory.is_below(path, each)), None)
        if folder is None:
            return
        inside = os.path.relpath(os.path.realpath(path), os.path.realpath(folder.path))
        path = os.path.join(folder.path, inside)
    elif not any(_names(payload, each) for each in folders):
        return
    from ademem.capture import provenance

    began = runtime.now - timedelta(milliseconds=payload.duration_ms)
    writer = Writer(
        session_id=payload.session_id,
        prompt_id=provenance.prompt_of(payload, runtime),
        trust=provenance.origin_of(payload, runtime, CLIENT_FILE).trust,
        path=path,
        since_s=began.timestamp() - START_S,
    )
    run(runtime, writer=writer)


def _names(payload: Payload, folder: Folder) -> bool:
    name = client_memory.AGENTS if folder.agent else os.path.basename(folder.path)
    return name in payload.command or name in payload.cwd


def reconcile(
    folder: Folder,
    runtime: Runtime,
    writer: Writer | None = None,
    deadline: Deadline | None = None,
) -> bool:
    """Bring the store in step with a folder; False if time is up before the last file."""
    listing, known = client_memory.look(folder), client_files.list_of(runtime.store, folder.path)
    if listing is None:  # absent, as after a move: nothing is known of the files
        if known:
            client_files.note_kept(runtime.store, folder.path, len(known))
        return True
    if any(each.link == Link.OTHER for each in known.values()):
        known = _Reconciliation(folder, runtime, known, deadline).follow_decisions()
    if not any(_compare(listing, known, folder, writer)):
        if known:
            client_files.note_kept(runtime.store, folder.path, 0)
        return True
    from ademem.capture import gate, memory_files  # noqa: F401
    from ademem.guard import injection  # noqa: F401
    from ademem.store import evidence, stamps, transitions  # noqa: F401

    # All of these are loaded before others wait for the end of the transaction.
    runtime.store.spill_nothing()  # in the worker, too: each row would open a file
    with runtime.store.transaction():
        known = client_files.list_of(runtime.store, folder.path)  # another hook may have been here
        changed, gone = _compare(listing, known, folder, writer)
        return _Reconciliation(folder, runtime, known, deadline).run(changed, gone, writer)


def _compare(
    listing: Listing, known: dict[str, ClientFile], folder: Folder, writer: Writer | None
) -> tuple[list[Found], list[ClientFile]]:
    """Return the files that are due, and what is known of files that are gone."""
    changed = [each for each in listing.files if _is_due(each, known, folder, writer)]
    gone = [each for path, each in known.items() if path.partition("#")[0] not in listing.names]
    return changed, gone


def _is_due(
    found: Found, known: dict[str, ClientFile], folder: Folder, writer: Writer | None
) -> bool:
    """Tell whether a file has changed, or its call writes it and another hook read it before."""
    before = known.get(found.path)
    if before is None or before.stat != found.state:
        return True
    is_written = writer is not None and writer.path != "" and before.link == Link.NOTE
    return is_written and writer is not None and writer.wrote(folder, found.path, found.changed_s)


class _Reconciliation:
    """One run over a folder in which something changed, in a transaction."""

    def __init__(
        self,
        folder: Folder,
        runtime: Runtime,
        known: dict[str, ClientFile],
        deadline: Deadline | None,
    ) -> None:
        self.folder, self.runtime, self.known = folder, runtime, known
        self.store, self.deadline = runtime.store, deadline

    def follow_decisions(self) -> dict[str, ClientFile]:
        """Link files to proposals that a person confirmed, as these say what the files do."""
        for path, row in self.known.items():
            id = row.memory_id if row.link == Link.OTHER else None
            memory = self.runtime.list_by_ids([id]).get(id) if id else None
            if memory is None:
                continue
            taken = self._find_proposal(path, memory)
            if taken and self._is_settled(taken):
                row = replace(row, memory_id=taken.id, revision=taken.revision_count)
                self.known[path] = replace(row, link=Link.COPY)
                client_files.put(self.store, self.known[path])
        return self.known

    def run(
        self, changed: Sequence[Found], gone: Sequence[ClientFile], writer: Writer | None
    ) -> bool:
        entries, index = self._read(changed, writer)
        missing = [each for each in gone if "#" not in each.path]
        lines = [each for each in gone if "#" in each.path]
        if index is not None:
            read = {each.path for each in entries}
            of_index = [each for path, each in self.known.items() if path.startswith(f"{INDEX}#")]
            lines = [each for each in of_index if each.path not in read]
            entries = [
                each for each in entries if "#" not in each.path or each.path not in self.known
            ]
        missing = self._rename(missing, entries)
        kept = self._remove(missing) + (kept_lines := self._remove(lines))
        client_files.note_kept(self.store, self.folder.path, kept)
        for each in sorted(entries, key=lambda each: each.writer is None):
            if self.deadline and self.deadline.left_s <= 0:
                return False
            self._take(each)
        if index is not None:  # read again while entries of it are kept that it has not
            row = ClientFile(folder=self.folder.path, path=INDEX)
            client_files.put(self.store, replace(row, stat="" if kept_lines else index.state))
        return True

    def _read(
        self, changed: Sequence[Found], writer: Writer | None
    ) -> tuple[list[Entry], Found | None]:
        """Return what changed files say, with all entries of the index if that changed."""
        from ademem.capture import memory_files

        entries: list[Entry] = []
        index = None
        for found in changed:
            text = client_memory.read(self.folder, found.path)
            if text is None:
                continue
            by = (
                writer
                if writer and writer.wrote(self.folder, found.path, found.changed_s)
                else None
            )
            if found.path != INDEX:
                file = memory_files.parse(text)
                entries.append(Entry(path=found.path, state=found.state, file=file, writer=by))
                continue
            index = found
            for line in dict.fromkeys(memory_files.list_statements(text)):
                file = memory_files.MemoryFile(text=line)
                path = f"{INDEX}#{file.digest[:12]}"
                entries.append(Entry(path=path, state="", file=file, writer=by))
        return entries, index

    def _rename(self, missing: Sequence[ClientFile], entries: Sequence[Entry]) -> list[ClientFile]:
        """Give new files that say what a missing one did its memory; return the other ones."""
        new = {
            each.file.digest: each.path
            for each in entries
            if each.path not in self.known and "#" not in each.path
        }
        left = []
        for row in missing:
            path = new.pop(row.digest, "") if row.digest else ""
            if not path:
                left.append(row)
                continue
            client_files.remove(self.store, row)
            self.known[path] = replace(row, path=path)
            memory = self._memory(row)
            if memory and row.link == Link.NOTE and memory.live and not self._is_settled(memory):
                from ademem.store import transitions

                with suppress(AdememError):
                    topic = self._topic(path, personal=memory.is_personal)
                    settings = self.runtime.settings.gate
                    transitions.edit(memory.id, self._act(memory), settings, topic_key=topic)
        return left

    def _remove(self, rows: Sequence[ClientFile]) -> int:
        """Archive what came from files that are gone; if they are many, return their number."""
        is_line = "#" in rows[0].path if rows else False
        total = sum(("#" in path) == is_line and path != INDEX for path in self.known)
        noted = [each for each in rows if each.path != INDEX]
        is_much = total >= MANY and len(noted) > MOST_GONE * total
        kept = 0
        for row in rows:
            memory = self._memory(row)
            is_note = memory is not None and memory.live and row.link == Link.NOTE
            if memory and is_note and is_much and not self._is_settled(memory):
                kept += 1
                continue
            if memory:
                self._drop(row, memory)
            client_files.remove(self.store, row)
        return kept

    def _take(self, entry: Entry) -> None:
        row, text = self.known.get(entry.path), entry.file.text
        before = self._memory(row) if row else None
        dictated = self._find_dictated(entry)
        if row and row.digest == entry.file.digest and not (dictated and row.link == Link.NOTE):
            client_files.put(self.store, replace(row, stat=entry.state))
            if before and before.live and row.link == Link.NOTE and entry.writer:
                self._add_evidence(entry, before)
        elif dictated and text:
            if row and before and before.id != dictated.id:
                self._drop(row, before)
            self._put(entry, dictated, self._copy_of(entry))
        elif row and before and before.live and text:
            self._follow(entry, row, before)
        else:
            if row and before:
                self._drop(row, before)
            self._note(entry)

    def _copy_of(self, entry: Entry) -> Link:
        """Return the link of a copy; one of a turn that read an outside source hides nothing."""
        return Link.COPY if self._origin(entry).trust == "agent" else Link.OTHER

    def _note(self, entry: Entry) -> None:
        """Store what a file says as a candidate; a text that is known is none."""
        if not entry.file.text:
            self._put(entry, None, Link.NONE)
            return
        home = self._home(entry)
        draft = self._draft(entry)
        known = self._find_same(draft, home)
        memory = known or self._write(draft, home).memory
        self._put(entry, memory, self._copy_of(entry) if known else Link.NOTE)
        if memory and not known:
            self._add_evidence(entry, memory)

    def _follow(self, entry: Entry, row: ClientFile, memory: Memory) -> None:
        """Bring the new text of a file to its memory, which stays if a person confirmed it."""
        from ademem.store import evidence

        home = self._holder(memory)
        if self._is_settled(memory):
            self._propose(entry, row, memory)
            return
        draft = self._draft(entry)
        if row.link != Link.NOTE or entry.file.is_personal != memory.is_personal:
            self._drop(row, memory)
            self._note(entry)
            return
        written = self._write(replace(draft, topic_key=memory.topic_key), home).memory
        if written is None or written.id != memory.id:  # the gate refused or held back the text
            self._drop(row, memory)
        elif written.content != memory.content:
            evidence.restart(home.store, memory.id)
        self._put(entry, written, Link.NOTE if written else Link.NONE)
        if written:
            self._add_evidence(entry, written)

    def _propose(self, entry: Entry, row: ClientFile, memory: Memory) -> None:
        """Put a new text beside a confirmed one; none, if the client corrects it as it was told."""
        from ademem.capture import gate
        from ademem.core.text import fold
        from ademem.store import evidence

        home = self._holder(memory)
        topic = self._topic_of_proposal(entry.path, memory)
        before = self._find_proposal(entry.path, memory)
        since = {memory.id: row.revision}
        is_corrected = bool(client_files.changed_by_person(home.store, since))
        says = (entry.file.text, entry.file.content)
        if is_corrected or any(fold(text) == fold(memory.content) for text in says):
            if before and not self._is_settled(before):
                self._archive(before, entry.path)
            self._put(entry, memory, Link.COPY if row.link == Link.OTHER else row.link)
            return
        draft = replace(
            self._draft(entry),
            topic_key=topic,
            scope=memory.shown_scope,
            owner=memory.scope_owner_id,
        )
        if before:
            proposed = self._write(draft, home).memory
            if proposed and proposed.id == before.id and proposed.content != before.content:
                evidence.restart(home.store, proposed.id)
        else:
            settings, now = self.runtime.settings.gate, self.runtime.now
            written = gate.propose(memory, draft, home.store, settings, now)
            proposed = written.memory if written.accepted else None
        if proposed and proposed.id != memory.id:
            self._add_evidence(entry, proposed)
        self._put(entry, memory, Link.OTHER, revision=row.revision)

    def _drop(self, row: ClientFile, memory: Memory) -> None:
        """Archive what no person confirmed of the text that a file had, and of its proposal."""
        proposed = self._find_proposal(row.path, memory)
        noted = memory if row.link == Link.NOTE else None
        for each in filter(None, (noted, proposed)):
            if each.live and not self._is_settled(each):
                self._archive(each, row.path)

    def _archive(self, memory: Memory, path: str) -> None:
        from ademem.store import transitions

        reason = f"the client's own file {path} says it no longer"
        with suppress(AdememError):
            transitions.archive(memory.id, replace(self._act(memory), reason=reason))

    def _take_place(self, entry: Entry, memory: Memory) -> None:
        """Let a text take the place of what the person's prompt seemed to state.

        Not one of a turn that had read an outside source, and none about another matter.
        """
        by = entry.writer
        if by is None or memory.quarantine_reason or by.trust != "agent":
            return
        from ademem.store import evidence, memory_queries, transitions

        heard = memory_queries.heard_in_turn(self.store, session=by.session_id, prompt=by.prompt_id)
        for each in heard:
            said = [one for one in evidence.list_of(self.store, each.id) if one.kind == "said"]
            quotes = [one.quote for one in said] or [each.content]
            if not any(evidence.share_word(quote, memory.content) for quote in quotes):
                continue
            holder, act = self._holder(memory), self._act(each)
            for quote in quotes:
                evidence.add(
                    holder.store,
                    memory.id,
                    evidence.EvidenceKind.SAID,
                    self.runtime.now,
                    quote=quote,
                    session_id=by.session_id,
                    prompt_id=by.prompt_id,
                )
            is_one_home = holder is self.runtime and memory.scope == each.scope
            with suppress(AdememError):
                if is_one_home:
                    transitions.supersede(each.id, act, memory.id)
                else:
                    transitions.archive(each.id, act)
            return

    def _add_evidence(self, entry: Entry, memory: Memory) -> None:
        from ademem.core.text import whole_words
        from ademem.store import evidence

        origin = self._origin(entry)
        evidence.add(
            self._holder(memory).store,
            memory.id,
            evidence.EvidenceKind.CLIENT_FILE,
            self.runtime.now,
            quote=whole_words(entry.file.text, QUOTE_CHARS),
            session_id=origin.session_id or "",
            prompt_id=entry.writer.prompt_id if entry.writer else "",
            message=entry.path.partition("#")[0],
            tainted=origin.trust != "agent",
        )
        self._take_place(entry, memory)

    def _put(
        self, entry: Entry, memory: Memory | None, link: str, revision: int | None = None
    ) -> None:
        now = memory.revision_count if memory else 0
        row = ClientFile(
            folder=self.folder.path,
            path=entry.path,
            digest=entry.file.digest,
            stat=entry.state,
            kind=entry.file.kind,
            memory_id=memory.id if memory else None,
            link=link,
            revision=now if revision is None else revision,
        )
        client_files.put(self.store, row)

    def _find_dictated(self, entry: Entry) -> Memory | None:
        """Return what the person dictated in the turn that wrote the file.

        Or what Claude added in that turn, on a question about a sentence of the prompt.
        """
        by = entry.writer
        if by is None or not by.prompt_id:
            return None
        from ademem.core.memory import Trust
        from ademem.core.text import words
        from ademem.store import evidence, ledger

        turn = f"{by.session_id}:{by.prompt_id}"
        speakers = (Trust.USER, Trust.AGENT)  # the second where no person is proven, as in CI
        ids = [id for each in speakers for id in ledger.memories_of_turn(self.store, each, turn)]
        said = evidence.ids_of_turn(self.store, "said", by.session_id, by.prompt_id)
        live = [
            each
            for each in self.runtime.list_by_ids([*ids, *said]).values()
            if each.live and (each.id in ids or self._is_answer(each, entry))
        ]
        mine = words(entry.file.content)
        return max(live, key=lambda each: len(mine & words(each.content)), default=None)

    def _is_answer(self, memory: Memory, entry: Entry) -> bool:
        """Tell whether Claude put what a prompt seemed to state into words, as in the file."""
        from ademem.store import evidence

        is_added = memory.stage != "heard" and memory.source_type != CLIENT_FILE
        return is_added and evidence.share_word(memory.content, entry.file.content)

    def _find_same(self, draft: Draft, home: Runtime) -> Memory | None:
        """Return a live memory that says the same, of whatever topic."""
        from ademem.core.text import dedupe_key
        from ademem.store.memory_queries import Home

        scope = "agent" if draft.owner or draft.scope == "personal" else draft.scope
        place = Home(home.store, scope, draft.owner)
        return place.live_by("dedupe_key", dedupe_key(draft.content))

    def _draft(self, entry: Entry) -> Draft:
        from ademem.capture.memory_files import REFERENCE
        from ademem.core.memory import Draft
        from ademem.core.text import whole_words

        file, agent = entry.file, self.folder.agent
        return Draft(
            content=whole_words(file.content, 2 * self.runtime.settings.gate.max_chars),
            category=file.category,
            scope="agent" if agent else "personal" if file.is_personal else "project",
            owner=agent or None,
            topic_key=self._topic(entry.path, personal=file.is_personal and not agent),
            tags=(REFERENCE,) if file.kind == REFERENCE else (),
            anchors=(*_places_of(file.how), *_occasion_of(file.about)),
            origin=self._origin(entry),
        )

    def _origin(self, entry: Entry) -> Origin:
        from ademem.capture import provenance
        from ademem.core.client import safe_id
        from ademem.core.memory import Origin, Trust

        by = entry.writer
        session = by.session_id if by else safe_id(entry.file.session_id)
        trust = Trust.TOOL if self.folder.agent else Trust.AGENT  # which may have come by commit
        if by:
            trust = by.trust
        elif session and not self.folder.agent:
            trust = provenance.trust_of_session(session, self.store)
        return Origin(
            trust=trust,
            source_type=CLIENT_FILE,
            source_id=entry.path.partition("#")[0],
            session_id=session or None,
            agent_id=self.folder.agent or None,
        )

    def _write(self, draft: Draft, home: Runtime) -> Written:
        from ademem.capture import gate

        return gate.write(draft, home.store, self.runtime.settings.gate, self.runtime.now)

    def _topic(self, path: str, *, personal: bool) -> str:
        """Return the topic of a file; personal ones of several projects are in one store."""
        return f"{TOPIC}{self.folder.key}/{path}" if personal else f"{TOPIC}{path}"

    def _topic_of_proposal(self, path: str, memory: Memory) -> str:
        own = memory.topic_key if (memory.topic_key or "").startswith(TOPIC) else None
        return f"{own or self._topic(path, personal=memory.is_personal)}{PROPOSED}"

    def _find_proposal(self, path: str, memory: Memory) -> Memory | None:
        topic = self._topic_of_proposal(path, memory)
        return self._home_of(memory).live_by("topic_key", topic)

    def _home(self, entry: Entry) -> Runtime:
        if entry.file.is_personal and not self.folder.agent:
            own = self.runtime.open_personal(create=True)
            assert own
            return own
        return self.runtime

    def _home_of(self, memory: Memory) -> Home:
        from ademem.store.memory_queries import Home

        return Home(self._holder(memory).store, memory.scope, memory.scope_owner_id)

    def _holder(self, memory: Memory) -> Runtime:
        own = self.runtime.open_personal() if memory.is_personal else None
        return own or self.runtime

    def _memory(self, row: ClientFile) -> Memory | None:
        """Return the memory of a file, or the one that has its place now."""
        id, seen = row.memory_id, set[str]()
        memory = None
        while id and id not in seen:
            seen.add(id)
            memory = self.runtime.list_by_ids([id]).get(id)
            id = memory.superseded_by if memory else None
        return memory

    def _is_settled(self, memory: Memory) -> bool:
        """Tell whether a person said or confirmed it."""
        from ademem.store import memories

        is_confirmed = memory.status == "promoted"
        return is_confirmed or memories.is_of_person(self._holder(memory).store, memory)

    def _act(self, memory: Memory) -> Act:
        from ademem.core.memory import Trust
        from ademem.store.transitions import Act

        return Act(store=self._holder(memory).store, now=self.runtime.now, actor=Trust.AGENT)


def _occasion_of(about: str) -> tuple[str, ...]:
    from ademem.core.anchor import OCCASION_CHARS, of_occasion
    from ademem.core.text import whole_words

    return (of_occasion(whole_words(about, OCCASION_CHARS)),) if about else ()


def _places_of(how: str) -> tuple[str, ...]:
    """Return anchors for the files and commands that stand in backticks."""
    if "`" not in how:
        return ()
    from ademem.core import anchor
    from ademem.search.binding_keys import show
    from ademem.search.places import places_in

    found = (each for each in places_in(how[:QUOTE_CHARS], None) if each.kind in PLACED)
    return tuple(anchor.of_key(show(each), by_person=False) for each in found)

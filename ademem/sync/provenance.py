"""The author of a change in the files: this person, an agent here, or another source.

A change found in the files came with them (a clone, a pull, an archive) unless it was made in this
work tree after files and store agreed once: by an edit that no commit brought, or by a commit that
git's log of HEAD says was made here. Of what was made here the author is the agent if a session
named the file in a tool call, or ran a shell command that may change files, between the last
reading of the files and the change; else the person.
"""

from __future__ import annotations

import os
import re

from ademem.capture import provenance
from ademem.core import confined
from ademem.core import trust as agreements
from ademem.core.clock import UTC, datetime, stamp
from ademem.core.json_text import array
from ademem.core.memory import Status, Trust
from ademem.core.text import sha256_hex
from ademem.core.value import Value
from ademem.files import branches
from ademem.files.project_brief import FileSource
from ademem.store import edits, made_at
from ademem.sync import merge_base
from ademem.sync.git_history import read_history

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import Any

    from ademem.core.project import Project
    from ademem.store import Store
    from ademem.sync.git_history import GitHistory

NAME_CHARS = 40
NAME_WORDS = 6
"""Words of a claimed name; one with more is a sentence and is not shown."""
DIGEST_CHARS = 32
REFLOG_BYTES = 256_000
"""Bytes read from the end of git's log of HEAD."""
TRANSCRIPT_BYTES = 16_000_000
"""Bytes read from the end of a session's transcript."""

_COMMITTED = ("commit: ", "commit (amend): ", "commit (initial): ")
"""Entries of git's log of HEAD for commits made here."""
_NO_NAME = re.compile(r"[^\w .,'@+-]+")
_MEANT = ("sync_id", "content", "title", "category", "path", "topic_key")
"""Fields by which a record claims something, beside its tags, anchors, status and pin."""


class Source(Value):
    """The source of a change in the files."""

    trust: Trust
    """IMPORT for what came with the files."""
    author: str | None = None
    """The claimed author of a labelled change that came with the files; empty without a name."""

    @property
    def by_person(self) -> bool:
        return self.trust is Trust.USER

    @property
    def by_agent(self) -> bool:
        return self.trust not in (Trust.USER, Trust.IMPORT)


class Provenance:
    """Finds the source of each change of an import; reads git and transcripts when needed."""

    def __init__(
        self,
        project: Project,
        store: Store,
        history: Callable[[], GitHistory],
        environment: Mapping[str, str] | None,
        *,
        agreed_before: bool,
    ) -> None:
        self._project = project
        self._store = store
        self._ask_history = history
        self._known_history: GitHistory | None = None
        self._environment = environment
        self._agreed_before = agreed_before
        """True after the first agreement of files and store: before it, nothing was edited here."""
        self._trusts_files: bool | None = None
        self._own: frozenset[str] | None = None
        self._made_here: frozenset[str] | None = None
        self._writers: dict[str, Trust] = {}

    @property
    def history(self) -> GitHistory:
        """The commits since the merge base, read once."""
        if self._known_history is None:
            self._known_history = self._ask_history()
        return self._known_history

    def of(self, path: str, id: str | None = None, text: str = "") -> Source:
        """Return the source of a change about the memory *id* in the file at *path*.

        Of an item without id, *text* is what it says.
        """
        commits = self.history.bringing(path, id, text) if self._agreed_before else None
        if commits is not None and commits <= self._commits_made_here(commits):
            return Source(trust=self._writer(path, commits))
        return Source(trust=Trust.IMPORT, author=self._claimed(id))

    def of_record(self, path: str, record: Mapping[str, Any], id: str | None) -> Source:
        """Return the source of a line; one that a store of this person wrote is not labelled."""
        source = self.of(path, id)
        if source.author is None:
            return source
        if record_digest(record) in self.own:
            return Source(trust=Trust.IMPORT)
        named = next((record.get(key) for key in ("author", "source") if record.get(key)), "")
        if id and not record.get("author"):
            named = ""  # in our own lines `source` is the kind of source
        return Source(trust=Trust.IMPORT, author=safe_name(named) or source.author)

    def of_brief(self, path: str) -> FileSource:
        """Return the source of a change in the file of a brief."""
        commits = self.history.bringing_file(path) if self._agreed_before else None
        if commits is not None and commits <= self._commits_made_here(commits):
            return FileSource(by_agent=self._writer(path, commits) is not Trust.USER)
        author = safe_name(self.history.author_of(path))
        return FileSource(author=author, own=self.own)

    def author_of(self, path: str, *, ask: bool = True) -> str | None:
        """Return git's author of a file that came with the project; None for one written here.

        Unless git is to be *asked*, nobody is named.
        """
        if not ask:
            return ""
        last = self.history.last_commit_of(path)
        if self._agreed_before and (last is None or last in self._commits_made_here({last})):
            return None
        return safe_name(self.history.author_of(path))

    @property
    def trusts_files(self) -> bool:
        """True if the person agreed to trust the files of this repository."""
        if self._environment is None:
            return False
        if self._trusts_files is None:
            root = self._project.root
            self._trusts_files = agreements.trusts_files(
                self._project.main,
                self._store.secret,
                lambda commit: branches.has_commit(root, commit),
                self._environment,
            )
        return self._trusts_files

    @property
    def own(self) -> frozenset[str]:
        if self._own is None:
            known = self._environment is not None
            self._own = agreements.own_records(self._environment or {}) if known else frozenset()
        return self._own

    def _claimed(self, id: str | None) -> str | None:
        if self.trusts_files:
            return None
        history = self.history
        return safe_name(history.authors.get(id or "", history.last_author))

    def _commits_made_here(self, asked: Collection[str]) -> frozenset[str]:
        if asked and self._made_here is None:
            self._made_here = frozenset(_made_here(self._project.root))
        return self._made_here or frozenset()

    def _writer(self, path: str, commits: Iterable[str]) -> Trust:
        """Return USER, or the trust of the agent that may have changed the file."""
        for sha in commits:
            if session := edits.session_of_commit(self._store, sha):
                return provenance.trust_of_session(session, self._store)
        if path not in self._writers:
            self._writers[path] = _writer(self._project, self._store, path)
        return self._writers[path]


def provenance_of(
    project: Project, store: Store, environment: Mapping[str, str] | None
) -> Provenance:
    """Return the provenance of changes since store and files agreed."""
    agreed = merge_base.load(project, made_at(store))
    known = agreed.branch is not None and store.is_trusted  # else the agreement is another's, too
    return Provenance(
        project, store, lambda: read_history(project, agreed), environment, agreed_before=known
    )


def record_digest(record: Mapping[str, Any]) -> str:
    """Digest the fields of a line that make a claim: its text, and its status and anchors."""
    lists = (array([str(item) for item in record.get(name) or ()]) for name in ("tags", "anchors"))
    confirmed = str(record.get("status") == Status.PROMOTED)
    meant = (str(record.get(name) or "") for name in _MEANT)
    pinned = str(record.get("pinned") is True)
    return sha256_hex("record", *meant, *lists, confirmed, pinned)[:DIGEST_CHARS]


def skill_digest(path: str, content_hash: str) -> str:
    return sha256_hex("skill", path, content_hash)[:DIGEST_CHARS]


def safe_name(claimed: object) -> str:
    """Clean a claimed name; return "" for one that is no name."""
    from ademem.core.redaction import redact
    from ademem.core.text import clean
    from ademem.guard.injection import instruction_in

    text = str(claimed)[: 10 * NAME_CHARS] if isinstance(claimed, str) else ""
    if instruction_in(text) or redact(text).found:
        return ""
    name = " ".join(_NO_NAME.sub(" ", clean(text)).split())
    if len(name.split()) > NAME_WORDS or not any(char.isalpha() for char in name):
        return ""
    return name[:NAME_CHARS].strip()


def _made_here(root: str) -> Iterable[str]:
    """Yield the commits that git's log of HEAD says were made in this work tree."""
    from ademem.core.repository import git_dir, git_root

    top = git_root(root)
    if top is None:
        return
    try:
        with open(os.path.join(git_dir(top), "logs", "HEAD"), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - REFLOG_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return
    for line in lines:
        who, _, did = line.partition("\t")
        words = who.split()
        if len(words) > 1 and did.startswith(_COMMITTED):
            yield words[1]


def _writer(project: Project, store: Store, path: str) -> Trust:
    """Return the trust of the last writer, by the activity of sessions since the last reading."""
    status = confined.status(project.root, path)
    if status is None:
        return Trust.USER
    changed = stamp(datetime.fromtimestamp(status.st_ctime, UTC))
    seen = edits.last_reading(store, project.root)
    found = [
        provenance.trust_of_turn(turn, store) for turn in edits.naming(store, path, since=seen)
    ]
    found += [
        provenance.trust_of_session(session, store)
        for session, transcript in edits.sessions_between(store, seen, changed)
        if _may_have_changed(transcript, os.path.join(project.root, path), seen, changed)
    ]
    if not found:
        return Trust.USER
    return next(
        (trust for trust in (*provenance.SOURCES, Trust.AGENT) if trust in found), Trust.AGENT
    )


def _may_have_changed(transcript: str, file: str, since: str, until: str) -> bool:
    """Return True if a session wrote the file, or may have; also where that is unknown."""
    from ademem.capture.transcript import Call, events, subagent_transcripts
    from ademem.guard.mutation import judge
    from ademem.guard.policy import SHELL_TOOLS, WRITING_TOOLS

    for part in (transcript, *subagent_transcripts(transcript)):
        try:
            status = os.stat(part)
            if stamp(datetime.fromtimestamp(status.st_mtime, UTC)) < since:
                continue  # nothing was said in it since
            unread = status.st_size > TRANSCRIPT_BYTES
            for event in events(part, tail=TRANSCRIPT_BYTES):
                if unread and event.at > since:
                    return True  # what came before is not in the part that is read
                unread = False
                if not isinstance(event, Call) or not since <= event.at <= until:
                    continue
                if event.tool in SHELL_TOOLS and judge(str(event.input.get("command"))).mutates:
                    return True
                named = event.input.get("file_path") or event.input.get("notebook_path")
                if event.tool not in WRITING_TOOLS or not isinstance(named, str):
                    continue
                if os.path.realpath(named) == os.path.realpath(file):
                    return True
        except OSError:
            return True
    return False

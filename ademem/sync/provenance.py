"""The author of a change in the files: this person, an agent here, or another source.

A change found in the files came with them (a clone, a pull, an archive) unless it was made in this
work tree after files and store agreed once: by an edit that no commit brought, or by a commit that
git's log of HEAD says was made here. Of what was made here the author is the agent if a session
named the file in a tool call, or ran a shell command that may change files, between the last
reading of the files and the change; else the person.
"""

from __future__ import annotations

import os

from ademem.core import confined, git, regex, trust
from ademem.core.caching import cached_property, lru_cache
from ademem.core.clock import UTC, datetime, parse, stamp, timedelta
from ademem.core.json_text import array
from ademem.core.memory import Status, Trust
from ademem.core.repository import list_moves
from ademem.core.text import sha256_hex
from ademem.core.value import Value, replace
from ademem.files.project_brief import FileSource
from ademem.store import Store, ledger
from ademem.sync.git_history import GitHistory, list_uncommitted, read_history
from ademem.sync.tracked_files import MergeBase, load_base, present_text
from ademem.sync.trusted_commits import Remote, TrustedCommits, find_remote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

    from ademem.capture.transcript import Call
    from ademem.core.project import Project
    from ademem.files.texts import Texts
    from ademem.store.runtime import Runtime

NAME_CHARS = 40
NAME_WORDS = 6
"""Words of a claimed name; one with more is a sentence and is not shown."""
DIGEST_CHARS = 32
MOST_AUTHORS = 100
"""Skill files whose author is looked up in git at once; that of others has no name."""
TRANSCRIPT_BYTES = 16_000_000
LONGEST_CALL = timedelta(minutes=15)
"""Time for which a command may run before the last reading of the files and go on after it."""

_COMMITTED = ("commit: ", "commit (initial): ", "revert: ")
"""Entries of git's log of HEAD for commits made here."""
_PICKED = ("rebase", "cherry-pick", "commit (cherry-pick): ", "commit (amend): ")
"""The same for commits made anew, which may be another person's."""
_NOT_IN_NAME = regex.compile(r"[^\w .,'@+-]+")
_CLAIMING = ("sync_id", "content", "title", "category", "path", "topic_key")
"""Fields by which a record claims something, beside its tags, anchors, status and pin."""


class Source(Value):
    trust: Trust
    """IMPORT for what came with the files."""
    author: str | None = None
    """The claimed author of a labelled change that came with the files; empty without a name."""
    by_other: bool = False
    """A commit that was not made here brought it, if it came with the files."""
    vouched: str | None = None
    """The claimed author of a change that came with the files and is trusted."""

    @property
    def by_person(self) -> bool:
        return self.trust is Trust.USER

    @property
    def by_agent(self) -> bool:
        return self.trust not in (Trust.USER, Trust.IMPORT)


class Provenance:
    def __init__(
        self, project: Project, store: Store, base: MergeBase, environment: Mapping[str, str]
    ) -> None:
        self._project, self.store, self.base = project, store, base
        self._environment = environment
        self._agreed_before = base.branch is not None and store.is_trusted
        """True after the first agreement of files and store: before it, nothing was edited here.

        A base that is not trusted may be another person's.
        """
        self._writers: dict[str, Trust] = {}
        self.present: Texts | None = None
        """The files as an import read them."""

    @cached_property
    def history(self) -> GitHistory:
        present = self.present or present_text(self._project)
        asked = (self._project, self.base, self.store, present)
        return read_history(*asked, lambda: self.uncommitted)

    @cached_property
    def uncommitted(self) -> Mapping[str, str] | None:
        """The states of files with changes since HEAD, as `list_uncommitted` returns them."""
        return list_uncommitted(self._project)

    def of(
        self,
        path: str,
        id: str | None = None,
        states: Collection[object] = (),
        text: str = "",
        *,
        commits: Collection[str] | None = None,
    ) -> Source:
        """Return the source of a change about the memory *id* in the file at *path*.

        *states* are those of item or lines as they are now, none for a removal; *text* is that of
        an item without an id. *commits* are those that made the change, if the caller knows them.
        """
        if not self._agreed_before:
            commits = None
        elif commits is None:
            commits = self.history.commits_with(path, id, states, text)
        if commits is not None and self._are_made_here(commits):
            return Source(trust=self._writer(path, commits))
        author = safe_name(self.history.authors.get(id or "", self.history.last_author))
        by_other = self._came_by_commit(path, commits)
        if self._trusts(path, id, states):
            return Source(trust=Trust.IMPORT, vouched=author, by_other=by_other)
        return Source(trust=Trust.IMPORT, author=author, by_other=by_other)

    def _trusts(self, path: str, id: str | None, states: Collection[object]) -> bool:
        if self.trusts_all or self.trusted_commits is None:
            return self.trusts_all
        if states:
            return self.trusted_commits.include(self.trusted_commits.find_changing(path, states))
        removing = self.history.commits_of.get(id or "") or self.history.commits_since_base(path)
        return self.trusted_commits.include([*removing] if removing else ())

    def trusts_file(self, path: str) -> bool:
        """Tell it of a file that counts as a whole."""
        if self.trusts_all or self.trusted_commits is None:
            return self.trusts_all
        last = self.history.last_commit_of(path)
        return last is not None and self.trusted_commits.include((last,))

    def _came_by_commit(self, path: str, commits: Collection[str] | None) -> bool:
        """Return False also for a database that agreed to nothing: a line's digest tells there."""
        if self.base.branch is None:
            return False
        if commits is None:
            commits = self.history.commits_since_base(path)
        return commits is None or not self._are_made_here(commits)

    def of_record(
        self, path: str, record: Mapping[str, Any], id: str | None, lines: Collection[str]
    ) -> Source:
        """Return the source of *lines*; those that a person's store wrote are not labelled."""
        source = self.of(path, id, lines)
        if source.author is None and source.vouched is None:
            return source
        if record_digest(record) in self.own:
            return Source(trust=Trust.IMPORT)
        if self.base.branch is None:
            source = replace(source, by_other=True)
        # In our lines `source` is the kind of source.
        if source.author is None:
            return source
        name = record.get("author") or (None if id else record.get("source"))
        return replace(source, author=safe_name(name) or source.author)

    def of_brief(self, path: str) -> FileSource:
        commits = self.history.commits_of_file(path) if self._agreed_before else None
        if commits is not None and self._are_made_here(commits):
            return FileSource(by_agent=self._writer(path, commits) is not Trust.USER)
        author = safe_name(self.history.author_of(path))
        return FileSource(author=author, own=self.own)

    def author_of(self, path: str) -> str | None:
        """Return git's author of a file that came with the project; None for one written here."""
        last = self.history.last_commit_of(path)
        if self._agreed_before and (last is None or self._are_made_here({last})):
            return None
        return safe_name(self.history.author_of(path))

    @cached_property
    def agreement(self) -> trust.Agreement | None:
        """The person's agreement on the files of this repository."""
        project, environment = self._project, self._environment
        if not environment or not trust.agreement(project.main, environment).files:
            return None

        def has_commit(commit: str) -> bool:
            return git.output(project.root, "cat-file", "-e", f"{commit}^{{commit}}") is not None

        secret, remote = self.store.secret, self.remote.address
        return trust.agreement_on_files(project.main, secret, remote, has_commit, environment)

    @cached_property
    def remote(self) -> Remote:
        return find_remote(self._project.root)

    @cached_property
    def trusted_commits(self) -> TrustedCommits | None:
        """The commits whose records the person trusts; None without an agreement."""
        if self.agreement is None:
            return None
        root, authors = self._project.root, self.agreement.mails
        return TrustedCommits(root, self.remote, authors, self._are_made_here)

    @property
    def trusts_everybody(self) -> bool:
        """True if no author is named, who could not be told of what no commit brings."""
        return self.agreement is not None and not self.agreement.authors

    @property
    def trusts_all(self) -> bool:
        """True if any record is trusted: there is no remote with a default branch, either."""
        return self.trusts_everybody and not self.remote.address

    @cached_property
    def own(self) -> frozenset[str]:
        return trust.own_records(self._environment) if self._environment else frozenset()

    def _are_made_here(self, commits: Collection[str]) -> bool:
        made, picked = self._made_here
        unknown = {*commits} - made
        return not unknown or (unknown <= picked.keys() and self._are_own_picks(unknown))

    def _are_own_picks(self, commits: Collection[str]) -> bool:
        """Return True if who made these commits anew is their author, as in one's own rebase."""
        _, picked = self._made_here
        asked = ("show", "--no-patch", "--format=%H %ae", *sorted(commits))
        listed = git.text(self._project.root, *asked).split("\n")
        authors = dict(line.split(" ", 1) for line in listed if " " in line)
        return all(authors.get(sha) == picked[sha] for sha in commits)

    @cached_property
    def _made_here(self) -> tuple[frozenset[str], dict[str, str]]:
        """Return the commits made here, and those made anew with the address of who did."""
        made, picked = set(), {}
        for _, new, who, how in list_moves(self._project.root) or ():
            if how.startswith(_COMMITTED):
                made.add(new)
            elif how.startswith(_PICKED):
                picked[new] = who.rpartition("<")[2].partition(">")[0]
        return frozenset(made), picked

    def _writer(self, path: str, commits: Iterable[str]) -> Trust:
        for sha in commits:
            if session := ledger.session_of_commit(self.store, sha):
                from ademem.capture import provenance

                return provenance.trust_of_session(session, self.store)
        if path not in self._writers:
            self._writers[path] = _last_writer(self._project, self.store, path)
        return self._writers[path]


def provenance_of(runtime: Runtime) -> Provenance:
    project, store = runtime.project, runtime.store
    return Provenance(project, store, load_base(project, store), runtime.environment)


def record_digest(record: Mapping[str, Any]) -> str:
    """Digest the fields of a line that make a claim: its text, and its status and anchors."""
    lists = (array([str(item) for item in record.get(name) or ()]) for name in ("tags", "anchors"))
    confirmed = str(record.get("status") == Status.PROMOTED)
    values = (str(record.get(name) or "") for name in _CLAIMING)
    pinned = str(record.get("pinned") is True)
    return sha256_hex("record", *values, *lists, confirmed, pinned)[:DIGEST_CHARS]


def skill_authors(contents: Mapping[str, str], runtime: Runtime) -> dict[str, str | None]:
    """Return the untrusted author in git of each skill file; None: written here, or trusted.

    *contents* are digests by path. Files without an untrusted author are recorded as the person's
    own.
    """
    found = provenance_of(runtime)
    authors: dict[str, str | None] = {}
    own = []
    for number, (path, content) in enumerate(contents.items()):
        digest = sha256_hex("skill", path, content)[:DIGEST_CHARS]
        authors[path] = None
        if digest not in found.own and not found.trusts_file(path):
            authors[path] = found.author_of(path) if number < MOST_AUTHORS else ""
        if authors[path] is None:
            own.append(digest)
    if runtime.store.is_trusted:
        trust.note_own_records(own, runtime.environment)
    return authors


def sender_name(runtime: Runtime) -> str:
    """Return the name that is written beside what goes to other machines, or "" without one."""
    name = runtime.settings.sync.author
    if not name:
        found = git.output(runtime.project.root, "config", "user.name")
        name = (found or b"").decode("utf-8", "replace")
    return safe_name(name)


def safe_name(claimed: object) -> str:
    """Return "" for what is not a name."""
    return _safe_name(claimed[: 10 * NAME_CHARS]) if isinstance(claimed, str) else ""


@lru_cache(maxsize=64)
def _safe_name(text: str) -> str:
    from ademem.core.redaction import redact
    from ademem.core.text import clean
    from ademem.guard.injection import instruction_in

    if instruction_in(text) or redact(text).found:
        return ""
    name = " ".join(_NOT_IN_NAME.sub(" ", clean(text)).split())
    if len(name.split()) > NAME_WORDS or not any(char.isalpha() for char in name):
        return ""
    return name[:NAME_CHARS].strip()


def _last_writer(project: Project, store: Store, path: str) -> Trust:
    status = confined.status(project.root, path)
    if status is None:
        return Trust.USER
    changed = stamp(datetime.fromtimestamp(status.st_ctime, UTC))
    since = ledger.last_reading(store, project.root)
    turns = ledger.turns_naming(store, path, since=since)
    sessions = _list_writing_sessions(store, os.path.join(project.root, path), since, changed)
    if not turns and not sessions:
        return Trust.USER
    from ademem.capture import provenance  # which files without an agent's change do not need

    found = [provenance.trust_of_turn(turn, store) for turn in turns]
    found += [provenance.trust_of_session(session, store) for session in sessions]
    return next((trust for trust in provenance.SOURCES if trust in found), Trust.AGENT)


def _list_writing_sessions(store: Store, file: str, since: str, until: str) -> list[str]:
    """Return the sessions that may have written the file."""
    begun = since and stamp(parse(since) - LONGEST_CALL)
    present = {session for session, _ in ledger.sessions_between(store, since, until)}
    return [
        session
        for session, transcript in ledger.sessions_between(store, begun, until)
        if (session in present or os.path.exists(transcript))
        and _may_have_changed(transcript, file, since, until)
    ]


def _may_have_changed(transcript: str, file: str, since: str, until: str) -> bool:
    """Return True if a session wrote the file, or may have; also where that is unknown."""
    if not os.path.exists(transcript):
        return True
    from ademem.capture.transcript import subagent_transcripts

    begun = since and stamp(parse(since) - LONGEST_CALL)
    parts = (transcript, *subagent_transcripts(transcript))
    try:
        return any(_may_have_written(part, file, begun, since, until) for part in parts)
    except OSError:
        return True


def _may_have_written(part: str, file: str, begun: str, since: str, until: str) -> bool:
    """Return True if a call wrote the file since then, or one that *begun* earlier runs still."""
    from ademem.capture.transcript import Call, Result, events

    status = os.stat(part)
    if stamp(datetime.fromtimestamp(status.st_mtime, UTC)) < begun:
        return False  # it has no event since then
    is_cut = status.st_size > TRANSCRIPT_BYTES
    running: set[str] = set()
    for event in events(part, tail=TRANSCRIPT_BYTES):
        if is_cut and event.at > since:
            return True  # earlier events are not in the part that is read
        is_cut = False
        if isinstance(event, Result) and event.at < since:
            running.discard(event.call_id)
        if isinstance(event, Call) and begun <= event.at <= until and _writes(event, file):
            if event.at >= since:
                return True
            running.add(event.id)
    return bool(running)  # whatever other hooks said within the call


def _writes(call: Call, file: str) -> bool:
    """Tell whether a call writes the file, or is a command that may write any."""
    from ademem.core.settings import GuardSettings
    from ademem.guard.policy import SHELL_TOOLS
    from ademem.guard.touch import touch

    touched = touch(call.tool, call.input, call.folder or os.sep, GuardSettings())
    is_command = call.tool in SHELL_TOOLS or bool(touched.argvs)
    is_any = touched.changes and is_command
    return is_any or any(_is_at(file, path) for path in touched.writes)


def _is_at(file: str, path: str) -> bool:
    """True if *path* is the file, or a folder that it lies in."""
    real, whole = os.path.realpath(file), os.path.realpath(path)
    return real == whole or real.startswith(whole.rstrip(os.sep) + os.sep)

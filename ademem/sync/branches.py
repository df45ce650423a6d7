"""Memories that wait on a branch until their line is on the default one."""

from __future__ import annotations

from ademem.core import git, record_json, regex
from ademem.core.errors import suppress
from ademem.core.json_text import loads
from ademem.core.memory import Memory, Status
from ademem.core.repository import branch, commit, common_dir, default_branch, git_root, tip
from ademem.core.value import Value, replace
from ademem.files import FOLDER, SHEET
from ademem.store import Store, jobs, memories, memory_queries, transitions
from ademem.store.memories import Change, new_event
from ademem.store.runtime import branch_of, redact_branch
from ademem.store.stamps import BRANCH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from ademem.core.project import Project
    from ademem.core.settings import MirrorSettings


_MARKS = r'(^| )<!-- [^ ]+ -->[[:space:]]*$|"id":"[^"\]+"|"key":"[^"\]+"|^# '
"""An item, a line, or the title of a page: git prints these alone."""
_MARK = regex.compile(r'<!-- (\S+) -->|"id":"([^"]+)"|"key":"([^"]+)"')
FOUND_OR_NOT = (0, 1)
_RENAMED = regex.compile(r"Branch: renamed refs/heads/(\S+) to refs/heads/(\S+)")


class Tree(Value):
    """The memories in the files of one commit."""

    has_files: bool = False
    ids: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()

    def has(self, id: str | None, key: str | None) -> bool:
        return id in self.ids or key in self.keys


def read_trees(root: str, refs: Iterable[str]) -> dict[str, Tree] | None:
    """Leave out the review sheet; return None when git fails."""
    refs = tuple(refs)
    if not refs:
        return {}
    found: dict[str, tuple[set[str], set[str]]] = {}
    files = (FOLDER, f":(exclude){SHEET}")
    options = ("-aoE", "--no-color", "-e", _MARKS)
    printed = git.output(root, "grep", *options, *refs, "--", *files, codes=FOUND_OR_NOT)
    if printed is None:
        return None
    for line in printed.decode("utf-8", "replace").splitlines():
        ref, _, rest = line.partition(":")
        ids, keys = found.setdefault(ref, (set(), set()))
        mark = _MARK.search(rest)
        if mark and mark[3]:
            keys.add(mark[3])
        elif mark:
            ids.add(mark[1] or mark[2])
    trees = dict.fromkeys(refs, Tree())
    for ref, (ids, keys) in found.items():
        trees[ref] = Tree(has_files=True, ids=frozenset(ids), keys=frozenset(keys))
    return trees


class Place:
    """The branch of a worktree, and the other branches, read from git once."""

    def __init__(self, project: Project, settings: MirrorSettings) -> None:
        self.project, self.settings, self.root = project, settings, project.root
        self.branch = branch_of(project, settings)
        """The branch that new memories wait on."""
        self.commit = commit(project.root)
        self.detached = branch(project.root) is None and self.commit is not None
        name, top = default_branch(project.root, settings.default_branch), git_root(project.root)
        shared = common_dir(top) if top else None
        refs = (f"refs/heads/{name}", f"refs/remotes/origin/{name}")
        self._default = [ref for ref in refs if shared and name and tip(shared, ref)]
        self._trees: dict[str, Tree | None] = {}
        self._names: dict[str, str] | None = None

    @property
    def default(self) -> Tree | None:
        """None without a default branch, or when git fails."""
        return self._tree(self._default[0]) if self._default else None

    @property
    def names(self) -> dict[str, str] | None:
        """A ref by each branch's name, here or remote; "" without a commit; None when git fails."""
        if self._names is None:
            refs = ("--format=%(refname)", "refs/remotes", "refs/heads")
            listed = git.output(self.root, "for-each-ref", *refs)
            checked_out = git.output(self.root, "worktree", "list", "--porcelain")
            if listed is None or checked_out is None:
                return None
            found: dict[str, str] = {}
            for ref in listed.decode("utf-8", "replace").split():  # ours come first
                _, kind, name = ref.split("/", 2)
                found.setdefault(name if kind == "heads" else name.partition("/")[2], ref)
            found.pop("HEAD", None)  # the name at a remote for its default branch
            worktrees = checked_out.decode("utf-8", "replace")
            heads = regex.findall(r"^branch refs/heads/(\S+)$", worktrees, regex.MULTILINE)
            found = dict.fromkeys(heads, "") | found
            self._names = {redact_branch(name): ref for name, ref in found.items()}
        return self._names

    @property
    def is_elsewhere(self) -> bool:
        """Return True on another branch than the default one, and at a commit without a branch."""
        return bool(self._default) and (self.branch is not None or self.detached)

    def text_on_default(self, path: str) -> str:
        return git.text(self.root, "show", f"{self._default[0]}:./{path}") if self._default else ""

    def has_arrived(self, memory: Memory) -> bool:
        found = (self._tree(ref) for ref in self._default)
        return any(tree and tree.has(memory.id, memory.knowledge_key) for tree in found)

    def confirmed(self, ids: Iterable[str]) -> set[str]:
        """Return the ids that their lines confirm: those of the default branch, or else of HEAD."""
        marks = [word for id in ids for word in ("-e", f'"id":"{id}"')]
        refs = self._default or (["HEAD"] if self.commit else [])
        if not marks or not refs:
            return set()
        asked = ("-haF", "--no-color", *marks, *refs, "--", f"{FOLDER}*.jsonl")
        found = git.output(self.root, "grep", *asked, codes=FOUND_OR_NOT)
        return set(_confirmed_ids((found or b"").decode("utf-8", "replace").splitlines()))

    def shows(self, memory: Memory) -> bool:
        return memory.source_branch in (None, self.branch) or self.holds(memory)

    def holds(self, memory: Memory) -> bool:
        here = self._tree("HEAD") if self.commit else None
        return here is not None and memory.id in here.ids

    def waits_on(self, id: str | None, key: str | None) -> str | None:
        default = self.default if self.branch or self.detached else None
        if default is None or not default.has_files or default.has(id, key):
            return None
        return self.branch or self.find_branch(id, key)

    def find_branch(self, id: str | None, key: str | None) -> str | None:
        found = ((name, self._tree(ref)) for name, ref in sorted((self.names or {}).items()) if ref)
        return next((name for name, tree in found if tree and tree.has(id, key)), None)

    def watched(self, store: Store) -> list[str]:
        """Return refs whose change may end the waiting of a memory, without names with secrets."""
        awaited = {str(memory.source_branch) for memory in memory_queries.on_branches(store)}
        if not awaited:
            return list(self._default) if memory_queries.list_confirmed_elsewhere(store) else []
        named = sorted((self.names or {}).items())
        refs = (ref for name, ref in named if name in awaited and ref.endswith(name))
        return [*self._default, *refs]

    def read_all(self) -> bool:
        read = read_trees(self.root, [ref for ref in (self.names or {}).values() if ref])
        self._trees |= read or {}
        return read is not None and self.names is not None

    def _tree(self, ref: str) -> Tree | None:
        if ref not in self._trees:
            self._trees[ref] = (read_trees(self.root, [ref]) or {}).get(ref)
        return self._trees[ref]


def _confirmed_ids(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        with suppress(ValueError):
            record = record_json.from_json(loads(line))
            if record and record.value("status") == Status.PROMOTED:
                yield record.id


def follow_branches(place: Place, store: Store, now: datetime) -> int:
    """Return how many memories changed; git runs before the transaction, so no writer waits."""
    waiting = memory_queries.on_branches(store)
    decided = _decide(waiting, place) if waiting else []
    elsewhere = memory_queries.list_confirmed_elsewhere(store)
    confirmed = place.confirmed(memory.id for memory in elsewhere)
    for memory in elsewhere:
        if memory.id in confirmed:  # by the default branch, whoever said it before
            from ademem.store import replication  # which no import without branches needs

            record = replication.read(store, memory.id)  # an unconfirmed row shows no pin
            changes = transitions.promoted(memory, now)
            changes["pinned"] = bool(record and record.value("pinned"))
            decided.append((memory, changes, "its line is on the default branch"))
    if not decided:
        return 0
    event = new_event()
    with store.transaction():
        for memory, changes, reason in decided:
            if memories.get(store, memory.id) == memory:  # else its change leads here again
                change = Change(
                    operation=BRANCH, actor="system", at=now, reason=reason, event_id=event
                )
                memories.put_back(store, replace(memory, **changes), change)
        jobs.queue(store, "mirror", "project", now)  # for the other worktrees
    return len(decided)


def _decide(waiting: Sequence[Memory], place: Place) -> list[tuple[Memory, dict[str, Any], str]]:
    default = place.default
    if default is None or (names := place.names) is None:
        return []
    deleted = {memory.source_branch for memory in waiting} - names.keys()
    if deleted and not place.read_all():
        return []
    heirs = _find_renamed(place.root) if deleted else {}
    found = ((memory, *_changes(memory, place, default, names, heirs)) for memory in waiting)
    return [(memory, changes, reason) for memory, changes, reason in found if changes]


def _find_renamed(root: str) -> dict[str, str]:
    """Return the new names of branches by the old ones."""
    options = ("-g", "--branches", "--format=%gs", "--grep-reflog=Branch: renamed ")
    renamed = _RENAMED.findall(git.text(root, "log", *options))
    return {redact_branch(old): redact_branch(new) for old, new in dict(renamed).items()}


def _changes(
    memory: Memory, place: Place, default: Tree, names: Mapping[str, str], heirs: Mapping[str, str]
) -> tuple[dict[str, Any], str]:
    restored = _fields_before_loss(memory)
    shared = restored | {"source_branch": None}
    if not default.has_files and not memory.has_unseen_branch:
        return shared, "the default branch has no files of memory"
    if default.has(memory.id, memory.knowledge_key):
        return shared, "its line is on the default branch"
    if memory.source_branch in names:
        return restored, f"{memory.source_branch} is there again"
    return _changes_without_branch(memory, place, names, heirs)


def _changes_without_branch(
    memory: Memory, place: Place, names: Container[str], heirs: Mapping[str, str]
) -> tuple[dict[str, Any], str]:
    """Return the changes of a memory whose branch was deleted or renamed."""
    name = memory.source_branch or ""
    restored = _fields_before_loss(memory)
    shared = restored | {"source_branch": None}
    if place.has_arrived(memory):
        return shared, f"{name} was deleted after its line reached the default branch"
    if memory.has_unseen_branch:
        return {}, ""
    heir = _find_heir(name, names, heirs) or place.find_branch(memory.id, memory.knowledge_key)
    if heir:
        return restored | {"source_branch": heir}, f"{name} is {heir} now"
    if memory.has_lost_branch:
        return {}, ""
    if memory.status is Status.CANDIDATE and memory.knowledge_key is None:
        return shared, f"{name} was deleted"  # it had no line that could have arrived
    reason = f"{name} was deleted, and its line is not on the default branch"
    return transitions.left_without_branch(memory), reason


def _fields_before_loss(memory: Memory) -> dict[str, Any]:
    """Return the fields that it had before its branch was deleted."""
    if memory.has_lost_branch:
        return transitions.restored(memory) | {"write_gate_reason": None}
    return {"write_gate_reason": None} if memory.has_unseen_branch else {}


def _find_heir(name: str, names: Container[str], heirs: Mapping[str, str]) -> str:
    """Follow the renames of a branch to one that is there; empty for none."""
    heir = name
    for _ in heirs:
        heir = heirs.get(heir, heir)
        if heir in names:
            return heir
    return ""

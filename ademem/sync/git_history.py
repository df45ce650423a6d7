"""The commits between the merge base and the work tree."""

from __future__ import annotations

import os

from ademem.core import git, regex
from ademem.core.caching import lru_cache
from ademem.core.clock import UTC, datetime
from ademem.core.registers import Commit
from ademem.core.repository import (
    NO_OBJECT,
    blob_id,
    branch,
    commit,
    git_root,
    under_way,
    was_amended,
    went_forward,
)
from ademem.core.text import number
from ademem.core.value import Value, replace
from ademem.files import FOLDER, KNOWLEDGE, knowledge
from ademem.files.snapshot import count_states, is_imported
from ademem.files.texts import clean_line
from ademem.store.runtime import redact_branch
from ademem.sync.branches import Tree, read_trees
from ademem.sync.tracked_files import MergeBase, fingerprint, load_fingerprints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping

    from ademem.core.project import Project
    from ademem.files.texts import Texts
    from ademem.store import Store

LAST_SECOND = 253_402_300_799
"""End of the year 9999."""
MOST_MERGES = 20

_HEADER = "%x00%H%x00%an%x00%ct%x00%P"
_REVERTS = '^(Revert|Reapply) "|^This reverts commit '
_ITEM_MARKUP = regex.compile(r"^\s*[-*+] +(?:\[[ xX]\] +)?|<!-- \S+ -->$")
_ID = regex.compile(r"<!-- (\S+) -->$")
_ENTRY_FIELDS = {"1": 8, "2": 9, "u": 10}
"""Blanks before the path in an entry of git's status, by its kind."""


class GitHistory(Value):
    root: str
    by_hand: bool = True
    """True without commits in between: all differences are edits in this work tree."""
    is_at_base: bool = False
    """True where the merge base is the commit that is checked out, on its branch."""
    removed: frozenset[int] = frozenset()
    """The numbers of lines that these commits removed."""
    written: Mapping[int, Mapping[str, int]] = {}
    """By the number of a line of a page, without its markup, how often each commit added it."""
    since: str = ""
    """The range of these commits; empty when history diverged."""
    agreed: str | None = None
    """The commit of the merge base."""
    head: str | None = None
    """The commit that was checked out when the history was read."""
    commits_of: Mapping[str, Mapping[str, int]] = {}
    """By the id of a memory, the commits that changed it, newest first; none when history diverged.

    Each with how many items and lines of the memory it added, without tombstones.
    """
    authors: Mapping[str, str] = {}
    """By the id of a memory, the author of the last of these commits."""
    last_author: str = ""
    times: Mapping[str, datetime] = {}
    outdated: frozenset[str] = frozenset()
    """Files that git set back to an old rendering."""

    def has_change(self, id: str) -> bool:
        """Leave out the differences that the checkout of another branch makes."""
        return self.by_hand or id in self.commits_of

    def is_in_head(self, path: str, state: object) -> bool:
        """Return True if HEAD has the item or line in its file: no commit removed it there."""
        if self.by_hand or under_way(self.root):  # the work tree has another side, too
            return False
        return state in (_states_at(self.root, commit(self.root), path) or ())

    def commit_of(self, id: str) -> Commit | None:
        """Return the last commit that changed the memory; None for an edit in this work tree."""
        return self._commit(next(iter(self.commits_of.get(id, ())), ""))

    def commit_with(self, text: str) -> Commit | None:
        commits = self.commits_writing(text)
        return self._commit(*commits) if len(commits) == 1 else None

    def _commit(self, sha: str) -> Commit | None:
        is_known = sha in self.times and not self.by_hand
        return Commit(id=sha, at=self.times[sha]) if is_known else None

    def has_left(self, lines: Iterable[str]) -> bool:
        return self.by_hand or any(number(line) in self.removed for line in lines)

    def has_file_change(self, path: str) -> bool:
        return self.by_hand or bool(self.since and self._log("-1", "%H", self.since, path))

    def commits_made_here(self, path: str, state: object, before: object) -> Collection[str] | None:
        """Return the commits of an edit of a file that no commit since the base changed.

        None for an item that HEAD does not have in this *state*, if HEAD went on from the base, or
        has it in the state *before* the edit; those that amended the commit of the base. Of another
        branch or history they are unknown: None.
        """
        if under_way(self.root):  # the work tree has another side, too
            return None
        states = _states_at(self.root, commit(self.root), path)
        if states is not None and state not in states:
            is_edit = self._is_known or self.has_no_commit or before in states
            return () if is_edit else None
        if self.agreed and self.head and was_amended(self.root, self.agreed, self.head):
            return self.commits_since_base(path)
        return None

    def read_merges(self, path: str) -> Iterator[tuple[str, ...]]:
        """Yield base, sides and result of the last merges that git made of the file, newest first.

        Raises OSError. A result with a line that neither side has was written by a person.
        """
        merges = self._list_merges()
        versions = _read_versions(self.root, path, {sha for merge in merges for sha in merge})
        bases = {}
        for merge, one, other in merges:
            left, ours, theirs = (versions[sha].split("\n") for sha in (merge, one, other))
            if left not in (ours, theirs) and {*left} <= {*ours, *theirs}:
                bases[merge, one, other] = git.text(self.root, "merge-base", one, other).strip()
        versions |= _read_versions(self.root, path, {*bases.values()} - {""})
        versions[""] = ""  # the base of unrelated histories
        for (merge, one, other), base in bases.items():
            yield tuple(versions[sha] for sha in (base, one, other, merge))

    def _list_merges(self) -> list[list[str]]:
        """Return merge and both parents of the last merges, newest first."""
        if not self.since:
            return []
        asked = ("rev-list", "--merges", "--parents", f"--max-count={MOST_MERGES}", self.since)
        return [line.split()[:3] for line in git.text(self.root, *asked).split("\n") if line]

    def commits_with(
        self, path: str, id: str | None, states: Collection[object] = (), text: str = ""
    ) -> frozenset[str] | None:
        """Return the commits that made a change; none for an uncommitted edit.

        None where they are unknown. The *states* of item or lines, none for a removal, are compared
        with the file of HEAD, as a commit may have changed lines that do not name the memory.
        *text* is that of an item without an *id*.
        """
        if self.by_hand or self.has_no_commit:
            return frozenset()
        named = self.commits_of.get(id or "", ())
        if named or not states:
            return frozenset(named) if self._is_known and id is not None else None
        return self._commits_bringing(states, path, text)

    def _commits_bringing(
        self, states: Collection[object], path: str, text: str
    ) -> frozenset[str] | None:
        """Return the commits that may have brought one of the *states*, as `commits_with` does."""
        head = commit(self.root)
        committed = _states_at(self.root, head, path)
        if committed is not None and committed.isdisjoint(states):
            return frozenset()
        if committed is None or not self._is_known:
            return self._find_bringing(text, path) if committed and self.is_at_base else None
        writing = self.commits_writing(text) if text else frozenset()
        return writing or _commits_between(self.root, self.since, head, path)

    def _find_bringing(self, text: str, path: str) -> frozenset[str] | None:
        """Return the commit of an item that an earlier import of this HEAD refused."""
        line = max(text.split("\n"), key=len)
        asked = ("-S", line, "HEAD", "--", path)
        found = git.text(self.root, "log", "-1", "--format=%H", *asked).split() if line else ()
        return frozenset(found) or None

    @property
    def _is_known(self) -> bool:
        """True for a range of commits that begins at the merge base."""
        return bool(self.since) and self.agreed is not None

    @property
    def has_no_commit(self) -> bool:
        """True where HEAD is the commit of the merge base, if on another branch."""
        return self.agreed is not None and self.agreed == self.head

    def commits_since_base(self, path: str) -> frozenset[str] | None:
        """Return the commits that HEAD has for the file since the merge base, also after a reset.

        None where they are unknown, such as before the first agreement.
        """
        if self.by_hand:
            return frozenset()
        if self.agreed is None:
            return None
        head = commit(self.root)
        return _commits_between(self.root, f"{self.agreed}..HEAD", head, path)

    def commits_of_file(self, path: str) -> frozenset[str] | None:
        """Return the commits that changed the file; none for an edit here, None if unknown."""
        if self.agreed is None and self.by_hand:  # without git
            return frozenset()
        if self.since and (found := self._log("", "%H", self.since, path)):
            return frozenset(found.split())
        return frozenset() if self._is_uncommitted(path) else None

    def last_commit_of(self, path: str) -> str | None:
        if self._is_uncommitted(path):
            return None
        return self._log("-1", "%H", "HEAD", path).strip() or None

    def author_of(self, path: str) -> str:
        author, _, parents = self._log("-1", "%an%x00%P", "HEAD", path).strip("\n").partition("\0")
        return author if parents or not _is_shallow(self.root) else ""

    def has_returned(self, id: str) -> bool:
        """Return True if the memory was removed and added again, by hand or in this history."""
        signs = self._signs(id)
        if signs == [True] and self.agreed:  # it was removed before the merge base, if at all
            signs = _read_patches(self.root, "HEAD")._signs(id)
        return self.by_hand or (signs[:1] == [True] and False in signs)

    def is_reverted(self, id: str) -> bool:
        last = next((sha for sha, count in self.commits_of.get(id, {}).items() if count), "")
        asked = ("log", "--format=%H", "--extended-regexp", f"--grep={_REVERTS}", self.since)
        return bool(last and self.since) and last in git.text(self.root, *asked).split()

    def commits_writing(self, text: str) -> frozenset[str]:
        counts = self.written.get(_text_number(max(text.split("\n"), key=len)), {})
        return frozenset(sha for sha, count in counts.items() if count > 0)

    def _signs(self, id: str) -> list[bool]:
        """Return True for each commit, newest first, that added the memory, False for removals."""
        return [count > 0 for count in self.commits_of.get(id, {}).values() if count]

    def _log(self, option: str, format: str, commits: str, path: str) -> str:
        options = (option, f"--format={format}") if option else (f"--format={format}",)
        return git.text(self.root, "log", *options, commits, "--", path)

    def _is_uncommitted(self, path: str) -> bool:
        return bool(git.text(self.root, "status", "--porcelain", "--ignored", "--", path))


def read_history(
    project: Project,
    base: MergeBase,
    store: Store,
    present: Texts,
    read_uncommitted: Callable[[], Mapping[str, str] | None],
) -> GitHistory:
    """Without git, every difference is an edit here."""
    root, now = project.root, commit(project.root)
    if now is None:
        return GitHistory(root=root)
    pulled = _read_pulled(root, base, now, present)
    brought = pulled[1] if pulled else ()
    asked = (project, base, now, store, present, read_uncommitted)
    outdated, is_edited = _find_outdated(*asked, brought=brought)
    if now == base.commit:
        if base.branch not in (None, redact_branch(branch(root) or "")):
            read = GitHistory(root=root, by_hand=False, agreed=now, head=now, outdated=outdated)
            return replace(read, commits_of=_ids_in_head(root))
        return GitHistory(root=root, by_hand=is_edited, is_at_base=True, outdated=outdated)
    earlier = base.commit
    if pulled:
        return replace(pulled[0], agreed=earlier, head=now, outdated=outdated)
    if earlier is not None and git.text(root, "merge-base", earlier, "HEAD").strip() != earlier:
        return GitHistory(root=root, by_hand=False, agreed=earlier, head=now, outdated=outdated)
    commits = f"{earlier}..HEAD" if earlier else "HEAD"
    found = _read_patches(root, commits)
    return replace(found, agreed=earlier, head=now, outdated=outdated)


def _ids_in_head(root: str) -> dict[str, dict[str, int]]:
    """Return the memories in the files of HEAD, each with no commits."""
    trees = read_trees(root, ["HEAD"]) or {}
    return {id: {} for id in trees.get("HEAD", Tree()).ids}


def _read_pulled(
    root: str, base: MergeBase, head: str, present: Texts
) -> tuple[GitHistory, frozenset[str]] | None:
    """Return the history since the base, and the files that it brought as they are, by two texts.

    None unless HEAD went forward from the base, and for each file the last commit that changed it
    made the present text of that of the base, to which earlier ones may have led: git does not
    print what both texts say, and need not be asked whether it has the file.
    """
    if base.commit is None or not went_forward(root, base.commit, head):
        return None
    commits = f"{base.commit}..HEAD"
    listing = ("--raw", "--no-abbrev", "--no-renames", f"--format={_HEADER}")
    patches: list[str] = []
    paths: set[str] = set()
    below = os.path.relpath(os.path.realpath(root), git_root(root) or root)
    for line in git.text(root, "log", *listing, commits, "--", FOLDER).split("\n"):
        states, _, name = line.partition("\t")
        path = os.path.relpath(name, below) if name else ""
        if line[:1] == "\0":
            if " " in line.rpartition("\0")[2]:  # a merge
                return None
            patches.append(line)
        elif name and is_imported(path) and path not in paths:
            sides = base.texts, present
            if states.split()[2:4] != [*map(_object_of, sides, (path, path))]:
                return None
            paths.add(path)
            patches += [f"-{line}" for line in base.texts.lines_without(path, present)]
            patches += [f"+{line}" for line in present.lines_without(path, base.texts)]
    return _parse_patches(patches, root, commits), frozenset(paths)


def _object_of(texts: Texts, path: str) -> str:
    text = texts.get(path)
    return NO_OBJECT if text is None else blob_id(text)


def _read_patches(root: str, commits: str) -> GitHistory:
    shown = ("--patch", "--text", "--unified=0", f"--format={_HEADER}")
    patches = git.text(root, "log", *shown, commits, "--", FOLDER)
    return _parse_patches(patches.split("\n"), root, commits)


def _parse_patches(patches: Iterable[str], root: str, commits: str) -> GitHistory:
    commits_of: dict[str, dict[str, int]] = {}
    written: dict[int, dict[str, int]] = {}
    removed: set[int] = set()
    authors: dict[str, str] = {}
    times: dict[str, datetime] = {}
    last_author = sha = author = ""
    for line in patches:
        if line[:1] == "\0":  # no line of a patch begins so
            sha, author, times[sha] = _parse_header(line[1:], root)
            last_author = last_author or author
            continue
        if (sign := {"+": 1, "-": -1}.get(line[:1])) is None:
            continue
        if id := _id_in(line[1:]):
            authors.setdefault(id, author)
            counted = 0 if f'"{knowledge.TOMBSTONE}"' in line else sign
            _add(commits_of.setdefault(id, {}), sha, counted)
            if sign < 0:
                removed.add(number(clean_line(line[1:])))
        if line[1:2] != "{":
            _add(written.setdefault(_text_number(line[1:]), {}), sha, sign)
    return GitHistory(
        root=root,
        by_hand=False,
        removed=frozenset(removed),
        written=written,
        since=commits,
        commits_of=commits_of,
        authors=authors,
        last_author=last_author,
        times=times,
    )


def _add(counts: dict[str, int], sha: str, count: int) -> None:
    counts[sha] = counts.get(sha, 0) + count


def _parse_header(header: str, root: str) -> tuple[str, str, datetime]:
    """Return commit, author and time."""
    sha, author, seconds, parents = header.split("\0", 3)
    if not parents and _is_shallow(root):  # its patch has what others wrote before
        author = ""
    # A forged commit may have a time from no clock; it is 1970 then.
    is_time = seconds.isdecimal() and len(seconds) <= len(str(LAST_SECOND))
    second = min(int(seconds), LAST_SECOND) if is_time else 0
    return sha, author, datetime.fromtimestamp(second, UTC)


def _id_in(line: str) -> str | None:
    line = clean_line(line.lstrip("\ufeff \t"))
    if line.startswith("{"):
        found = knowledge.parse_line(line) or {}
        return str(found["id"]) if "id" in found else None
    name = _ID.search(line)
    return name[1] if name else None


def _is_shallow(root: str) -> bool:
    return git.text(root, "rev-parse", "--is-shallow-repository").strip() == "true"


def _text_number(line: str) -> int:
    return number(_ITEM_MARKUP.sub("", line).strip())


def _find_outdated(
    project: Project,
    base: MergeBase,
    head: str,
    store: Store,
    present: Texts,
    read_uncommitted: Callable[[], Mapping[str, str] | None],
    brought: Container[str],
) -> tuple[frozenset[str], bool]:
    """Return the files that git set back to an old rendering, and True if others were edited.

    To the text of *head* by a stash, a reset or a restore since the base; to that of an earlier
    commit by a checkout, which stages it; to that of a popped stash together with the lines, which
    an editor of a page leaves alone. None is outdated for a database that agreed to no files.
    Files that were *brought* by commits since the base are as those have them.
    """
    changed = [path for path in _changed_paths(base.texts, present) if path not in brought]
    if not base.agreement or not changed:
        return frozenset(), False
    root, fingerprints = project.root, load_fingerprints(project, store)
    if (states := read_uncommitted()) is None:
        return frozenset(), False
    outdated, popped, edited = set[str](), set[str](), set[str]()
    for path in changed:
        staged = _find_state(states, path)
        digest = present.digests[path]
        is_rendering = fingerprint(path, present[path], digest) in fingerprints.get(path, ())
        if staged is None:
            if is_rendering and base.commit == head:
                outdated.add(path)
        elif staged and _is_in_history(root, path, staged):
            outdated.add(path)
        else:
            (popped if is_rendering else edited).add(path)
    if KNOWLEDGE in popped:
        outdated |= popped
    else:
        edited |= popped
    return frozenset(outdated), bool(edited)


def _changed_paths(before: Texts, present: Texts) -> Iterator[str]:
    for path in filter(is_imported, present):
        if before.digests.get(path) != present.digests[path]:
            yield path


def is_committed_text(project: Project, path: str, text: str) -> bool:
    """Return True if the file had this text in a commit that HEAD descends from.

    Line ends do not count: git may have changed them on their way into the file.
    """
    for each in dict.fromkeys((text.replace("\r\n", "\n"), text)):
        try:
            # From the standard input: git would follow a link, and read a device without end.
            hashed = git.run(project.root, "hash-object", "--stdin", stdin=each.encode())
        except OSError:
            return False
        object = hashed.output.decode().strip()
        if object and _is_in_history(project.root, path, object):
            return True
    return False


@lru_cache(maxsize=16)
def _commits_between(root: str, since: str, _head: str | None, path: str) -> frozenset[str] | None:
    """Return None where git fails; *_head* is a key of the cache alone."""
    found = git.output(root, "log", "--format=%H", since, "--", path)
    return None if found is None else frozenset(found.decode().split())


@lru_cache(maxsize=16)
def _states_at(root: str, head: str | None, path: str) -> frozenset[object] | None:
    """Return None where git fails, or where attributes let it write another text."""
    asked = ("-z", "ident", "working-tree-encoding", "filter", "--", path)
    attributes = git.text(root, "check-attr", *asked).split("\0")[2::3]
    if not attributes or not {*attributes} <= {"unspecified", "unset"}:
        return None
    try:
        versions = _read_versions(root, path, [str(head)])
    except OSError:
        return None
    return frozenset(count_states(path, versions[str(head)]))


def _read_versions(root: str, path: str, commits: Iterable[str]) -> dict[str, str]:
    """Return the file as each of the commits has it, empty where it has none; raises OSError."""
    texts = dict.fromkeys(commits, "")
    asked = "".join(f"{commit}:./{path}\n" for commit in texts).encode()
    printed = git.run(root, "cat-file", "--batch", stdin=asked).output if texts else b""
    for sha, content in zip([*texts], git.parse_objects(printed), strict=False):
        texts[sha] = (content or b"").decode("utf-8", "replace")
    return texts


def read_removed(root: str, paths: Iterable[str]) -> dict[str, str]:
    """Return the last texts of files that git removed, committed or not, by path; raises OSError.

    The *paths* are of files that are not in the work tree.
    """
    tracked = git.text(root, "ls-files", "-z", "--", ".ade").split("\0")
    gone = [path for path in paths if path not in tracked]
    if not gone or tracked == [""]:  # without memory in git, no history has any
        return {}
    listing = ("--raw", "--no-abbrev", "--no-renames", "--relative", "--format=")
    removals = git.text(root, "log", *listing, "--diff-filter=D", "HEAD", "--", *gone)
    lines = (line.partition("\t") for line in reversed(removals.split("\n")))
    objects = {path: states.split()[2] for states, _, path in lines if path}
    asked = [f"HEAD:./{path}" for path in gone] + [objects.get(path, NO_OBJECT) for path in gone]
    printed = git.run(root, "cat-file", "--batch", stdin="\n".join(asked).encode()).output
    found = list(git.parse_objects(printed))
    pairs = zip(gone, found[: len(gone)], found[len(gone) :], strict=False)
    texts = {path: staged or committed for path, staged, committed in pairs}
    return {path: text.decode("utf-8", "replace") for path, text in texts.items() if text}


def _is_in_history(root: str, path: str, object: str) -> bool:
    asked = ("-1", "--format=%H", f"--find-object={object}", "HEAD", "--", path)
    return bool(git.text(root, "log", *asked))


def _find_state(states: Mapping[str, str], path: str) -> str | None:
    parts = path.split("/")  # git lists a folder in place of its content
    above = ("/".join(parts[: end + 1]) for end in range(len(parts)))
    return next((states[name] for name in above if name in states), None)


def list_uncommitted(project: Project) -> dict[str, str] | None:
    """Return the states of files and folders with changes since HEAD; None when git fails.

    A state is the object of the index where that has what the file has; else empty.
    """
    listing = ("status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all")
    printed = git.output(project.root, *listing, "--ignored=matching", "--", ".ade")
    if printed is None:
        return None
    root = os.path.realpath(project.root)
    below = os.path.relpath(root, git_root(root) or root)
    staged = {}
    for entry in filter(None, printed.decode(errors="replace").split("\0")):
        kind, *fields = entry.split(" ", _ENTRY_FIELDS.get(entry[0], 1))
        as_staged = kind == "1" and fields[0][1] == "."
        staged[os.path.relpath(fields[-1], below)] = fields[6] if as_staged else ""
    return staged


def list_committed(states: Mapping[str, str] | None, paths: Iterable[str]) -> list[str]:
    return [path for path in paths if states is not None and _find_state(states, path) is None]

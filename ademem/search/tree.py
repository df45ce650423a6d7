"""Make the index of a project's tracked files, and renew it after commits.

The files are read from git's objects, so that the index is that of one commit and no link is
followed.
"""

from __future__ import annotations

import os

from ademem.core import confined, git, regex, repository
from ademem.core.errors import suppress
from ademem.core.text import split_humps
from ademem.core.value import Value
from ademem.store.tree_index import Error, IndexedFile, Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ademem.core.project import Project

MOST_FILES = 20_000
MOST_BYTES = 200_000
"""Size up to which the text of a file is indexed; of larger ones the path is."""
BATCH = 500
"""Files that are read from git at once."""
MOST_WASTE = 0.3
"""Share of outdated rows above which the index is made anew."""
MOST_COMMITS = 1000
"""Commits in which names are looked for that files had before the index was made."""
MOST_NAMES = 2000
"""Definitions of one file."""

_MODIFIERS = (
    "(?:(?:export|default|public|private|protected|internal|static|async|pub(?:\\([^)\n]*\\))?"
    "|abstract|final|override|inline|const|unsafe|extern|virtual|declare|sealed|data|open"
    "|partial|readonly|suspend|local)[ \t]+)*"
)
_KEYWORDS = (
    "(?:def|class|function\\*?|func|fn|fun|interface|type|struct|enum|trait|module|object|record"
    "|protocol|extension|union|val|sub|macro|defn|defmodule|defp"
    "|create (?:or replace )?(?:table|view|function|procedure)(?: if not exists)?"
    "|CREATE (?:OR REPLACE )?(?:TABLE|VIEW|FUNCTION|PROCEDURE)(?: IF NOT EXISTS)?)"
)
_DEFINITION = (
    f"\n[ \t]*(?:@\\w+ )?{_MODIFIERS}{_KEYWORDS}[ \t]+(?:\\([^)\n]*\\)[ \t]*)?"
    '(?:self\\.)?["`]?([A-Za-z_$][\\w$]*)'
    "|\n(?:export )?(?:declare )?(?:let|var|const)[ \t]+([A-Za-z_$][\\w$]*)"
    "|\n(?: {2}| {4}|\t)?(?:(?:this|self|exports|module\\.exports)\\.)?([A-Za-z_$][\\w$]*)"
    "(?:[ \t]*:[^=\n]{1,60})?[ \t]*[:+]?=(?![=>])"
    "|\n(?: {2}| {4}|\t)(?:[\\w<>?\\[\\]]+[ \t]+){0,5}([A-Za-z_$][\\w$]*)[ \t]*"
    "\\([^;\n]{0,300}\\)[^;\n]{0,100}\\{"
    "|\n[A-Za-z_][\\w \t*&:<>]{0,80}[ \t*&]([A-Za-z_]\\w*)\\([^;]{0,300}\\)\\s*\\{"
)
_VARIABLE = 3
"""The group of a name that is assigned to."""
_MARKUP = frozenset(
    "adoc cfg csv htm html ini json jsonl lock md mdx po pot rst svg toml tsv txt xhtml xml".split()
)
"""Endings of files that define no names."""
_NO_NAMES = frozenset("if for while switch catch return else do with function self this".split())
_HEADING = (
    "\n#{1,6}[ \t]+([^\n]{1,120})|\n([^\n]{2,120})\n(?:={3,}|-{3,}|~{3,})[ \t]*(?=\n)"
    "|<h[1-4][^>\n]{0,200}>([^<\n]{1,120})|\n\\[([\\w. :\"'-]{1,80})\\][ \t]*(?=\n)"
)


class Renewal(Value):
    """The outcome of a renewal."""

    files: int = 0
    """Files that were read."""
    removed: tuple[str, ...] = ()
    """Paths that are no longer there, also those of renamed files."""
    is_new: bool = False

    @property
    def removed_places(self) -> set[str]:
        """The removed paths and all folders that they were in."""
        parts = [path.split("/") for path in self.removed]
        return {"/".join(each[:end]) for each in parts for end in range(1, len(each) + 1)}


def index_path(project: Project) -> str:
    return os.path.join(project.run, "tree.db")


def open_tree(project: Project) -> Tree | None:
    """Open the index for reading; None if there is none, or it cannot be used, or has no file."""
    tree = _open(project)
    if tree is None:
        return None
    with suppress(Error):
        if tree.count:
            return tree
    tree.close()
    return None


def count_files(project: Project) -> int:
    """Return the number of indexed files; 0 without an index."""
    tree = open_tree(project)
    if tree is None:
        return 0
    try:
        return tree.count
    finally:
        tree.close()


def _open(project: Project) -> Tree | None:
    path = index_path(project)
    with suppress(OSError, Error):
        if confined.is_file(project.root, path):
            confined.check_database(path, project.root)
            return Tree(path, project.root)
    return None


def is_behind(project: Project) -> bool:
    """Tell whether another commit is checked out than the one that is indexed."""
    head = repository.commit(project.root)
    if head is None:
        return False
    return _indexed_commit(project) != head


def _indexed_commit(project: Project) -> str:
    tree = _open(project)
    if tree is None:
        return ""
    try:
        return tree.commit
    except Error:
        return ""
    finally:
        tree.close()


def renew(project: Project) -> Renewal | None:
    """Index what changed since the last time; None without git or a commit.

    A damaged index, one of another version and one with much waste is made anew.
    """
    head = repository.commit(project.root)
    if head is None:
        return None
    path = index_path(project)
    confined.make_folder(project.root, project.run)
    confined.check_database(path, project.root)
    try:
        return _renew_at(path, project.root, head)
    except Error:
        for suffix in ("", "-wal", "-shm", "-journal"):
            with suppress(FileNotFoundError):
                confined.remove(project.root, path + suffix)
        return _renew_at(path, project.root, head)


def learn_renames(project: Project) -> int:
    """Note the renames of earlier commits, for places that were named before; return their number.

    A new index knows no renames.
    """
    renames = _list_renames(project.root)
    if renames:
        tree = Tree(index_path(project), project.root, writable=True)
        try:
            tree.add_renames(renames)
        finally:
            tree.close()
    return len(renames)


def _list_renames(root: str) -> list[tuple[str, str]]:
    """Return old and new path of the files that git renamed, the oldest first."""
    form = ("-z", "-M", "--diff-filter=R", "--name-status", "--format=", "--relative")
    printed = git.output(
        *(root, "log", *form, f"-{MOST_COMMITS}", "--", "."),
        environment=git.OFFLINE,
        timeout_s=git.LONG_S,
    )
    parts = iter((printed or b"").decode("utf-8", "replace").split("\0"))
    found = [(next(parts, ""), next(parts, "")) for part in parts if part.strip()[:1] == "R"]
    return found[::-1]


def _renew_at(path: str, root: str, head: str) -> Renewal | None:
    tree = Tree(path, root, writable=True)
    try:
        before = tree.commit
        if before == head:
            return Renewal()
        changes = _changes(root, before, head) if before and tree.waste < MOST_WASTE else None
        if changes is None:
            tree.clear()
            changes = _Changes(changed=None)
        return _store(tree, root, head, changes)
    finally:
        tree.close()


class _Changes(Value):
    changed: frozenset[str] | None
    """None for all files."""
    removed: tuple[str, ...] = ()
    renames: tuple[tuple[str, str], ...] = ()


def _changes(root: str, before: str, head: str) -> _Changes | None:
    """Return the difference of two commits; None if git does not have the first."""
    arguments = ("--name-status", "-z", "-M", "--no-color", before, head, "--", ".")
    printed = git.output(root, "diff", "--relative", *arguments, timeout_s=git.LONG_S)
    if printed is None:
        return None
    parts = iter(printed.decode("utf-8", "replace").split("\0"))
    changed: set[str] = set()
    removed: list[str] = []
    renames: list[tuple[str, str]] = []
    for status in parts:
        if not status:
            break
        path = next(parts, "")
        if status[0] in "RC":
            new = next(parts, "")
            changed.add(new)
            if status[0] == "R":
                removed.append(path)
                renames.append((path, new))
        elif status[0] == "D":
            removed.append(path)
        else:
            changed.add(path)
    return _Changes(changed=frozenset(changed), removed=tuple(removed), renames=tuple(renames))


def _store(tree: Tree, root: str, head: str, changes: _Changes) -> Renewal | None:
    listed = _list_files(root, head)
    if listed is None:
        return None
    wanted = (
        listed
        if changes.changed is None
        else {path: entry for path, entry in listed.items() if path in changes.changed}
    )
    removed = {*changes.removed, *(changes.changed or ())} - wanted.keys()
    removed = {path for path in removed if not _is_ours(path)}
    tree.store(head, _read_files(root, wanted), removed, changes.renames)
    return Renewal(
        files=len(wanted), removed=tuple(sorted(removed)), is_new=changes.changed is None
    )


def _list_files(root: str, head: str) -> dict[str, tuple[str, int]] | None:
    """Return the object and the size of each file but our own, at most MOST_FILES."""
    printed = git.output(root, "ls-tree", "-r", "-l", "-z", head, timeout_s=git.LONG_S)
    if printed is None:
        return None
    files = {}
    for entry in printed.decode("utf-8", "replace").split("\0"):
        meta, _, path = entry.partition("\t")
        mode, _, object_id, size = (*meta.split(), "", "", "", "")[:4]
        if mode.startswith("100") and path.isprintable() and not _is_ours(path):
            files[path] = (object_id, int(size) if size.isdigit() else MOST_BYTES + 1)
            if len(files) == MOST_FILES:
                break
    return files


def _is_ours(path: str) -> bool:
    """Tell whether a file is one of ademem, whose texts are the memories themselves."""
    return "/.ade/" in f"/{path}"


def _read_files(root: str, wanted: dict[str, tuple[str, int]]) -> Iterator[IndexedFile]:
    paths = list(wanted)
    for start in range(0, len(paths), BATCH):
        batch = paths[start : start + BATCH]
        small = [path for path in batch if wanted[path][1] <= MOST_BYTES]
        asked = "".join(f"{wanted[path][0]}\n" for path in small).encode()
        ran = git.run(
            root, "cat-file", "--batch", stdin=asked, environment=git.OFFLINE, timeout_s=git.LONG_S
        )
        contents = dict(zip(small, git.parse_objects(ran.output), strict=False))
        for path in batch:
            yield read_file(path, contents.get(path) or b"")


def read_file(path: str, content: bytes) -> IndexedFile:
    """Return what is indexed of a file; of one that is no text only the path."""
    text = "" if b"\0" in content[:8000] else content.decode("utf-8", "replace")
    text = f"\n{text}"
    ending = path.rpartition(".")[2].lower()
    names = [] if ending in _MARKUP else find_definitions(text)
    headings = [next(filter(None, found.groups()), "") for found in regex.finditer(_HEADING, text)]
    return IndexedFile(
        path=path,
        path_words=split_humps(path),
        names=names,
        headings=" ".join([*names, *map(split_humps, names), *headings[:200]]),
        body=text,
    )


def find_definitions(text: str) -> list[str]:
    """Return the names of functions, types, constants and attributes in a source file."""
    found: dict[str, None] = {}
    for match in regex.finditer(_DEFINITION, text):
        name = match[match.lastindex or 0]
        is_variable = match.lastindex == _VARIABLE
        if is_variable and name.isalpha() and name.islower():
            continue  # a word of any text
        if len(name) > 1 and name not in _NO_NAMES:
            found[name] = None
    return list(found)[:MOST_NAMES]

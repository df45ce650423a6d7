"""The lines that an anchor was made for, and those that stand there now, redacted."""

from __future__ import annotations

from ademem.core import git
from ademem.core.anchor import Place
from ademem.core.redaction import redact
from ademem.core.value import Value
from ademem.synthesis.anchor_verification import (
    Checked,
    WorkingTree,
    blob_hash,
    hash_of_lines,
    split_lines,
)

MOST_BYTES = 1_000_000
"""Largest file of which lines are shown."""
MOST_LINES = 60
VERSIONS = 60
"""Versions of a file among which the lines as they were are looked for."""


class Excerpt(Value):
    checked: Checked
    noted: str
    """Lines as they were when the anchor was made; empty where no version has them."""
    now: str


def excerpt(checked: Checked, tree: WorkingTree) -> Excerpt:
    place = checked.location.noted
    current = checked.location.now or place
    now = _span(tree.small_lines(current.path, MOST_BYTES) or [], current)
    if checked.location.now and place.hash:
        return Excerpt(checked=checked, noted=now, now=now)
    for version in _list_versions(tree.root, place.path) if place.hash else ():
        lines = split_lines(version)
        first, last = place.first, place.last
        hash = hash_of_lines(lines, first, last) if first else blob_hash(b"".join(lines))
        if hash.startswith(place.hash):
            return Excerpt(checked=checked, noted=_span(lines, place), now=now)
    return Excerpt(checked=checked, noted="", now=now)


def _span(lines: list[bytes], place: Place) -> str:
    first, last = place.first or 1, place.last or len(lines)
    shown = lines[first - 1 : min(last, first - 1 + MOST_LINES)]
    return redact(b"".join(shown).decode("utf-8", "replace")).text


def _list_versions(root: str, path: str) -> list[bytes]:
    """Return the small versions of a file in the history, newest first."""
    try:
        commits = git.output(root, "rev-list", f"--max-count={VERSIONS}", "HEAD", "--", path)
        names = [f"{commit}:./{path}" for commit in (commits or b"").decode().split()]
        if not names or "\n" in path:
            return []
        found = _ask(root, "--batch-check=%(objectname) %(objecttype) %(objectsize)", names)
        rows = (line.split() for line in found.decode().splitlines())
        small = [
            row[0]
            for row in rows
            if len(row) == 3 and row[1] == "blob" and int(row[2]) <= MOST_BYTES
        ]
        blobs = list(dict.fromkeys(small))
        contents = _ask(root, "--batch", blobs) if blobs else b""
    except (OSError, TimeoutError):
        return []
    return [content for content in git.parse_objects(contents) if content is not None]


def _ask(root: str, mode: str, names: list[str]) -> bytes:
    asked = "".join(f"{name}\n" for name in names).encode()
    return git.run(root, "cat-file", mode, stdin=asked, environment=git.OFFLINE).output

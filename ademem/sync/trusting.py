"""Take the label off memories whose lines in the files are trusted by now."""

from __future__ import annotations

from ademem.core.memory import Status
from ademem.core.value import replace
from ademem.files import LINE_FILES, knowledge
from ademem.files.texts import clean_line
from ademem.store import database, memories, memory_queries
from ademem.store.memories import Change, new_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from ademem.core.memory import Memory
    from ademem.store import Store
    from ademem.sync.provenance import Provenance
    from ademem.sync.trusted_commits import TrustedCommits

_LOOKED_AT = "trusted_commits"
"""Name in `store_values` of the state of git in which the labels were looked at last."""


def find_trusted(provenance: Provenance) -> list[Memory]:
    """Return labelled memories whose lines in HEAD say the same and are trusted.

    A line that was committed here may be that of another person, as files are written anew.
    """
    labelled = memory_queries.with_files_and_not_quarantined(provenance.store)
    commits = provenance.trusted_commits
    if provenance.trusts_all:
        return labelled
    if not labelled or commits is None:
        return []
    lines = _blame_lines(commits)
    found = []
    for memory in labelled:
        there = lines.get(memory.id, ())
        is_same = all(_claims_of(line) == _claims(memory) for _, line in there)
        if is_same and commits.include({sha for sha, _ in there}, made_here=False):
            found.append(memory)
    return found


def _blame_lines(commits: TrustedCommits) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Return the lines in HEAD by the id of their memory, each with its commit."""
    lines: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for path in LINE_FILES:
        for sha, text in commits.blame(path):
            if line := knowledge.parse_line(clean_line(text)):
                lines.setdefault(str(line.get("id")), []).append((sha, line))
    return lines


def follow_trust(provenance: Provenance, now: datetime) -> int:
    """Accept what reached the default branch of a trusted remote; return how many changed."""
    store = provenance.store
    if not has_labelled(store) or (commits := provenance.trusted_commits) is None:
        return 0
    if (state := commits.key) == database.value(store.db, _LOOKED_AT):
        return 0
    found, event = find_trusted(provenance), new_event()
    with store.transaction():
        database.set_value(store.db, _LOOKED_AT, state)
        for memory in found:
            if memories.get(store, memory.id) == memory:
                change = Change(
                    operation="import",
                    actor="system",
                    at=now,
                    reason="a trusted author's commit has its line",
                    event_id=event,
                )
                memories.put_back(store, replace(memory, claimed_author=None), change)
    return len(found)


def list_watched(provenance: Provenance) -> list[str]:
    """Return the ref whose change may make labelled memories trusted."""
    if not has_labelled(provenance.store) or provenance.agreement is None:
        return []
    return [ref] if (ref := provenance.remote.default) else []


def has_labelled(store: Store) -> bool:
    return memory_queries.count_with_files(store, quarantined=False) > 0


def _claims(memory: Memory) -> tuple[object, ...]:
    place = memory.file_scope_pattern or "", memory.topic_key or ""
    sets = frozenset(memory.tags), frozenset(memory.anchors)
    state = memory.status is Status.PROMOTED, memory.pinned
    return memory.content, memory.title or "", memory.category, *place, *sets, *state


def _claims_of(line: Mapping[str, Any]) -> tuple[object, ...]:
    named = (line.get(name) or "" for name in ("content", "title", "category", "path", "topic_key"))
    sets = (frozenset(map(str, line.get(name) or ())) for name in ("tags", "anchors"))
    return *named, *sets, line.get("status") == Status.PROMOTED, line.get("pinned") is True

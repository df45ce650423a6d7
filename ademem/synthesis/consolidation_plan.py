"""Decide which memories become one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from enum import StrEnum

from ademem.capture.gate import duplicates
from ademem.capture.gate.duplicates import compared_text
from ademem.core.memory import Memory, Status
from ademem.core.text import unique, words
from ademem.core.value import Value
from ademem.store.maintenance import ComparableMemory

Neighbours = Sequence[Mapping[int, float]]
"""By position: the positions of near memories, with the cosine."""

COMPARED = 20_000
"""Most memories of one group that are compared with each other: the newest."""
MERGE_COSINE = 0.85
"""Cosine from which two memories may have the same meaning."""
MERGED = 3
"""Memories with the same meaning that are merged, unless an AI writes their text."""
EXCHANGED_WORDS = 2
"""Most consecutive words that differ when one sentence is about two things."""
SHARED_FRAME = 0.5
"""Share of words that keep their places around the exchanged ones."""

_LIMITS = frozenset("only except unless until without ohne sans sin senza без".split())
"""Words that limit a claim."""


class Relation(StrEnum):
    """How a second text, near in meaning, relates to a first one."""

    SAME = "same"
    """It names the same or less."""
    MORE = "more"
    """It names something more."""
    APART = "apart"


class PlannedMerge(Value):
    """Memories that become one; the first has the best text for all of them."""

    members: tuple[Memory, ...]
    lesser: tuple[Memory, ...] = ()
    """Near ones that name more: they are merged only into a newly written text."""


class Plan(Value):
    clusters: int
    """Groups of two or more that mean nearly the same."""
    merges: tuple[PlannedMerge, ...]


def make_plan(known: Iterable[ComparableMemory], *, rewritten: bool) -> Plan:
    """Compare memories of the same scope, owner, category, branch and files.

    Only promoted memories are merged. A text that names more can be merged only where texts are
    *rewritten*.
    """
    from ademem.synthesis.cosines import find_neighbours

    groups: dict[tuple[str | None, ...], list[ComparableMemory]] = {}
    for each in known:
        memory = each.memory
        home = (
            memory.scope,
            memory.scope_owner_id,
            memory.category,
            memory.source_branch,
            memory.file_scope_pattern,
        )
        groups.setdefault(home, []).append(each)
    clusters = 0
    merges: list[PlannedMerge] = []
    for whole in groups.values():
        group = whole[-COMPARED:]
        if len(group) < 2:
            continue
        near = find_neighbours([each.vector for each in group], MERGE_COSINE)
        promoted = [
            {at: cosine for at, cosine in others.items() if _is_promoted(group[at])}
            if _is_promoted(each)
            else {}
            for each, others in zip(group, near, strict=True)
        ]
        clusters += _count_clusters(promoted)
        merges += _merges(group, promoted, MERGED, rewritten=rewritten)
    return Plan(clusters=clusters, merges=tuple(merges))


def _is_promoted(each: ComparableMemory) -> bool:
    return each.memory.status is Status.PROMOTED


def _count_clusters(near: Neighbours) -> int:
    """Count groups when each memory joins the densest of those it is near."""
    left = {at for at, others in enumerate(near) if others}
    found = 0
    for at in sorted(left, key=lambda at: (-len(near[at]), at)):
        if at in left and left & near[at].keys():
            found += 1
            left -= {at, *near[at]}
    return found


def _merges(
    group: list[ComparableMemory], near: Neighbours, least: int, *, rewritten: bool
) -> Iterator[PlannedMerge]:
    """Yield the largest merge first, each around the memory that covers what its members say."""
    wanted = (Relation.SAME, Relation.MORE) if rewritten else (Relation.SAME,)
    free = {at for at, each in enumerate(group) if _is_promoted(each) and not each.taken_back}
    relations: dict[int, dict[int, Relation]] = {}
    for at in sorted(free):
        found = {
            other: relate(compared_text(group[at].memory), compared_text(group[other].memory))
            for other in sorted(near[at].keys() & free)
        }
        relations[at] = {other: how for other, how in found.items() if how in wanted}

    def fitness(at: int) -> tuple[float, ...]:
        others = [other for other in relations[at] if other in free]
        same = [other for other in others if relations[at][other] is Relation.SAME]
        likeness = sum(near[at][other] for other in same)
        return len(others), len(same), likeness, group[at].memory.confidence, -at

    while free:
        centre = max(free, key=fitness)
        members = [(at, how) for at, how in relations[centre].items() if at in free]
        if 1 + len(members) < least:
            break
        same = [at for at, how in members if how is Relation.SAME]
        more = [at for at, how in members if how is Relation.MORE]
        yield PlannedMerge(
            members=tuple(group[at].memory for at in (centre, *same)),
            lesser=tuple(group[at].memory for at in more),
        )
        free -= {centre, *same, *more}


def relate(left: str, right: str) -> Relation:
    """Relate the second text to the first; both are near in meaning."""
    if duplicates.find_opposition(left, right) or _is_about_another(left, right):
        return Relation.APART
    if _LIMITS & (words(left) ^ words(right)):
        return Relation.APART
    mine, theirs = duplicates.named_tokens(left, right)
    if set(theirs) - set(mine):
        return Relation.APART if set(mine) - set(theirs) else Relation.MORE
    in_order = [name for name in unique(mine) if name in theirs] == list(unique(theirs))
    return Relation.SAME if in_order else Relation.APART


def _is_about_another(left: str, right: str) -> bool:
    """Tell whether they are one sentence with a word or two exchanged in their places."""
    mine, theirs = duplicates.tokenize(left), duplicates.tokenize(right)
    steps = SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes()
    changed = [step for step in steps if step[0] != "equal"]
    kept = sum(step[2] - step[1] for step in steps if step[0] == "equal")
    return (
        bool(changed)
        and kept >= SHARED_FRAME * max(len(mine), len(theirs))
        and all(
            tag == "replace" and end - start <= EXCHANGED_WORDS and to - since <= EXCHANGED_WORDS
            for tag, start, end, since, to in changed
        )
    )

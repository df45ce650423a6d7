"""Which memories become one, and which contradict each other."""

from __future__ import annotations

from ademem.capture.gate.distinctions import said
from ademem.core.memory import Status
from ademem.core.value import Value
from ademem.synthesis.lifecycle.consolidation.pairs import (
    Kinship,
    conflict,
    is_about_one,
    is_renumbered,
    kinship,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ademem.core.memory import Memory
    from ademem.core.settings import LifecycleSettings
    from ademem.store.consolidating import Known

    Near = Sequence[Mapping[int, float]]
    Kin = dict[int, Kinship]

COMPARED = 20_000
"""Most memories of one kind that are compared with each other: the newest."""


class Merge(Value):
    """Memories that become one; the first speaks best for all of them."""

    members: tuple[Memory, ...]
    lesser: tuple[Memory, ...] = ()
    """Near ones that name more: only who writes a new text can merge them as well."""


class Contradiction(Value):
    left: Memory
    right: Memory
    why: str


class Plan(Value):
    clusters: int
    """Groups of two or more that mean nearly the same."""
    merges: tuple[Merge, ...]
    contradictions: tuple[Contradiction, ...]


def planned(known: Iterable[Known], settings: LifecycleSettings, *, rewritten: bool) -> Plan:
    """Compare what has scope, owner, category, branch and files in common.

    What nobody confirmed is not merged, but told when it contradicts what is confirmed. Only where
    texts are *rewritten* can one that names more be merged as well.
    """
    from ademem.synthesis.lifecycle.consolidation.clusters import neighbours

    clusters = 0
    merges: list[Merge] = []
    contradictions: list[Contradiction] = []
    for alike in _by_home(known).values():
        around = neighbours(
            [each.vector for each in alike], min(settings.merge_cosine, settings.conflict_cosine)
        )
        near = [_above(settings.merge_cosine, others) for others in around]
        confirmed = _confirmed(alike, near)
        clusters += _count(confirmed)
        kin = _kin(alike, confirmed, rewritten=rewritten)
        merges += _merges(alike, confirmed, kin, settings.merge_least)
        contradictions += _contradictions(alike, near)
        contradictions += _changed(
            alike, [_above(settings.conflict_cosine, others) for others in around], near
        )
    return Plan(clusters=clusters, merges=tuple(merges), contradictions=tuple(contradictions))


def _by_home(known: Iterable[Known]) -> dict[tuple[str | None, ...], list[Known]]:
    homes: dict[tuple[str | None, ...], list[Known]] = {}
    for each in known:
        memory = each.memory
        home = (
            memory.scope,
            memory.scope_owner_id,
            memory.category,
            memory.source_branch,
            memory.file_scope_pattern,
        )
        homes.setdefault(home, []).append(each)
    return {home: alike[-COMPARED:] for home, alike in homes.items() if len(alike) > 1}


def _count(near: Near) -> int:
    """How many groups there are when each memory joins the densest of those it is near."""
    left = {at for at, others in enumerate(near) if others}
    found = 0
    for at in sorted(left, key=lambda at: (-len(near[at]), at)):
        if at in left and left & near[at].keys():
            found += 1
            left -= {at, *near[at]}
    return found


def _merges(alike: list[Known], near: Near, kin: Mapping[int, Kin], least: int) -> Iterator[Merge]:
    """The largest group first, each around the memory that covers what its members say."""
    free = set(kin)
    while free:
        centre = max(free, key=lambda at: _fitness(at, kin[at], free, alike, near))
        group = [(at, how) for at, how in kin[centre].items() if at in free]
        if 1 + len(group) < least:
            break
        same = [at for at, how in group if how is Kinship.SAME]
        more = [at for at, how in group if how is Kinship.MORE]
        yield Merge(
            members=tuple(alike[at].memory for at in (centre, *same)),
            lesser=tuple(alike[at].memory for at in more),
        )
        free -= {centre, *same, *more}


def _kin(alike: list[Known], near: Near, *, rewritten: bool) -> dict[int, Kin]:
    """For each memory that may be merged those it can be merged with, and how they stand to it."""
    wanted = (Kinship.SAME, Kinship.MORE) if rewritten else (Kinship.SAME,)
    free = {at for at, each in enumerate(alike) if _is_confirmed(each) and not each.taken_back}
    found: dict[int, Kin] = {}
    for at in sorted(free):
        stands = {
            other: kinship(said(alike[at].memory), said(alike[other].memory))
            for other in sorted(near[at].keys() & free)
        }
        found[at] = {other: how for other, how in stands.items() if how in wanted}
    return found


def _fitness(
    at: int, kin: Kin, free: set[int], alike: list[Known], near: Near
) -> tuple[float, ...]:
    others = [other for other in kin if other in free]
    same = [other for other in others if kin[other] is Kinship.SAME]
    likeness = sum(near[at][other] for other in same)
    return len(others), len(same), likeness, alike[at].memory.confidence, -at


def _above(threshold: float, others: Mapping[int, float]) -> dict[int, float]:
    return {at: cosine for at, cosine in others.items() if cosine >= threshold}


def _is_confirmed(each: Known) -> bool:
    return each.memory.status is Status.PROMOTED


def _confirmed(alike: list[Known], near: Near) -> list[dict[int, float]]:
    """Of each confirmed memory those near it that are confirmed, too."""
    return [
        {at: cosine for at, cosine in others.items() if _is_confirmed(alike[at])}
        if _is_confirmed(each)
        else {}
        for each, others in zip(alike, near, strict=True)
    ]


def _pairs(alike: list[Known], around: Near) -> Iterator[tuple[int, int]]:
    """Each two of which one is confirmed: what two candidates say against each other can wait."""
    for at, others in enumerate(around):
        for other in sorted(each for each in others if each > at):
            if _is_confirmed(alike[at]) or _is_confirmed(alike[other]):
                yield at, other


def _changed(alike: list[Known], around: Near, near: Near) -> Iterator[Contradiction]:
    """Farther apart than what may be merged, and with another number in it."""
    for at, other in _pairs(alike, around):
        left, right = alike[at].memory, alike[other].memory
        texts = said(left), said(right)
        if other in near[at] or not is_renumbered(*texts) or not is_about_one(*texts):
            continue
        if why := conflict(*texts):
            yield Contradiction(left=left, right=right, why=why)


def _contradictions(alike: list[Known], near: Near) -> Iterator[Contradiction]:
    for at, other in _pairs(alike, near):
        left, right = alike[at].memory, alike[other].memory
        if why := conflict(said(left), said(right)):
            yield Contradiction(left=left, right=right, why=why)

"""What a sweep does, pass by pass: values in, values out."""

from __future__ import annotations

from ademem.core.aging import belief, decayed
from ademem.core.memory import Status, Tier
from ademem.synthesis.lifecycle.entry import ARCHIVE, DEMOTE, PROMOTE, REVIVE, Entry, moved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ademem.core.settings import LifecycleSettings

    Pass = Callable[[list[Entry], "LifecycleSettings"], list[Entry]]


def promote(entries: list[Entry], settings: LifecycleSettings) -> list[Entry]:
    """Confirm what was used or said again; one observation of a machine is never enough.

    What a later memory contradicts waits until somebody settles it.
    """
    return [_promoted(entry, settings) for entry in entries]


def revive(entries: list[Entry], settings: LifecycleSettings) -> list[Entry]:
    """What an earlier sweep let fade and somebody asked for since is active again."""
    return [
        moved(entry, REVIVE, "recalled since it faded", tier=Tier.ACTIVE)
        if entry.used_since_faded and _is(entry, Status.PROMOTED, Tier.FADING)
        else entry
        for entry in entries
    ]


def decay(entries: list[Entry], settings: LifecycleSettings) -> list[Entry]:
    """Work every access score out anew, from the last access; what does not age keeps its own."""
    return [entry._replace(access_score=_access_score(entry, settings)) for entry in entries]


def demote(entries: list[Entry], settings: LifecycleSettings) -> list[Entry]:
    """What is active and not asked for fades."""
    return [_demoted(entry, settings) for entry in entries]


def archive(entries: list[Entry], settings: LifecycleSettings) -> list[Entry]:
    """What faded, or was never confirmed, and is still not asked for goes."""
    return [_archived(entry, settings) for entry in entries]


def enforce_limits(entries: list[Entry], settings: LifecycleSettings) -> list[Entry]:
    """Of a scope that is too full the lowest go: what fades first, then what is active."""
    gone: dict[int, Entry] = {}
    for (scope, _), held in _by_home(entries).items():
        limit = getattr(settings, f"{scope}_limit")
        excess = max(0, len(held) - limit) if limit else 0
        if excess:
            movable = [entry for entry in held if not entry.exempt]
            movable.sort(key=lambda entry: rank(entry, settings))
            why = f"{len(held):,} memories where {limit:,} may be"
            gone |= {entry.seq: _to_archive(entry, why) for entry in movable[:excess]}
    return [gone.get(entry.seq, entry) for entry in entries]


PASSES: tuple[Pass, ...] = (promote, revive, decay, demote, archive, enforce_limits)
"""Promotion comes first, so that a sweep after a long pause ends where daily ones would have."""


def score(entry: Entry, settings: LifecycleSettings) -> float:
    """What is left of the most that the memory was worth: by use, importance or belief."""
    worth = max(entry.base, entry.weight, entry.confidence)
    return _aged(worth, entry, settings)


def rank(entry: Entry, settings: LifecycleSettings) -> tuple[object, ...]:
    """Smallest goes first."""
    return (
        -entry.tier,
        score(entry, settings),
        entry.access_score,
        entry.last_accessed_at,
        entry.created_at,
        entry.id,
    )


def _promoted(entry: Entry, settings: LifecycleSettings) -> Entry:
    waits = entry.quarantined or entry.exempt or entry.contradicted
    if entry.status != Status.CANDIDATE or waits:
        return entry
    why = _reason_to_promote(entry, settings)
    if not why:
        return entry
    return moved(entry, PROMOTE, why, status=Status.PROMOTED, tier=Tier.ACTIVE)


def _reason_to_promote(entry: Entry, settings: LifecycleSettings) -> str:
    if entry.confidence >= settings.promote_confidence:
        if entry.access_count:
            return f"recalled {_times(entry.access_count)}"
        if entry.origins > 1:
            return f"said by {entry.origins} sources"
    believed = belief(entry.confidence, entry.witnesses)
    if entry.witnesses > 1 and believed >= settings.promote_confidence:
        return f"said by {entry.witnesses} sources"
    return ""


def _demoted(entry: Entry, settings: LifecycleSettings) -> Entry:
    if not entry.ages or not _is(entry, Status.PROMOTED, Tier.ACTIVE):
        return entry
    if entry.idle_days >= settings.demote_days:
        why = _idle(entry)
    elif (left := score(entry, settings)) < settings.demote_score:
        why = f"a score of {left:.3f}"
    else:
        return entry
    return moved(entry, DEMOTE, why, tier=Tier.FADING)


def _archived(entry: Entry, settings: LifecycleSettings) -> Entry:
    unconfirmed = entry.status == Status.CANDIDATE
    if not entry.ages or entry.gone or (entry.tier != Tier.FADING and not unconfirmed):
        return entry
    weak = unconfirmed and entry.confidence < settings.weak_confidence
    if weak and entry.idle_days >= settings.weak_days:
        return _to_archive(entry, f"a confidence of {entry.confidence:.2f}, {_idle(entry)}")
    if entry.idle_days >= settings.archive_days:
        return _to_archive(entry, _idle(entry))
    if (left := score(entry, settings)) < settings.archive_score:
        return _to_archive(entry, f"a score of {left:.4f}")
    return entry


def _to_archive(entry: Entry, why: str) -> Entry:
    return moved(entry, ARCHIVE, why, status=Status.ARCHIVED, tier=Tier.FADING)


def _access_score(entry: Entry, settings: LifecycleSettings) -> float:
    return entry.access_score if entry.in_live_mission else _aged(entry.base, entry, settings)


def _aged(worth: float, entry: Entry, settings: LifecycleSettings) -> float:
    if not entry.ages:
        return worth
    return decayed(worth, idle_days=entry.idle_days, half_life_days=settings.half_life_days)


def _by_home(entries: Iterable[Entry]) -> dict[tuple[str, str | None], list[Entry]]:
    """What is left of each scope and owner; the memories of a live mission are not counted off."""
    homes: dict[tuple[str, str | None], list[Entry]] = {}
    for entry in entries:
        if not entry.gone and not entry.in_live_mission:
            homes.setdefault((entry.scope, entry.owner), []).append(entry)
    return homes


def _is(entry: Entry, status: Status, tier: Tier) -> bool:
    return entry.status == status and entry.tier == tier and not entry.exempt


def _idle(entry: Entry) -> str:
    return f"not asked for in {entry.idle_days:.0f} days"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"

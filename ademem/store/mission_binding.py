"""The mission of a process: memories learned in it belong to that mission."""

from __future__ import annotations

from ademem.core.value import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from ademem.core.memory import Draft
    from ademem.store import Store

VARIABLE = "ADEMEM_MISSION"


def mission_of(environment: Mapping[str, str]) -> str | None:
    """The mission that this process works for."""
    return environment.get(VARIABLE, "").strip() or None


def placed(draft: Draft, environment: Mapping[str, str]) -> Draft:
    """The draft as one of that mission's; what has a scope of its own keeps it."""
    mission = mission_of(environment)
    if mission is None:
        return draft
    from ademem.core.memory import Scope  # most processes work for no mission

    if draft.scope != Scope.PROJECT:
        return draft
    return replace(draft, scope=Scope.MISSION, owner=mission)


def bound(draft: Draft, environment: Mapping[str, str], store: Store, now: datetime) -> Draft:
    """Do the same, and start the mission if it has not been started."""
    home = placed(draft, environment)
    if home is not draft and home.owner:
        from ademem.store import missions

        missions.start(store, home.owner, "", now)
    return home

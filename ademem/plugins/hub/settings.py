"""Settings of the exchange with the hub."""

from __future__ import annotations

from ademem.core.settings import LESS, Section, shared, yours


class HubSettings(Section):
    _name = "hub"

    promote: str = shared("reviewer", choices=("reviewer", "git"))
    """A memory from the hub counts as confirmed when a reviewer or owner confirmed it; with `git`
    only when its line is on git's default branch."""
    pull_minutes: int = shared(15, 1, 100_000)
    """Background work pulls from the hub when the last exchange is older than these minutes."""
    uses: bool = yours(False, stricter=LESS)
    """Send the hub the number of sessions of each week that used a memory, and not which ones."""


SETTINGS = (HubSettings,)

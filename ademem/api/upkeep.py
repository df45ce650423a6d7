"""What keeps a memory small and true: done by itself in the background, or by hand."""

from __future__ import annotations

from ademem.api.curation import Curation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.lifecycle.sweeping import Swept


class Upkeep(Curation):
    """All memories at once."""

    def sweep(self, *, dry_run: bool = False) -> Swept:
        """Age the memories now; its `id` is the event that `undo` takes back."""
        from ademem.lifecycle import sweeping

        if dry_run:
            lifecycle = self.runtime.settings.lifecycle
            return sweeping.planned(self.runtime.store, lifecycle, self._now())
        return sweeping.sweep_alone(self.runtime, self._now())

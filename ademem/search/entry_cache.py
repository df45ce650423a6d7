"""The memories that a search looks at, each read once."""

from __future__ import annotations

from ademem.store import memories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ademem.core.memory import Entry
    from ademem.store import Store


class AtHand:
    """Memories by `seq`, as they were when they were read."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read: dict[int, Entry] = {}

    def read(self, seqs: Iterable[int]) -> None:
        """Have these at hand."""
        more = [seq for seq in seqs if seq not in self._read]
        if more:
            self._read.update((one.seq, one) for one in memories.entries(self._store, more))

    def these(self, seqs: Collection[int]) -> list[Entry]:
        """Those of them that are there, in this order."""
        self.read(seqs)
        return [self._read[seq] for seq in seqs if seq in self._read]

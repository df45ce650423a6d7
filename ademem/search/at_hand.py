"""The memories that a search looks at, each read once."""

from __future__ import annotations

from ademem.store import memories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ademem.model import Memory
    from ademem.store import Store


class AtHand:
    """Memories by `seq`, as they were when they were read."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read: dict[int, Memory] = {}

    def read(self, seqs: Iterable[int]) -> None:
        """Have these at hand."""
        more = [seq for seq in seqs if seq not in self._read]
        if more:
            self._read.update((one.seq, one) for one in memories.numbered(self._store, more))

    def these(self, seqs: Collection[int]) -> list[Memory]:
        """Those of them that are there, in this order."""
        self.read(seqs)
        return [self._read[seq] for seq in seqs if seq in self._read]

"""The skill files as people see them listed."""

from __future__ import annotations

from ademem.core.value import Value
from ademem.store import memory_queries
from ademem.store import skills as table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.memory import Memory
    from ademem.store import Store
    from ademem.store.skills import Entry


class Listed(Value):
    """A file and the memory behind it."""

    entry: Entry
    memory: Memory | None
    """None when it was deleted for good."""

    @property
    def name(self) -> str:
        return (self.memory.title if self.memory else None) or self.entry.path

    @property
    def there(self) -> bool:
        return self.entry.archived_at is None


def listed(store: Store, *, gone: bool = False) -> list[Listed]:
    """By path, what is gone last."""
    entries = [entry for entry in table.all_of(store) if gone or entry.archived_at is None]
    behind = {memory.id: memory for memory in memory_queries.with_skill_file(store)}
    return [Listed(entry=entry, memory=behind.get(entry.memory_id or "")) for entry in entries]

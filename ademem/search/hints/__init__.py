"""Where a memory comes up by itself: at the files and commands it speaks of."""

from __future__ import annotations

from ademem.store import hints as table
from ademem.store.hints import Site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ademem.core.memory import Memory
    from ademem.store import Store
    from ademem.store.runtime import Runtime

__all__ = ["of", "refresh", "settle"]


def of(memory: Memory) -> Iterator[Site]:
    """By its path pattern, its anchors, and the commands that stand in backticks in its text."""
    from ademem.core import anchor
    from ademem.search.hints import commands, globs

    for pattern in globs.alternatives(memory.file_scope_pattern or ""):
        glob = globs.glob(pattern)
        if glob:
            yield Site(kind="path", key=globs.key(pattern), pattern=glob)
    given = [commands.words(anchor.command(text)) for text in memory.anchors]
    for text in memory.anchors:
        place = anchor.place(text)
        if place:
            yield Site(kind="anchor", key=place.path, pattern=text)
    for words in filter(None, [*given, *commands.named(memory.content)]):
        yield Site(kind="command", key=commands.program(words), pattern=words)


def settle(store: Store) -> bool:
    """Bring the sites of memories that changed up to date; False when none had."""
    if not table.any_of(store, "due"):
        return False
    with store.transaction():
        changed = table.changed(store)
        table.clear_due(store)
        for memory in changed:
            table.put(store, memory.seq, of(memory))
    return True


def refresh(runtime: Runtime) -> None:
    """Bring the sites up to date, and tell the shell about them if any changed."""
    if settle(runtime.store):
        from ademem.search.hints import marks

        marks.write(runtime.project, runtime.store)

"""The numbered list of what waits for a person, as `/ademem:review` prints it."""

from __future__ import annotations

from ademem.core import anchor
from ademem.core.clock import parse, stamp, tell_date, timedelta
from ademem.core.memory import CLIENT_FILE
from ademem.core.text import preview
from ademem.core.untrusted import visible
from ademem.core.value import Value
from ademem.store import bindings, evidence, memories, memory_queries, relations
from ademem.store.database import read_list, write_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ademem.core.memory import Memory
    from ademem.store.evidence import Evidence
    from ademem.store.runtime import Runtime

CHARS = 64
"""Longest line: with the mark before the first one, 66 are shown without a break."""
MOST_LINES = 24
NUMBERS_FOR = timedelta(minutes=10)
"""Time in which numbers stand for the list that was printed last."""
_PRINTED = "review_printed"
"""Name in `store_values`: a session, when it was printed, and the keys of the items."""
CHOICES = ("new", "old", "both")


class Item(Value):
    """A memory that waits, or two that contradict each other, the older one first."""

    found: tuple[Memory, ...]
    why: str = ""

    @property
    def key(self) -> str:
        return "~".join(memory.id for memory in self.found)


def list_items(runtime: Runtime) -> tuple[list[Item], int]:
    """Return what can be decided here, and how many quarantined texts wait besides."""
    store = runtime.store
    items, in_pairs = [], set()
    for pair in relations.list_conflicts(store):
        two = (memories.get(store, pair.left), memories.get(store, pair.right))
        in_pairs |= {pair.left, pair.right}
        if not any(memory.quarantine_reason for memory in two):
            items.append(Item(found=two))
    waiting = memory_queries.in_review(store, limit=MOST_LINES + 1)
    held = sum(bool(memory.quarantine_reason) for memory in waiting)
    alone = [one for one in waiting if not one.quarantine_reason and one.id not in in_pairs]
    proof = evidence.list_by_memory(store, [memory.id for memory in alone])
    items += [Item(found=(one,), why=_name_source(one, proof.get(one.id, ()))) for one in alone]
    return items, held


def _name_source(memory: Memory, proof: Sequence[Evidence]) -> str:
    """Return where a memory comes from, by its latest evidence."""
    if not proof:
        return ""
    latest = proof[-1]
    file = f" {memory.source_id}" if memory.source_type == CLIENT_FILE else ""
    return f"{latest.kind.replace('_', ' ')}{file}, {latest.at[:10]}"


def print_items(session_id: str, runtime: Runtime) -> list[str]:
    """Return the lines of the list, and note what its numbers stand for."""
    items, held = list_items(runtime)
    if not items and not held:
        return ["nothing waits for review"]
    count = len(items) + held
    lines = [f"{count:,} {'waits' if count == 1 else 'wait'} for your word", ""]
    printed: list[Item] = []
    for item in items:
        block = list(_item_lines(len(printed) + 1, item, runtime))
        if len(lines) + len(block) > MOST_LINES - 3:
            break
        lines += block
        printed.append(item)
    if held:
        lines.append(f" {held:,} that may be orders to a model: `ademem review` shows them")
    if not runtime.is_read_only:
        keys = [item.key for item in printed]
        write_list(runtime.store.db, _PRINTED, [session_id, stamp(runtime.now), *keys])
    return [*lines, "", " All, with keys: ademem review"]


def find_printed(session_id: str, runtime: Runtime) -> list[Item] | None:
    """Return the items that numbers stand for; None where the list is old, or another by now."""
    session, at, *keys = read_list(runtime.store.db, _PRINTED) or ["", ""]
    if session != session_id or parse(at) < runtime.now - NUMBERS_FOR:
        return None
    items = list_items(runtime)[0]
    return items if [item.key for item in items][: len(keys)] == keys else None


def _item_lines(number: int, item: Item, runtime: Runtime) -> Iterator[str]:
    if len(item.found) > 1:
        yield f" {number}  contradiction · which one is true now?"
        for memory in item.found:
            day = tell_date(memory.created_at, runtime.now)
            yield f"      {day:<6}  {_fit(memory.content, CHARS - 14)}"
        yield f"      /ademem:keep {number} new · {number} old · {number} both"
        return
    (memory,) = item.found
    about = f"{item.why or 'not confirmed'}{_places_of(memory, runtime)}"
    yield f" {number}  {_fit(about, CHARS - 4)}"
    yield f"      {_fit(memory.content, CHARS - 6)}"
    if when := anchor.occasions(memory.anchors):
        yield f"      when: {_fit('; '.join(when), CHARS - 12)}"
    yield f"      /ademem:keep {number} · /ademem:drop {number}"


def _places_of(memory: Memory, runtime: Runtime) -> str:
    from ademem.search import binding

    at = [each for each in bindings.list_of(runtime.store, memory) if each.strength != "guessed"]
    names: Sequence[str] = [binding.tell_place(each) for each in at[:2]]
    return f" · at {', '.join(names)}" if names else ""


def _fit(text: str, chars: int) -> str:
    return preview(visible(text), chars)

"""Which items of adopted instruction files a call meets, by the same keys as memories."""

from __future__ import annotations

from ademem.core.globs import Scope
from ademem.core.json_text import loads
from ademem.core.value import Value
from ademem.search import meeting
from ademem.store import adopted, bindings
from ademem.store.adopted import is_loaded
from ademem.store.bindings import Binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from ademem.guard.touch import Touch
    from ademem.store.runtime import Runtime

COMMANDS = ("program", "family", "runs")


class MetItem(Value):
    """An item, and how the call meets it."""

    row: sqlite3.Row
    binding: Binding
    is_scope: bool
    """The globs of its file brought it up, and no place that it names."""
    may_stop: bool = False


def meet(
    touch: Touch, runtime: Runtime, said_files: Iterable[str] = (), folder: str = ""
) -> list[MetItem]:
    """Return the items that a call meets in the project, those that name its place first.

    Of a file of which something was said in the context, its globs bring up nothing more. *folder*
    is where the call works.
    """
    store, root = runtime.store, runtime.project.root
    paths, families, keys = meeting.named_keys(touch, root)
    if not keys:
        return []
    rows = adopted.at_keys(store, root, keys)
    for written in filter(None, (meeting.written_folder(path, root) for path in paths)):
        rows += adopted.below(store, root, written)
    works = meeting.relative_paths((*touch.works, *filter(None, (folder,))), root)
    quiet, stops = set(said_files), adopted.may_stop(store)
    found: dict[str, MetItem] = {}
    for row in rows:
        is_scope = bool(row["is_scope"])
        if row["id"] in found and (is_scope or not found[row["id"]].is_scope):
            continue
        if is_scope and row["path"] in quiet:
            continue
        if not (
            _is_in_scope(row, paths) if is_scope else _is_at(row, touch, paths, families, works)
        ):
            continue
        binding = bindings.from_row(row)
        each = MetItem(row=row, binding=binding, is_scope=is_scope)
        if item := _judge(each, stops, runtime):
            found[row["id"]] = item
    return sorted(found.values(), key=_order)


def _order(each: MetItem) -> tuple[bool, bool, str, int]:
    return each.is_scope, each.row["kind"] != "rule", each.row["path"], each.row["first"]


def _is_in_scope(row: sqlite3.Row, paths: Iterable[str]) -> bool:
    scope = Scope(
        globs=tuple(loads(row["globs"])),
        excluded=tuple(loads(row["excluded"])),
        like_gitignore=bool(row["like_gitignore"]),
    )
    return any(scope.holds(path) for path in paths if path != ".")


def _is_at(
    row: sqlite3.Row,
    touch: Touch,
    paths: list[str],
    families: dict[str, set[str]],
    works: Iterable[str],
) -> bool:
    if not meeting.holds(row, touch, paths, families):
        return False
    folder = row["folder"]
    if not folder or row["bound_kind"] not in COMMANDS:
        return True
    return any(f"{path}/".startswith(folder) for path in (*paths, *works))


def _judge(each: MetItem, stops: bool, runtime: Runtime) -> MetItem | None:
    """Return what may be said of an item; None for one that says to do what the call does."""
    from ademem.search import mentions

    row = each.row
    if not each.is_scope and _is_recommended(row["text"], each.binding):
        return None
    may_stop = stops and mentions.binds(row["text"])
    if not may_stop and is_loaded(row, runtime):
        return None
    return MetItem(row=row, binding=each.binding, is_scope=each.is_scope, may_stop=may_stop)


def _is_recommended(text: str, binding: Binding) -> bool:
    """Tell whether a text wants the place or the command: it is no rule about that call."""
    from ademem.search import mentions

    name = binding.pattern.rpartition(" ")[2] if binding.kind == "program" else ""
    name = name or binding.key.rpartition("/")[2].rpartition(":")[2]
    stances = [
        each.stance for each in mentions.find_mentions(text) if each.is_marked and name in each.text
    ]
    return bool(stances) and all(stance == mentions.RECOMMENDED for stance in stances)

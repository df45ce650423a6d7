"""Commands that briefings name, for a plugin, which brings no package that parses options."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import TYPE_CHECKING, NoReturn

from ademem import operations
from ademem.core.errors import UsageError
from ademem.core.memory import Category, Draft
from ademem.doors.cli import show
from ademem.operations import searching, writing
from ademem.search.engine import Filters
from ademem.store.filters import choose_statuses

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from ademem.store.runtime import Runtime


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def run(arguments: Sequence[str]) -> bool:
    """Run `add`, `get` or `list` with their usual options; return False for anything else."""
    if arguments[:1] not in (["add"], ["get"], ["list"]):
        return False
    parser = _Parser(prog="ademem", add_help=False, allow_abbrev=False)
    parser.add_argument("command")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--project")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--category", choices=list(Category))
    parser.add_argument("--limit", "-n", type=int, default=100)
    options, others = parser.parse_known_intermixed_args(arguments)
    if others:
        return False
    show.as_json = options.json
    with operations.open_memories(options.project, on_import=show.import_progress()) as memories:
        show.notices(memories)
        {"add": _add, "get": _get, "list": _list}[options.command](memories, options)
    return True


def _add(memories: Runtime, options: Namespace) -> None:
    draft = Draft(
        content=" ".join(options.words),
        category=writing.categorize(options.category, None),
        origin=writing.origin(memories),
    )
    show.verdict(writing.write(memories, writing.place_draft(memories, draft)))


def _get(memories: Runtime, options: Namespace) -> None:
    if len(options.words) != 1:
        raise UsageError("name one memory", "`ademem list` shows the ids")
    memory = show.require_readable(searching.get(memories, options.words[0]))
    drifted = searching.find_drifted(memories, [memory])
    later = searching.find_later(memories, [memory]).get(memory.id)
    if show.as_json:
        show.json(show.memory_json(memory, drifted=drifted, later=later))
    else:
        show.whole(memory, drifted, searching.find_related(memories, memory.id), later)


def _list(memories: Runtime, options: Namespace) -> None:
    filters = Filters(
        statuses=choose_statuses(candidates=True, archived=False),
        categories=tuple(filter(None, [options.category and Category(options.category)])),
    )
    found = searching.list_memories(memories, filters, options.limit)
    show.memories(found, searching.find_later(memories, found))

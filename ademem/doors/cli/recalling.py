"""Recall, which agents call in every turn: it loads nothing that its options can do without."""

from __future__ import annotations

from ademem import operations
from ademem.core.errors import UsageError
from ademem.doors.cli import show
from ademem.doors.cli.commands import command
from ademem.doors.cli.options import argument, flag, option, shared
from ademem.operations.parameters import (
    BRANCH,
    CANDIDATES,
    CATEGORY,
    LIMIT,
    OWNER,
    PATH,
    SCOPE,
    TYPE,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ademem.search.engine import Filters
    from ademem.store.runtime import Runtime


def _open(project: str | None = option("--project DIR", "Folder of the project.")) -> Runtime:
    memories = operations.open_memories(project, on_import=show.import_progress())
    memories.before_close = None  # an answer changes no hint
    show.notices(memories)
    show.unread_edits(memories)
    return memories


@command(on=_open)
def recall(
    memories: Runtime,
    words: list[str] | None = argument("WORDS", "What you want to know.", None),
    limit: int = shared(LIMIT, 10),
    category: str | None = shared(CATEGORY),
    type_: str | None = shared(TYPE),
    scope: str | None = shared(SCOPE),
    owner: str | None = shared(OWNER),
    path: str | None = shared(PATH),
    branch: str | None = shared(BRANCH),
    candidates: bool = shared(CANDIDATES, False),
    recent_: int | None = option("--recent", "The newest N instead.", min=0),
    stats: bool = flag("--stats", "Counts instead."),
    count: bool = option("--count/--no-count", "Count an access of each hit.", True),
    all_: bool = flag("--all", "Weak hits and archived memories too."),
    explain: bool = flag("--explain", "Show how each result came about."),
) -> None:
    """Find memories that answer WORDS. Exit code 1 if none does, 0 in a client's shell."""
    from ademem.operations import searching

    query = " ".join(words or ())
    if stats:
        from ademem.operations import reports

        return show.table(reports.get_knowledge(memories))
    wanted = (category, type_, scope, owner, path, branch)
    with_candidates = candidates or recent_ is not None
    filters = _filter(memories, wanted, candidates=with_candidates, archived=all_)
    if recent_ is not None or (not query and type_):
        newest = searching.list_memories(memories, filters, 10 if recent_ is None else recent_)
        show.memories(newest, searching.find_later(memories, newest))
        raise SystemExit(show.exit_code(newest))
    if not query.strip():
        raise UsageError("recall what?", 'ademem recall "words", or --recent N, or --stats')
    found = (searching.recall if count else searching.search)(memories, query, filters, limit)
    drifted = searching.find_drifted(memories, [hit.memory for hit in found.hits])
    if show.as_json:
        rows = show.results_json(found, explain=explain, drifted=drifted)
        _show_json(rows | _name_next(len(found.hits), limit))
    else:
        show.results(found, explain=explain, drifted=drifted, weaker=all_)
        show.words_alone(found.mode, memories)
    raise SystemExit(show.exit_code(found.answers or found.instructions))


def _name_next(count: int, limit: int) -> dict[str, str]:
    return {"next": f"--limit {2 * limit} shows more"} if count == limit else {}


def _show_json(rows: dict[str, Any]) -> None:
    import json  # of a few rows, for which orjson would take longer to load

    show.echo(show.safe(json.dumps(rows, ensure_ascii=False, indent=2)))


def _filter(
    memories: Runtime, wanted: tuple[str | None, ...], *, candidates: bool, archived: bool
) -> Filters | None:
    """Return filters of category, type, scope, owner, path and branch; None where none is given."""
    if not (candidates or archived or any(each is not None for each in wanted)):
        return None
    from ademem.doors.cli.filtering import make_filters
    from ademem.operations import searching
    from ademem.store.filters import choose_statuses

    category, type, scope, owner, path, branch = wanted
    if type:
        searching.check_type(memories, type)
    statuses = choose_statuses(candidates=candidates, archived=archived)
    return make_filters(category, type, scope, owner, path, branch, statuses)

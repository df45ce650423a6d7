"""Filters of a search, applied in SQL before anything is counted off."""

from __future__ import annotations

from ademem.core.client import mission_of
from ademem.core.clock import datetime, stamp
from ademem.core.json_text import array
from ademem.core.memory import MAIN_AGENT, Memory, Status, Tier
from ademem.core.value import Value, as_dict
from ademem.store import BROWSED, CURRENT, SURE, TOLD, Store, memories
from ademem.store.logs import EFFECTS, PATIENCE
from ademem.store.memories import TURN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ademem.store.runtime import Runtime

UNARCHIVED = (Status.PROMOTED, Status.CANDIDATE)


def choose_statuses(*, candidates: bool, archived: bool) -> tuple[Status, ...]:
    return tuple(Status) if archived else UNARCHIVED if candidates else ()


ORDERS = {
    "newest": ("created_at", True),
    "oldest": ("created_at", False),
    "changed": ("updated_at", True),
    "believed": ("confidence", True),
    "used": ("access_count", True),
    "helped": ("helped_at", True),
    "file": ("place", False),
}

_COMPUTED = {
    "helped_at": """ifnull((select last_used_at from memory_exposure
where memory_id = memory.id), '')""",
    "place": f"""ifnull((select min(iif(pattern = '', key, pattern)) from memory_bindings
where memory_seq = memory.seq and kind in ('path', 'dir', 'glob', 'anchor')
and strength in ({SURE})), '{chr(0x10FFFF)}')""",
}
"""SQL for orders that are no column: when a memory helped last, and the file that it is about."""

CONCERNS = ("code-changed", "code-gone", "unused")
"""A value of the text is no longer in the code, as `verify` saw; shown often since its last use."""
_CONCERNS = f"""
select 'code-' || state as concern, memory_seq from memory_bindings
where kind = 'anchor' and state in ('changed', 'gone')
union select 'unused', seq from memory_exposure
cross join unified_memories on id = memory_id and not pinned where unused > {PATIENCE}
"""


class Filters(Value):
    """Conditions of a search; of several values of one field a row needs one, none means any."""

    scopes: tuple[str, ...] = ()
    owner: str | None = None
    mission: str | None = None
    all_missions: bool = False
    """Of every mission, not of *mission* alone."""
    statuses: tuple[str, ...] = ()
    """None means promoted ones, and candidates unless a promoted one answers in full."""
    faded: bool = False
    """Without statuses: if nothing live answers, also memories archived for lack of use."""
    awake: bool = False
    """No confirmed memory of tier 3, which faded as nobody used it."""
    quarantined: bool = False
    heard: bool = True
    """Also sentences that a prompt seems to state, and nobody answered; no search finds them."""
    tiers: tuple[int, ...] = ()
    categories: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    """A category, or an observation type, which memories keep as a tag."""
    tags: tuple[str, ...] = ()
    trusts: tuple[str, ...] = ()
    path: str | None = None
    concerns: tuple[str, ...] = ()
    unhelpful: bool = False
    """Only those that prevented and answered nothing yet."""
    branch: str | None = None
    here: str | None = None
    """The branch of the caller; None for the default one, or none."""
    elsewhere: bool = True
    since: datetime | None = None
    until: datetime | None = None
    """Learned at or after *since* and before *until*."""
    after: str | None = None
    """Id of the memory that a list goes on after."""
    order: str = "newest"

    @property
    def stages(self) -> tuple[tuple[str, ...], ...]:
        if self.statuses:
            return (self.statuses,)
        live = ((Status.PROMOTED,), UNARCHIVED)
        return (*live, (*UNARCHIVED, Status.ARCHIVED)) if self.faded else live


_CONDITIONS = f"""
    memory.project_id = :project
and memory.deleted_at is null
and (:quarantined or memory.quarantine_reason is null)
and (:heard or {TOLD})
and (not :awake or memory.tier < 3 or memory.status <> 'promoted')
and memory.status in (select value from json_each(:statuses))
and (:any or memory.status <> 'archived' or exists (
  select 1 from memory_revisions as faded
  where faded.memory_id = memory.id and faded.revision = memory.revision_count
    and faded.operation = 'archive' and faded.actor = 'ademem'))
and (memory.scope = 'project'
  or memory.scope = 'agent' and (memory.scope_owner_id is :owner
    or :owner is null and memory.scope_owner_id = '{MAIN_AGENT}')
  or memory.scope = 'mission' and (:all_missions or memory.scope_owner_id is :mission))
and (:scopes = '[]' or memory.scope in (select value from json_each(:scopes)))
and (:tiers = '[]' or memory.tier in (select value from json_each(:tiers)))
and (:categories = '[]' or memory.category in (select value from json_each(:categories)))
and (:types = '[]' or exists (
  select 1 from json_each(:types) as type
  where type.value = memory.category
     or instr(' ' || memory.tags || ' ', ' ' || type.value || ' ')))
and ({BROWSED} or :categories <> '[]' or :types <> '[]')
and (:tags = '[]' or exists (
  select 1 from json_each(:tags) as tag
  where instr(' ' || memory.tags || ' ', ' ' || tag.value || ' ')))
and (:trusts = '[]' or memory.trust in (select value from json_each(:trusts)))
and (:concerns = '[]' or memory.seq in (
  select memory_seq from ({_CONCERNS})
  where concern in (select value from json_each(:concerns))))
and (not :unhelpful or memory.id not in (
  select memory_id from recall_log where memory_id is not null
  and outcome <> '' and outcome in ('{"', '".join(EFFECTS)}')))
and (:path is null or :path glob memory.file_scope_pattern)
and (:branch is null or memory.source_branch = :branch)
and (:elsewhere or memory.source_branch is null or memory.source_branch = :here)
and (:since is null or memory.created_at >= :since)
and (:until is null or memory.created_at < :until)
"""

_SHOWN = f"{_CONDITIONS} and memory.superseded_by is null"
# What a later fact replaced is found as well, as it leads to that one.
_FOUND = f"""
{_CONDITIONS} and (memory.superseded_by is null or exists (
  select 1 from memory_relations as pair
  where pair.target_id = memory.sync_id and pair.relation = 'supersedes'))
"""

# No `order by`: the cross join walks the ranked rows as they come and stops at the limit.
_RANKED = """
select {columns}
from json_each(:ranked) as ranked
cross join unified_memories as memory on memory.seq = ranked.value
where {conditions}
limit :limit
"""
_ROWS = _RANKED.format(columns="memory.*", conditions=_SHOWN)
_VISIBLE_ROWS = _RANKED.format(columns=f"memory.seq, {TURN}", conditions=_FOUND)

# Only row numbers are sorted: whole rows on the way to the first ones take four times as long.
_LISTED = """
select memory.* from (
  select memory.seq
  from unified_memories as memory
  where {shown}
  and (:after is null or ({column}, memory.seq) {beyond}
    (select {column}, memory.seq from unified_memories as memory where memory.id = :after))
  order by {column} {way}, memory.seq {way}
  limit ifnull(:limit, -1)
) as chosen
cross join unified_memories as memory on memory.seq = chosen.seq
"""


def of_session(runtime: Runtime, statuses: tuple[str, ...], owner: str | None = None) -> Filters:
    return Filters(
        owner=owner,
        statuses=statuses,
        here=runtime.branch,
        elsewhere=False,
        awake=True,
        heard=False,
        mission=mission_of(runtime.environment),
    )


def visible(
    ranked: Sequence[int], store: Store, filters: Filters, statuses: tuple[str, ...], limit: int
) -> list[Memory]:
    given = {"limit": limit, "ranked": array(ranked), "heard": False}
    return memories.from_rows(store.db.execute(_ROWS, _bind(store, filters, statuses) | given))


def visible_rows(
    ranked: Sequence[int], store: Store, filters: Filters, statuses: tuple[str, ...], limit: int
) -> dict[int, bool]:
    given = {"limit": limit, "ranked": array(ranked), "heard": False}
    rows = store.db.execute(_VISIBLE_ROWS, _bind(store, filters, statuses) | given)
    return {seq: bool(turn) for seq, turn in rows}


def list_filtered(store: Store, filters: Filters, limit: int | None) -> list[Memory]:
    column, is_down = ORDERS[filters.order]
    beyond, way = ("<", "desc") if is_down else (">", "asc")
    for statuses in filters.stages:
        shown = _shown_sql(filters, statuses, column)
        value = _COMPUTED.get(column, f"memory.{column}")
        query = _LISTED.format(shown=shown, column=value, beyond=beyond, way=way)
        rows = store.db.execute(query, _bind(store, filters, statuses) | {"limit": limit})
        if found := memories.from_rows(rows):
            return found
    return []


def count_listed(store: Store, filters: Filters, most: int) -> int:
    for statuses in filters.stages:
        shown = _shown_sql(filters, statuses, "created_at")  # an index, as it ends at the limit
        rows = f"select 1 from unified_memories as memory where {shown} limit :limit"
        values = _bind(store, filters, statuses) | {"limit": most}
        (found,) = store.db.execute(f"select count(*) from ({rows})", values).fetchone()
        if found:
            return int(found)
    return 0


def _shown_sql(filters: Filters, statuses: tuple[str, ...], column: str = "") -> str:
    """Return `_SHOWN` in words that let SQLite read the fewest pages for an order by a column."""
    if filters.tiers == (Tier.PINNED,):  # few, which an index of scopes and tiers finds
        shown = _SHOWN.replace("memory.status in", "+memory.status in", 1)
        return f"{shown} and memory.tier = 1 and memory.scope in ('project', 'agent', 'mission')"
    if filters.since:  # a condition that may be null uses no index
        return f"{_SHOWN} and memory.created_at >= :since"
    is_most = Status.PROMOTED in statuses and not (filters.categories or filters.concerns)
    if column == "created_at" or column in _COMPUTED or not is_most:
        return _SHOWN
    # Most rows are read as they lie in half the time that an index of their statuses takes.
    return _SHOWN.replace("memory.project_id", "+memory.project_id", 1)


_COUNTED = (
    f"project_id = :project and {CURRENT} and {BROWSED} and (scope = 'project'"
    f" or scope = 'agent' and scope_owner_id = '{MAIN_AGENT}'"
    " or scope_owner_id is case scope when 'mission' then :mission end)"
)


def count_concerns(store: Store, mission: str | None) -> dict[str, int]:
    rows = store.db.execute(
        f"select concern, count(*) from ({_CONCERNS})"
        " cross join unified_memories as memory on seq = memory_seq"
        f" where status <> 'archived' and {_COUNTED} group by concern",
        {"project": store.project_id, "mission": mission},
    )
    return dict.fromkeys(CONCERNS, 0) | {row[0]: row[1] for row in rows}


def _bind(store: Store, filters: Filters, statuses: tuple[str, ...]) -> dict[str, Any]:
    values = as_dict(filters)
    for name, value in values.items():
        if isinstance(value, tuple):
            values[name] = array(value)
        elif isinstance(value, datetime):
            values[name] = stamp(value)
    return values | {
        "project": store.project_id,
        "statuses": array(statuses),
        "any": bool(filters.statuses),
    }

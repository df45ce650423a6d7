"""Named queries over `unified_memories`, beside those that `memories` needs itself."""

from __future__ import annotations

from ademem.core import text as text_
from ademem.core.json_text import array
from ademem.core.memory import CLIENT_FILE, FROM_HUB, LOST_BRANCH, SKILL, Memory
from ademem.core.value import Value
from ademem.store import BROWSED, CURRENT, LIVE, TOLD, Store, counts, is_in_hub, memories
from ademem.store.memories import Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any, Literal

    from ademem.core.memory import Origin

    Key = Literal["topic_key", "knowledge_key", "dedupe_key"]
    Index = Literal["unified_memories_fts", "unified_memories_trigram"]

MOST_PINS = 20
CLAIMED = f"claimed_author is not null and {LIVE}"
# Changed since it was written, never written, or given up while it stands in a file. The cross
# join begins with the few procedures.
_UNEXPORTED = f"""
select 1 from memory_procedure_details as details
cross join unified_memories as memory on memory.id = details.memory_id
where memory.project_id = :project and (
  scope = 'project' and status = 'promoted' and {CURRENT}
  and (exported_at is null or exported_at < memory.updated_at)
  or exported_at is not null and superseded_by is null
  and (status = 'archived' or deleted_at is not null))
limit 1
"""
_WITH_FILES = f"{CLAIMED} and claimed_author not glob '{FROM_HUB}*'"
_WAITING_ORDER = "order by quarantine_reason is null, created_at, seq limit ifnull(:limit, -1)"
_QUARANTINED = f"{LIVE} and quarantine_reason is not null"
_UNCONFIRMED = f"status = 'candidate' and {CURRENT} and {BROWSED}"
_WAITING = f"project_id = :project and ({_QUARANTINED} or {_UNCONFIRMED})"
_HOME = "scope = :scope and ifnull(scope_owner_id, '') = :owner and kept_of is null"
_UNQUARANTINED = f"{LIVE} and quarantine_reason is null"
# The plus keeps the planner from the index of all rejected rows: a query here is for one text.
_REJECTED = "status = 'archived' and +rejected_at is not null"
_ESTABLISHED = (
    f"status = 'promoted' and {CURRENT} and {BROWSED} and scope = :scope"
    " and scope_owner_id is :owner and (source_branch is null or source_branch = :branch)"
)


def by_id(store: Store, id: str | None) -> Memory | None:
    return _first(memories.find(store, "id = :id", id=id)) if id else None


def by_sync_id(store: Store, sync_id: str | None) -> Memory | None:
    return _first(memories.find(store, "sync_id = :id", id=sync_id)) if sync_id else None


def list_confirmed(store: Store, most: int) -> list[Memory]:
    """Return the newest statements that hold in the project."""
    where = f"status = 'promoted' and {CURRENT} and {BROWSED} and scope = 'project'"
    found = memories.find(store, where, f"order by seq desc limit {most}")
    return [memory for memory in found if memory.is_statement]


_BY_IDS = Query("id in (select value from json_each(:ids))", "order by seq", by_key=True)


def by_ids(store: Store, ids: Iterable[str]) -> list[Memory]:
    return _BY_IDS(store, ids=array(ids))


def find_sharing(store: Store, kind: str, name: str) -> list[int]:
    query = {
        "topic": "select seq from unified_memories where topic_key = ? order by seq desc",
        "file": "select distinct memory_seq from memory_bindings where kind = 'anchor' and key = ?"
        " order by memory_seq desc",
    }[kind]
    return store.column(query, (name,))


everything = Query("true")
page = Query("seq > :after", "order by seq limit :limit")
in_review = Query(
    f"seq in (select seq from unified_memories where {_WAITING} {_WAITING_ORDER})",
    _WAITING_ORDER,
    by_key=True,
)
list_claimed = Query(CLAIMED, _WAITING_ORDER)
unconfirmed_twins = Query(
    f"content = :content and status = 'candidate' and {CURRENT} and id <> :id", by_key=True
)
with_files_and_not_quarantined = Query(f"{_WITH_FILES} and quarantine_reason is null")
due_for_review = Query(
    f"review_after <= :now and {_UNQUARANTINED}",
    "order by review_after, seq limit ifnull(:limit, -1)",
)
best_candidates = Query(
    f"scope = 'project' and {_UNCONFIRMED}",
    "order by confidence desc, observation_count desc, created_at desc limit :limit",
)
best_of_scope = Query(
    "scope = :scope and scope_owner_id is :owner and status = 'promoted'"
    f" and {CURRENT} and {BROWSED}",
    "order by pinned desc, case importance when 'high' then 0 when 'medium' then 1 else 2 end,"
    " access_score desc, updated_at desc limit :limit",
)
best_established = Query(
    _ESTABLISHED,
    "order by pinned and claimed_author is null desc, tier, importance = 'high' desc,"
    " composite_score desc, updated_at desc, seq desc limit :limit",
)
project_candidates = Query(
    f"scope = 'project' and status = 'candidate' and source_type <> '{CLIENT_FILE}'",
    "order by created_at, id",
)
"""Those that a sheet of candidates may have."""
on_branches = Query(f"source_branch is not null and {LIVE}")
with_anchors = Query(f"{LIVE} and anchors <> '[]'", "order by seq")
of_mission = Query(f"scope = 'mission' and scope_owner_id = :id and {LIVE}", "order by seq")
of_session = Query("source_session_id = :id", "order by seq")
learned_in_session = Query(
    f"source_session_id = :id and {BROWSED} and {TOLD} and {_UNQUARANTINED}",
    "order by seq desc limit :limit",
)
heard_in_turn = Query(
    f"stage = 'heard' and status = 'candidate' and {_UNQUARANTINED}"
    " and source_session_id = :session and (source_id = :prompt or id in"
    "  (select memory_id from evidence where kind = 'said' and prompt_id = :prompt))",
    "order by seq",
)
merged_into = Query("superseded_by = :id", "order by seq", by_key=True)
known_errors = Query(
    f"source_id = :fingerprint and status <> 'archived' and {CURRENT} and {BROWSED}"
    " and (scope = 'project' or scope = 'agent' and scope_owner_id is :owner)"
    " and (source_branch is null or source_branch = :branch)"
)
feedback = Query(
    f"source_type = :source and status <> 'archived' and {CURRENT}",
    "order by seq desc limit :limit",
)
skills = Query(f"source_type = '{SKILL}' and {LIVE}")
with_skill_file = Query("id in (select memory_id from memory_skill_index)", by_key=True)
with_procedure_details = Query(
    "id in (select memory_id from memory_procedure_details)", by_key=True
)
procedures_without_details = Query(
    "category = 'procedure' and source_type = 'procedure'"
    f" and id not in (select memory_id from memory_procedure_details) and {LIVE}"
)
"""Those that came with the files of the project."""


_REASON = """
case when quarantine_reason is not null then 'quarantined'
  when write_gate_reason = :lost then 'its branch was deleted' else 'unconfirmed' end
"""


def list_waiting(store: Store, most: int | None = None) -> list[tuple[str, float, str, int, str]]:
    """List what `in_review` does: the reason why it waits, confidence, moment, seq, id."""
    # Each of the two reasons has an index; one query for both would walk through the texts.
    return store.db.execute(
        f"select {_REASON}, confidence, created_at, seq, id from unified_memories where seq in"
        f" (select seq from unified_memories where project_id = :project and {_QUARANTINED})"
        f" union all select {_REASON}, confidence, created_at, seq, id from unified_memories"
        f" where project_id = :project and {_UNCONFIRMED} limit ifnull(:most, -1)",
        {"project": store.project_id, "lost": LOST_BRANCH, "most": most},
    ).fetchall()


def count_waiting(store: Store, but: Collection[str] = ()) -> dict[str, int]:
    """Count by reason what `list_waiting` lists, *but* these ids."""
    found = store.pairs(
        "select case when is_quarantined then 'quarantined' when is_lost"
        " then 'its branch was deleted' else 'unconfirmed' end as reason, sum(number)"
        f" from {counts.of_memories(store)} where project_id = ? and ({counts.LIVE}"
        f" and is_quarantined or status = 'candidate' and {counts.CURRENT} and {counts.BROWSED})"
        " group by reason order by reason",
        (store.project_id,),
    )
    left_out = store.column(
        f"select {_REASON} from json_each(:ids) as given"
        f" cross join unified_memories as memory on memory.id = given.value where {_WAITING}",
        {"project": store.project_id, "lost": LOST_BRANCH, "ids": array(but)},
    )
    return {why: left for why, count in found.items() if (left := count - left_out.count(why))}


def count_pinned_by_agents(store: Store) -> int:
    return store.number(
        "select count(*) from unified_memories as memory"
        " where pinned and deleted_at is null and project_id = ? and 'user' <>"
        " (select actor from memory_revisions where memory_id = memory.id"
        "  and operation in ('pin', 'insert', 'import') order by seq desc limit 1)",
        (store.project_id,),
    )


def count_established(store: Store, **place: str | None) -> int:
    query = f"select count(*) from unified_memories where project_id = :project and {_ESTABLISHED}"
    return store.number(query, place | {"project": store.project_id})


def count_with_files(store: Store, *, quarantined: bool = True) -> int:
    query = f"select count(*) from unified_memories where project_id = ? and {_WITH_FILES}"
    but = "" if quarantined else " and quarantine_reason is null"
    return store.number(query + but, (store.project_id,))


def authors_with_files(store: Store) -> list[str]:
    return store.column(
        f"select claimed_author from unified_memories where project_id = ? and {_WITH_FILES}"
        " and claimed_author <> '' and typeof(claimed_author) = 'text'"
        " group by claimed_author order by count(*) desc, claimed_author",
        (store.project_id,),
    )


def accepted(store: Store, sync_ids: Iterable[str]) -> set[str]:
    """Return those of the *sync_ids* whose memory this person accepted."""
    query = (
        "select sync_id from unified_memories where claimed_author is null"
        " and sync_id in (select value from json_each(?))"
    )
    return set(store.column(query, (array(sync_ids),)))


def list_confirmed_elsewhere(store: Store) -> list[Memory]:
    """Return candidates that another store confirmed by a word that does not count here."""
    if not is_in_hub(store):
        return []
    query = "json_extract(stamps, '$.values.status') = 'promoted'"
    return memories.find(store, f"status = 'candidate' and {query} and {CURRENT}")


def beside(store: Store, memory: Memory, before: int, after: int) -> dict[str, list[Memory]]:
    where = f"source_session_id = :session and {CURRENT} and {BROWSED} and seq "
    values = {"session": memory.source_session_id, "seq": memory.seq}
    tail = "order by seq {} limit :most"
    earlier = memories.find(store, where + "< :seq", tail.format("desc"), most=before, **values)
    later = memories.find(store, where + "> :seq", tail.format("asc"), most=after, **values)
    return {"before": earlier[::-1], "after": later}


def latest_with_tag(store: Store, tag: str, beside: Memory) -> Memory | None:
    where = (
        f"instr(' ' || tags || ' ', ' ' || :tag || ' ') and {LIVE} and quarantine_reason is null"
        " and scope = :scope and scope_owner_id is :owner and id <> :id"
    )
    values = {"tag": tag, "scope": beside.scope, "owner": beside.scope_owner_id, "id": beside.id}
    return _first(memories.find(store, where, "order by seq desc limit 1", **values))


def has_session_text(store: Store, session_id: str, dedupe_key: str) -> bool:
    query = "select 1 from unified_memories where source_session_id = ? and dedupe_key = ? limit 1"
    return store.has_row(query, (session_id, dedupe_key))


def is_said_elsewhere(store: Store, id: str, content: str) -> bool:
    """Tell whether a live memory other than that of the *id* has this text."""
    query = f"select 1 from unified_memories where content = ? and id <> ? and {LIVE} limit 1"
    return store.has_row(query, (content, id))


def find_error(store: Store, fingerprint: str | None, owner: str | None) -> Memory | None:
    where = (
        "source_id = :fingerprint and status <> 'archived' and deleted_at is null"
        " and (scope = 'project' or scope_owner_id is :owner)"
    )
    tail = "order by scope_owner_id is not :owner"
    return _first(memories.find(store, where, tail, fingerprint=fingerprint, owner=owner))


LINE_COLUMNS = (*memories.KEPT, "stamps", "said_in", "foreign_fields")


def each_line(store: Store, there: Iterable[str] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the LINE_COLUMNS of rows that `knowledge.jsonl` may have, oldest first, one by one.

    It has those that are confirmed or have a key, and may have candidates that are *there*.
    """
    query = (
        f"select {', '.join(LINE_COLUMNS)} from unified_memories"
        " where project_id = ? and scope = 'project'"
        " and (status = 'promoted' or knowledge_key is not null"
        " or (status = 'candidate' and (stamps like '%\"status\":\"promoted\"%'"
        " or id in (select value from json_each(?)))))"
        " order by created_at, id"
    )
    cursor = store.db.cursor()
    cursor.row_factory = None  # plain tuples, as they are many
    return iter(cursor.execute(query, (store.project_id, array(there))))


def line_values(row: tuple[Any, ...]) -> dict[str, Any]:
    """Return a row of `each_line` by names; what an access counts is zero."""
    found = dict.fromkeys(memories.BOOKKEEPING, 0) | dict(zip(LINE_COLUMNS, row, strict=True))
    return found | {"last_accessed_at": found["updated_at"]}


def existing(store: Store, ids: Iterable[str]) -> set[str]:
    query = "select id from main.unified_memories where id in (select value from json_each(?))"
    return set(store.column(query, (array(ids),)))


def existing_rows(store: Store, rows: Iterable[int]) -> set[int]:
    """Return those of the row numbers that a memory has."""
    query = "select seq from main.unified_memories where seq in (select value from json_each(?))"
    return set(store.column(query, (array(rows),)))


def find_unheard(store: Store, ids: Iterable[str]) -> set[str]:
    """Return those of the ids that no memory has, or had before it was deleted for good."""
    query = (
        "select value from json_each(?) where"
        " not exists (select 1 from main.unified_memories where id = value)"
        " and not exists (select 1 from memory_revisions where memory_id = value)"
        " and not exists (select 1 from tombstones where entity = 'memory'"
        "  and sync_id >= value and sync_id < value || '~')"
    )
    return set(store.column(query, (array(ids),)))


def list_removed(store: Store) -> Iterator[dict[str, Any]]:
    query = (
        "select * from unified_memories where project_id = ? and scope = 'project'"
        " and (promoted_at is not null or knowledge_key is not null"
        "      or json_extract(stamps, '$.values.status') = 'promoted')"  # not here, but by others
        f" and quarantine_reason is null and not ({LIVE})"
    )
    return map(memories.columns, store.db.execute(query, (store.project_id,)))


def match_any_word(store: Store, words: Iterable[str], limit: int) -> list[str]:
    return store.column(
        "select memory.id from unified_memories_fts as found"
        " join unified_memories as memory on memory.seq = found.rowid"
        " where found.unified_memories_fts match ?"
        " order by bm25(unified_memories_fts), found.rowid limit ?",
        (" OR ".join(f'"{word}"' for word in words), limit),
    )


def list_heard(store: Store, *, but: str) -> dict[str, str]:
    """Return id and text of the sentences that wait for an answer, but the one with this digest."""
    return store.pairs(
        "select id, content from unified_memories where project_id = :project and stage = 'heard'"
        f" and status = 'candidate' and {CURRENT} and dedupe_key <> :key",
        {"project": store.project_id, "key": but},
    )


def is_id_used(store: Store, id: str, sync_id: str) -> bool:
    """True if a memory has one of the ids, or had it before it was deleted for good."""
    return store.has_row(
        "select 1 from unified_memories where id = :id"
        " union all select 1 from unified_memories where sync_id = :sync_id"
        " union all select 1 from memory_revisions where memory_id = :id",
        {"id": id, "sync_id": sync_id},
    )


def list_shown(store: Store, session_id: str | None, most: int) -> list[Memory]:
    rows = store.db.execute(
        "select memory.seq from (select distinct memory_id from (select memory_id from recall_log"
        " where session_id = :session and memory_id is not null order by id desc limit :most))"
        " as seen cross join unified_memories as memory on memory.id = seen.memory_id"
        " where memory.project_id = :project order by memory.seq",
        {"session": session_id, "most": most, "project": store.project_id},
    )
    return memories.list_by_number(store, [row[0] for row in rows])


def latest_of_source(store: Store, origin: Origin) -> Memory | None:
    """Find the newest live memory that the source of *origin* wrote in its session."""
    if origin.session_id is None:
        return None
    rows = store.column(
        "select seq from unified_memories where source_session_id = :session"
        " and project_id = :project and source_type = :type and trust = :trust"
        " and deleted_at is null and quarantine_reason is null order by seq desc limit 1",
        {"session": origin.session_id, "project": store.project_id}
        | {"type": origin.source_type, "trust": origin.trust},
    )
    return next(iter(memories.list_by_number(store, rows)), None)


def tombstones(store: Store) -> list[tuple[str, str]]:
    query = "select sync_id, deleted_at from tombstones where entity = 'memory' and project_id = ?"
    return store.tuples(query, (store.project_id,))


def is_dead(store: Store, sync_id: str) -> bool:
    query = "select 1 from tombstones where entity = 'memory' and sync_id = ?"
    return store.has_row(query, (sync_id,))


def is_dead_by_id(store: Store, id: str) -> bool:
    """The same by its id, a prefix of the sync id."""
    query = "select 1 from tombstones where entity = 'memory' and sync_id >= ? and sync_id < ?"
    return store.has_row(query, (id, id + "~"))


class Home:
    def __init__(self, store: Store, scope: str, owner: str | None) -> None:
        self._store = store
        self._values = {"scope": scope, "owner": owner or ""}

    def live_by(self, key: Key, value: str | None) -> Memory | None:
        where = f"{_HOME} and {key} = :key and {LIVE}"
        tail = "order by seq desc limit 1"
        found = _first(self._find(where, tail, key=value))
        if found is None and value and self._store.place:  # said in another project alone
            query = f"select * from main.unified_memories where project_id = :project and {where}"
            given = {"project": self._store.project_id, "key": value} | self._values
            found = _first(memories.from_rows(self._store.db.execute(f"{query} {tail}", given)))
        return found

    def rejected_by(self, key: Key, value: str) -> list[Memory]:
        # `rejected_at` again, without the plus: the index of rejected texts begins with it.
        indexed = " and rejected_at is not null" if key == "dedupe_key" else ""
        return self._find(f"{_HOME} and {key} = :key{indexed} and {_REJECTED}", key=value)

    def matching_texts(
        self, index: Index, match: str, limit: int, *, rejected: bool
    ) -> dict[int, str]:
        found = self._store.db.execute(
            "select memory.seq, title, content from ("
            f"  select rowid as seq from {index} where {index} match :match"
            "  order by rowid desc limit :limit"
            ") as hit cross join unified_memories as memory on memory.seq = hit.seq"
            f" where project_id = :project and {_HOME}"
            f" and {_REJECTED if rejected else _UNQUARANTINED}",
            {"match": match, "limit": limit, "project": self._store.project_id} | self._values,
        )
        return {seq: text_.with_title(title, content) for seq, title, content in found}

    def _find(self, where: str, tail: str = "", **values: Any) -> list[Memory]:
        return memories.find(self._store, where, tail, **values, **self._values)


class DatabaseClaims(Value):
    user: int
    """Memories that it attributes to a person."""
    pinned: int
    pins: tuple[str, ...]
    """Texts of the first MOST_PINS that would be pinned."""


def has_rejected(store: Store) -> bool:
    query = "select 1 from unified_memories where project_id = ? and rejected_at is not null"
    return store.has_row(f"{query} limit 1", (store.project_id,))


def _first(found: list[Memory]) -> Memory | None:
    return found[0] if found else None


def any_procedure(store: Store, *, export: bool) -> bool:
    is_due = export and store.has_row(_UNEXPORTED, {"project": store.project_id})
    return is_due or bool(procedures_without_details(store))


def find_database_claims(store: Store) -> DatabaseClaims | None:
    """Return what the database becomes once a person agrees to it; None if it is trusted."""
    if store.is_trusted:
        return None
    (counts,) = store.dicts(
        "select ifnull(sum(trust = 'user'), 0) as user, ifnull(sum(pinned), 0) as pinned"
        f" from main.unified_memories where {LIVE}"
    )
    pins = store.column(
        f"select content from main.unified_memories where pinned and {LIVE} order by seq limit ?",
        (MOST_PINS,),
    )
    return DatabaseClaims(**counts, pins=tuple(pins))

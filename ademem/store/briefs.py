"""What a session is briefed with: briefs, agents, and memories that one reader may see."""

from __future__ import annotations

from ademem.core.clock import datetime, stamp
from ademem.core.memory import FROM_HUB, MAIN_AGENT, SKILL, Memory
from ademem.core.redaction import redact
from ademem.core.text import sha256_hex
from ademem.store import BROWSED, CURRENT, LIVE, TOLD, Store, counts, database, memories
from ademem.store.logs import SINKING
from ademem.store.memories import Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

COUNTED = 2500
"""Most memories that are counted; beyond, "at least" is said."""

_KNOWLEDGE = (
    f"category in ('fact','preference','pattern','decision','gotcha','convention') and {BROWSED}"
)
_PRACTICE = f"category = 'procedure' and {BROWSED}"
_HERE = "(source_branch is null or source_branch = :branch)"
_NAME = f"replace(claimed_author, '{FROM_HUB}', '')"
# Memories from the files are pinned by whoever pinned them there, not by this person.
_UNPINNED = "(+pinned = 0 or claimed_author is not null)"
_ESTABLISHED = f"status = 'promoted' and {_UNPINNED} and {_KNOWLEDGE}"

_CHANGING = (
    "'insert', 'import', 'adopt', 'revise', 'edit', 'promote', 'reject', 'archive', 'restore',"
    " 'delete', 'supersede'"
)


def register_agent(store: Store, name: str, now: datetime) -> None:
    name = redact(name).text
    query = "select 1 from agent_identities where project_id = ? and name = ?"
    if not store.has_row(query, (store.project_id, name)):
        id = sha256_hex(store.project_id, name)[:16]
        store.db.execute(
            "insert or ignore into agent_identities (id, project_id, name, created_at, updated_at)"
            " values (?1, ?2, ?3, ?4, ?4)",
            (id, store.project_id, name, stamp(now)),
        )


def list_agents(store: Store) -> list[sqlite3.Row]:
    return store.db.execute(
        "select name, created_at from agent_identities where project_id = ?"
        " order by created_at desc, name",
        (store.project_id,),
    ).fetchall()


def list_owners(store: Store) -> list[tuple[str, int]]:
    return store.tuples(
        "select scope_owner_id, count(*) from unified_memories"
        f" where project_id = ? and scope = 'agent' and scope_owner_id is not null and {LIVE}"
        " group by scope_owner_id order by scope_owner_id",
        (store.project_id,),
    )


def get(store: Store, agent: str = "") -> sqlite3.Row | None:
    row: sqlite3.Row | None = store.db.execute(
        "select version, payload_json, updated_at, claimed from cto_core_memory_state"
        " where project_id = ? and agent_id = ?",
        (store.project_id, agent),
    ).fetchone()
    return row


def put(store: Store, agent: str, **row: str | int | None) -> None:
    from ademem.store.revisions import add_brief  # which few hooks need

    before = get(store, agent)
    if before and before["version"] != row["version"]:
        names = ("version", "payload_json", "updated_at")
        add_brief(store, agent, {name: before[name] for name in names})
    keys = {"project_id": store.project_id, "agent_id": agent}
    row = {"claimed": None, **row, **keys}
    database.upsert(store.db, "cto_core_memory_state", row, list(keys))


def list_folders(store: Store) -> set[str]:
    query = "select agent_id from cto_core_memory_state where project_id = ? and agent_id <> ''"
    return set(store.column(query, (store.project_id,)))


def accept(store: Store) -> None:
    query = "update cto_core_memory_state set claimed = null where project_id = ?"
    store.db.execute(query, (store.project_id,))


_VISIBLE = (
    f"{CURRENT} and {_HERE} and (scope = 'project' or scope = 'agent' and (scope_owner_id is :agent"
    f" or :agent is null and scope_owner_id = '{MAIN_AGENT}'))"
)
_LISTED = "id in (select value from json_each(:ids))"
# The plus keeps SQLite from scanning all memories in order to avoid sorting these few.
pinned = Query(
    f"status = 'promoted' and pinned = 1 and claimed_author is null and {_VISIBLE}",
    "order by +created_at, seq",
)
newest = Query(
    f"status = 'promoted' and ({_KNOWLEDGE} or {_PRACTICE}) and {_VISIBLE}",
    "order by created_at desc, seq desc limit :limit",
)
procedures = Query(
    f"status = 'promoted' and {_UNPINNED} and {_PRACTICE} and {_VISIBLE}",
    "order by updated_at desc limit :limit",
)
among = Query(
    f"status = 'promoted' and id in (select value from json_each(:ids)) and {_VISIBLE}",
    "order by seq desc",
    by_key=True,
)
established = Query(f"{_ESTABLISHED} and {_LISTED} and {_VISIBLE}", by_key=True)
of_agent = Query(f"scope = 'agent' and {_ESTABLISHED} and {_VISIBLE}")
of_project = Query(
    f"scope = 'project' and importance = :importance and {_ESTABLISHED} and {_VISIBLE}"
    f" and (id in ({SINKING})) = :sinking",
    "order by updated_at desc limit :limit",
)
"""Those that were shown too often since their last use are *sinking*."""
of_mission = Query(
    f"scope = 'mission' and scope_owner_id = :mission and {BROWSED} and {CURRENT} and {LIVE}"
    f" and {TOLD} and {_HERE}",
    "order by created_at desc, seq desc limit :limit",
)


def count_confirmed(store: Store) -> int:
    where = (
        f"scope = 'project' and status = 'promoted' and source <> '{SKILL}' and {counts.CURRENT}"
    )
    return min(counts.count_memories(store, where), COUNTED)


def word_matches(store: Store, words: Iterable[str], limit: int) -> dict[str, float]:
    """Return ids with the score of the words, the newest first."""
    return store.pairs(
        "select memory.id, score from (select rowid, -bm25(unified_memories_fts) as score"
        "  from unified_memories_fts where unified_memories_fts match ? order by rowid desc limit ?"
        ") as found cross join unified_memories as memory on memory.seq = found.rowid",
        (" OR ".join(f'"{word}"' for word in words), limit),
    )


def count_arrived(store: Store, moment: str, *, but: str) -> tuple[int, int]:
    """Count memories and their authors, without *but*, among the newest COUNTED arrivals."""
    count, people = store.db.execute(
        f"select count(*), count(distinct {_NAME}) from unified_memories"
        " where +project_id = :project and scope = 'project' and quarantine_reason is null"
        f" and {_NAME} not in ('', :but) and {LIVE} and id in (select memory_id from ("
        "  select memory_id from memory_revisions"
        "  where created_at > :moment and operation = 'import'"
        "  order by created_at desc limit :limit))",
        {"project": store.project_id, "but": but, "moment": moment, "limit": COUNTED},
    ).fetchone()
    return count, people


def list_changes(store: Store, moment: str, limit: int) -> list[tuple[Memory, bool]]:
    """Return what the newest *limit* changes changed, the last one first; True if it is new."""
    rows = store.db.execute(
        f"select memory.*, min(revision.revision) = 1 as is_new from ("
        "  select memory_id, revision, seq from memory_revisions"
        f"  where created_at > :moment and operation in ({_CHANGING})"
        "  order by created_at desc limit :limit"
        ") as revision join unified_memories as memory on memory.id = revision.memory_id"
        " where memory.project_id = :project group by memory.id order by max(revision.seq) desc",
        {"moment": moment, "limit": limit, "project": store.project_id},
    )

    def read(row: sqlite3.Row) -> tuple[Memory, bool]:
        values = dict(row)
        is_new = bool(values.pop("is_new"))
        return memories.from_values(values), is_new

    return database.read_rows(rows, read)

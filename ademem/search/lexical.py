"""What the words of a query find, before anybody asks who may see it."""

from __future__ import annotations

from collections import defaultdict

from ademem.core.json_text import array, numbers
from ademem.core.value import Value, replace
from ademem.search import score
from ademem.search.candidates import Found
from ademem.search.query import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ademem.search.query import Query
    from ademem.store import Store

MAX_TERMS = 32
"""Terms of a query that are looked up, the rarest first."""
MAX_POSTINGS = 1000
"""Rows that these may match together: what a prompt costs, whatever the size of the store."""
ALWAYS = 3
"""The rarest terms are looked up however many rows they match."""


class _Lookup(Value):
    """SQL that asks one index: of a JSON list of terms, or how well a MATCH fits rows."""

    counts: str
    rows: str
    bm25: str = ""
    holders: str = ""


def _fts(table: str, weights: str) -> _Lookup:
    return _Lookup(
        counts=f"select (select count(*) from {table} where {table} match term.value)"
        " from json_each(?) as term",
        rows=f"select term.key, found.rowid from json_each(?) as term"
        f" cross join {table} as found where found.{table} match term.value",
        bm25=f"select rowid, -bm25({table}, {weights}) from {table} where {table} match ?"
        " and +rowid in (select value from json_each(?))",
        holders=f"select rowid, -bm25({table}, {weights}) from {table} where {table} match ?",
    )


_HAS = (
    "memory.deleted_at is null"
    " and (instr(memory.content, term.value) or instr(memory.title, term.value))"
)
_LOOKUPS = {
    Index.WORDS: _fts("unified_memories_fts", "5, 1, 2, 1, 3"),  # title content tags path topic
    Index.GRAMS: _fts("unified_memories_trigram", "5, 1"),  # title content
    Index.ROWS: _Lookup(
        counts=f"select (select count(*) from unified_memories as memory where {_HAS})"
        " from json_each(?) as term",
        rows="select term.key, memory.seq from json_each(?) as term"
        f" cross join unified_memories as memory where {_HAS}",
    ),
}

_CONTAINING = f"""
select memory.seq
from (select ? as value) as term, json_each(?) as asked
cross join unified_memories as memory on memory.seq = asked.value
where {_HAS}
"""

_TOTALS = "select block from unified_memories_fts_data where id = 1"
"""What FTS5 keeps about all rows; counting them would take longer, the more there are."""

_EXACT = """
select seq from unified_memories
where id = :key or sync_id = :key
union
select seq from unified_memories
where project_id = :project and knowledge_key = :key
union
select memory.seq
from unified_memories_fts as found
join unified_memories as memory on memory.seq = found.rowid
where found.unified_memories_fts match :topic and memory.topic_key = :key
"""


def find(query: Query, store: Store, floor: float, least: float, most: int = MAX_POSTINGS) -> Found:
    """Rows that hold *least* of what was asked, by the rarest terms, of *most* rows in all.

    If none holds *floor* of it in whole words, the insides of words are looked at.
    """
    found = _matching(query.terms, store.db, least, most)
    if query.substrings and max(found.share.values(), default=0.0) < floor:
        within = _matching(query.substrings, store.db, least, most)
        found = within if within.share else found
    return _and_exact(found, query.key, store) if query.key else found


def _matching(terms: Mapping[str, Index], db: sqlite3.Connection, least: float, most: int) -> Found:
    counts = _counts(terms, db)
    wanted = affordable(counts, most)
    missing = [term for term, count in counts.items() if not count]
    total = total_rows(db)
    tells = {term: score.information(total, max(1, counts[term])) for term in wanted + missing}
    full = score.answer(asked=sum(tells.values()), rarest=score.information(total, 1))
    places = {term: place for place, term in enumerate(tells)}
    parts = tuple(some / full for some in tells.values())
    held: defaultdict[int, tuple[int, ...]] = defaultdict(tuple)
    for lookup, mine in _by_index(wanted, terms):
        known = [(places[term],) for term in mine]
        for position, seq in db.execute(lookup.rows, (array(mine),)):
            held[seq] += known[position]
    share = {seq: sum(map(parts.__getitem__, some)) for seq, some in held.items()}
    enough = {seq: min(1.0, some) for seq, some in share.items() if some >= least}
    return Found(
        share=enough,
        bm25=_bm25(wanted, terms, db, list(enough)),
        whole=frozenset(seq for seq in enough if len(held[seq]) == len(tells)),
        held=held,
        tells=parts,
    )


def _counts(terms: Mapping[str, Index], db: sqlite3.Connection) -> dict[str, int]:
    """How many rows have each term."""
    return {
        term: row[0]
        for lookup, mine in _by_index(terms, terms)
        for term, row in zip(mine, db.execute(lookup.counts, (array(mine),)), strict=True)
    }


def total_rows(db: sqlite3.Connection) -> int:
    """Rows that are not deleted: the first number of the record, a varint of SQLite's format."""
    row = db.execute(_TOTALS).fetchone()
    total = 0
    for byte in row[0] if row else b"":
        total = total << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return total


def holders(term: str, index: Index, db: sqlite3.Connection) -> tuple[list[int], list[float]]:
    """The rows that have a term of an index, and their BM25."""
    found = db.execute(_LOOKUPS[index].holders, (term,)).fetchall()
    return [row[0] for row in found], [row[1] for row in found]


def containing(text: str, db: sqlite3.Connection, among: Sequence[int] | None) -> list[int]:
    """The rows that have the text in their own, of a script written without blanks."""
    if among is None:
        found = db.execute(_LOOKUPS[Index.ROWS].rows, (array([text]),))
        return [row[1] for row in found]
    return [row[0] for row in db.execute(_CONTAINING, (text, numbers(among)))]


def affordable(counts: Mapping[str, int], most: int = MAX_POSTINGS) -> list[str]:
    """The terms that tell most, the rarest, as many as the bounds allow; *most* is of rows."""
    chosen: list[str] = []
    rows = 0
    for term in sorted((term for term in counts if counts[term]), key=lambda t: (counts[t], t)):
        rows += counts[term]
        if len(chosen) == MAX_TERMS or (len(chosen) >= ALWAYS and rows > most):
            break
        chosen.append(term)
    return chosen


def _bm25(
    chosen: Iterable[str], terms: Mapping[str, Index], db: sqlite3.Connection, rows: list[int]
) -> dict[int, float]:
    points: defaultdict[int, float] = defaultdict(float)
    for lookup, mine in _by_index(chosen, terms):
        if lookup.bm25 and rows:
            for seq, some in db.execute(lookup.bm25, (" OR ".join(mine), numbers(rows))):
                points[seq] += some
    return points


def _by_index(
    chosen: Iterable[str], terms: Mapping[str, Index]
) -> Iterator[tuple[_Lookup, list[str]]]:
    for index, lookup in _LOOKUPS.items():
        mine = [term for term in chosen if terms[term] is index]
        if mine:
            yield lookup, mine


def named(key: str, store: Store) -> frozenset[int]:
    """Rows whose id or key it is."""
    topic = 'topic_key : "' + key.replace('"', " ") + '"'
    rows = store.db.execute(_EXACT, {"key": key, "project": store.project_id, "topic": topic})
    return frozenset(row[0] for row in rows)


def _and_exact(found: Found, key: str, store: Store) -> Found:
    exact = named(key, store)
    return replace(
        found,
        share={**found.share, **dict.fromkeys(exact, 1.0)},
        whole=found.whole | exact,
        exact=exact,
    )

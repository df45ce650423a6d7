"""What the words of a query find, before anybody asks who may see it."""

from __future__ import annotations

from collections import defaultdict

from ademem.jsontext import array
from ademem.search import score
from ademem.search.query import Index
from ademem.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping

    from ademem.search.query import Query
    from ademem.store import Store

MAX_TERMS = 32
"""Terms of a query that are looked up, the rarest first."""
MAX_POSTINGS = 1000
"""Rows that these may match together: what a prompt costs, whatever the size of the store."""
ALWAYS = 3
"""The rarest terms are looked up however many rows they match."""


class Found(Value):
    """Rows by `seq`, and what speaks for them."""

    share: dict[int, float]
    """How much of what was asked the row has, 0 to 1."""
    bm25: dict[int, float]
    whole: frozenset[int]
    """Rows that have every term."""
    exact: frozenset[int] = frozenset()
    """Rows whose id or key is the query."""

    def ranked(self) -> list[int]:
        """The named rows, those with every term, the others; each by BM25, newest first."""
        return sorted(
            self.share,
            key=lambda seq: (seq in self.exact, seq in self.whole, self.bm25.get(seq, 0.0), seq),
            reverse=True,
        )

    def signals(self, seq: int) -> dict[str, float]:
        return {
            "exact": float(seq in self.exact),
            "whole": float(seq in self.whole),
            "share": self.share[seq],
            "bm25": self.bm25.get(seq, 0.0),
        }


class _Lookup(Value):
    """SQL that asks one index: of a JSON list of terms, or how well a MATCH fits some rows."""

    counts: str
    rows: str
    bm25: str = ""


def _fts(table: str, weights: str) -> _Lookup:
    return _Lookup(
        counts=f"select (select count(*) from {table} where {table} match term.value)"
        " from json_each(?) as term",
        rows=f"select term.key, found.rowid from json_each(?) as term"
        f" cross join {table} as found where found.{table} match term.value",
        bm25=f"select rowid, -bm25({table}, {weights}) from {table} where {table} match ?"
        " and +rowid in (select value from json_each(?))",
    )


_HAS = "(instr(memory.content, term.value) or instr(memory.title, term.value))"
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


def find(query: Query, store: Store, floor: float) -> Found:
    """Rows that hold *floor* of what was asked, in whole words; if none does, inside of words."""
    found = _matching(query.terms, store.db, floor)
    if not found.share:
        found = _matching(query.substrings, store.db, floor)
    return _and_exact(found, query.key, store) if query.key else found


def _matching(terms: Mapping[str, Index], db: sqlite3.Connection, floor: float) -> Found:
    counts = _counts(terms, db)
    wanted = affordable(counts)
    missing = [term for term, count in counts.items() if not count]
    total = db.execute("select count(*) from unified_memories").fetchone()[0]
    tells = {term: score.information(total, max(1, counts[term])) for term in wanted + missing}
    answer = score.answer(asked=sum(tells.values()), rarest=score.information(total, 1))
    held: defaultdict[int, list[float]] = defaultdict(list)
    for lookup, mine in _by_index(wanted, terms):
        informations = [tells[term] for term in mine]
        for position, seq in db.execute(lookup.rows, (array(mine),)):
            held[seq].append(informations[position])
    enough = {seq: some for seq, some in held.items() if sum(some) >= floor * answer}
    return Found(
        share={seq: min(1.0, sum(some) / answer) for seq, some in enough.items()},
        bm25=_bm25(wanted, terms, db, list(enough)),
        whole=frozenset(seq for seq, some in enough.items() if len(some) == len(tells)),
    )


def _counts(terms: Mapping[str, Index], db: sqlite3.Connection) -> dict[str, int]:
    """How many rows have each term."""
    return {
        term: row[0]
        for lookup, mine in _by_index(terms, terms)
        for term, row in zip(mine, db.execute(lookup.counts, (array(mine),)), strict=True)
    }


def affordable(counts: Mapping[str, int]) -> list[str]:
    """The terms that tell most, the rarest, as many as the bounds allow."""
    chosen: list[str] = []
    rows = 0
    for term in sorted((term for term in counts if counts[term]), key=counts.__getitem__):
        rows += counts[term]
        if len(chosen) == MAX_TERMS or (len(chosen) >= ALWAYS and rows > MAX_POSTINGS):
            break
        chosen.append(term)
    return chosen


def _bm25(
    chosen: Iterable[str], terms: Mapping[str, Index], db: sqlite3.Connection, rows: list[int]
) -> dict[int, float]:
    points: defaultdict[int, float] = defaultdict(float)
    for lookup, mine in _by_index(chosen, terms):
        if lookup.bm25 and rows:
            for seq, some in db.execute(lookup.bm25, (" OR ".join(mine), array(rows))):
                points[seq] += some
    return points


def _by_index(
    chosen: Iterable[str], terms: Mapping[str, Index]
) -> Iterator[tuple[_Lookup, list[str]]]:
    for index, lookup in _LOOKUPS.items():
        mine = [term for term in chosen if terms[term] is index]
        if mine:
            yield lookup, mine


def _and_exact(found: Found, key: str, store: Store) -> Found:
    topic = 'topic_key : "' + key.replace('"', " ") + '"'
    rows = store.db.execute(_EXACT, {"key": key, "project": store.project_id, "topic": topic})
    exact = frozenset(row[0] for row in rows)
    return Found(
        share=found.share | dict.fromkeys(exact, 1.0),
        bm25=found.bm25,
        whole=found.whole | exact,
        exact=exact,
    )

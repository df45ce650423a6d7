"""The full-text indexes: lookups of terms, whether they agree with their tables, rebuilding."""

from __future__ import annotations

from ademem.core import regex
from ademem.core.json_text import array
from ademem.core.value import StrEnum, Value
from ademem.store.database import is_locked

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping

    from ademem.store import Store

INDEXES = ("unified_memories_fts", "unified_memories_trigram", "prompts_fts", "adopted_fts")


class Index(StrEnum):
    WORDS = "words"
    GRAMS = "grams"
    ROWS = "rows"
    """No index: one or two characters of a script written without blanks."""


class _Lookup(Value):
    found: str
    """Table and condition of the rows with the term `term.value`."""
    rows: str
    """Query for the rows with each of a JSON list of terms, and their BM25."""


def _match(table: str, weights: str) -> _Lookup:
    return _Lookup(
        found=f"{table} where {table} match term.value",
        rows=f"select term.key, found.rowid, -bm25({table}, {weights}) from json_each(?) as term"
        f" cross join {table} as found where found.{table} match term.value",
    )


_CONTAINS = (
    "unified_memories as memory where memory.deleted_at is null"
    " and (instr(memory.content, term.value) or instr(memory.title, term.value))"
)
_LOOKUPS = {
    # title, content, tags, path, topic, words of identifiers, occasions
    Index.WORDS: _match("unified_memories_fts", "5, 1, 2, 1, 3, 1, 1"),
    Index.GRAMS: _match("unified_memories_trigram", "5, 1, 1"),  # title, content, occasions
    Index.ROWS: _Lookup(
        found=_CONTAINS,
        rows=f"select term.key, memory.seq, 0.0 from json_each(?) as term cross join {_CONTAINS}",
    ),
}

_NAMED = """
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


def count_rows(store: Store, terms: Mapping[str, Index], most: int = -1) -> dict[str, int]:
    counts: dict[str, int] = {}
    for lookup, mine in _by_index(terms, terms):
        found = lookup.found if most < 0 else f"(select 1 from {lookup.found} limit {most})"
        query = f"select (select count(*) from {found}) from json_each(?) as term"
        rows = store.db.execute(query, (array(mine),))
        counts |= zip(mine, (row[0] for row in rows), strict=True)
    return counts


def postings(
    store: Store, chosen: Iterable[str], terms: Mapping[str, Index]
) -> Iterator[tuple[list[str], Iterable[tuple[int, int, float]]]]:
    """For each index its terms, and rows of a term's place in them, a memory and its BM25."""
    for lookup, mine in _by_index(chosen, terms):
        rows = store.db.execute(lookup.rows, (array(mine),))
        rows.row_factory = None  # plain tuples, as they are many
        yield mine, rows


def find_matched_words(
    store: Store, terms: Mapping[str, Index], seqs: Iterable[int]
) -> frozenset[str]:
    words = [term for term, index in terms.items() if index is Index.WORDS]
    if not words:
        return frozenset()
    marked = [f"highlight(unified_memories_fts, {at}, char(2), char(3))" for at in range(2)]
    rows = store.db.execute(
        f"select {', '.join(marked)} from unified_memories_fts"
        " where unified_memories_fts match ? and rowid in (select value from json_each(?))",
        (" OR ".join(words), array(seqs)),
    )
    return frozenset(word for row in rows for text in row for word in _marked_words(text or ""))


def _marked_words(text: str) -> Iterator[str]:
    for part in regex.findall("\x02([^\x03]+)\x03", text):
        yield from map(str.casefold, regex.findall(r"\w+", part))


def read_texts(store: Store, seqs: Iterable[int]) -> list[tuple[int, str, str]]:
    """Return number, content and occasions of rows, in the order of *seqs*."""
    from ademem.core import anchor
    from ademem.core.json_text import loads

    rows = store.tuples(
        "select memory.seq, memory.content, memory.anchors from json_each(?) as asked"
        " cross join unified_memories as memory on memory.seq = asked.value",
        (array(seqs),),
    )
    return [(seq, text, " ".join(anchor.occasions(loads(anchors)))) for seq, text, anchors in rows]


MOST_TEXTS = 500


def vocabulary(store: Store, beginning: str) -> list[str]:
    try:
        store.db.execute(
            "create virtual table if not exists temp.stems"
            " using fts5vocab(main, unified_memories_fts, row)"
        )
    except store.db.OperationalError:  # this connection may not even do that
        return []
    query = "select term from temp.stems where term >= ? and term < ? order by doc desc"
    return store.column(query, (beginning, beginning + "\U0010ffff"))


def texts_with_initials(store: Store, letters: str) -> list[str]:
    near = " ".join(f'"{letter}" *' for letter in letters)
    return store.column(
        "select memory.content from unified_memories_fts as found"
        " join unified_memories as memory on memory.seq = found.rowid"
        " where unified_memories_fts match ? limit ?",
        (f"content : NEAR({near}, {len(letters)})", MOST_TEXTS),
    )


def _by_index(
    chosen: Iterable[str], terms: Mapping[str, Index]
) -> Iterator[tuple[_Lookup, list[str]]]:
    chosen = list(chosen)
    for index, lookup in _LOOKUPS.items():
        mine = [term for term in chosen if terms[term] is index]
        if mine:
            yield lookup, mine


def count_undeleted(store: Store) -> int:
    return store.number("select count(*) from unified_memories_fts_docsize")


def find_named_rows(store: Store, key: str) -> frozenset[int]:
    topic = 'topic_key : "' + key.replace('"', " ") + '"'
    rows = store.db.execute(_NAMED, {"key": key, "project": store.project_id, "topic": topic})
    return frozenset(row[0] for row in rows)


def present(db: sqlite3.Connection) -> list[str]:
    names = {row[0] for row in db.execute("select name from sqlite_master where type = 'table'")}
    return [index for index in INDEXES if index in names]


def find_broken(store: Store) -> list[str]:
    """Raises sqlite3.Error if the database is locked."""
    import sqlite3  # which loads datetime

    db, broken = store.db, []
    for index in INDEXES:
        try:
            db.execute(f"insert into {index}({index}) values ('integrity-check')")
        except sqlite3.DatabaseError as error:
            if is_locked(error):
                raise
            broken.append(index)
            continue
        indexed = db.execute(f"select count(*) from {index}_docsize").fetchone()[0]
        if indexed != db.execute(f"select count(*) {_rows_sql(db, index)}").fetchone()[0]:
            broken.append(index)
    return broken


def rebuild(store: Store, index: str) -> None:
    """Index the rows that are not deleted; SQLite's own rebuild would include deleted rows."""
    with store.transaction() as db:
        fill(db, index)


def fill(db: sqlite3.Connection, index: str) -> None:
    """`rebuild` in the caller's transaction, for an index of any version."""
    columns = ", ".join(row[1] for row in db.execute(f"pragma table_info({index})"))
    db.execute(f"insert into {index}({index}) values ('delete-all')")
    db.execute(
        f"insert into {index}(rowid, {columns}) select seq, {columns} {_rows_sql(db, index)}"
    )


_OF_MEMORIES = ("indexed_memories", "unified_memories_fts", "unified_memories_trigram")
_TRIGGERS = "unified_memories_fts_"


def is_outdated(store: Store) -> bool:
    """Tell whether the indexes of memories are those of an earlier checkout, without occasions."""
    query = "select count(*) from pragma_table_info(?) where name = 'occasions'"
    return not all(store.number(query, (name,)) for name in _OF_MEMORIES)


def renew(store: Store) -> None:
    """Make the indexes of memories, their view and triggers as the schema has them; fill them."""
    from ademem.store.inspection import read_shipped_schema

    shipped = [
        (kind, name, sql)
        for kind, name, _, sql in read_shipped_schema()
        if name in _OF_MEMORIES or (kind == "trigger" and name.startswith(_TRIGGERS))
    ]
    with store.transaction() as db:
        for kind, name, _ in shipped:
            db.execute(f"drop {kind} if exists {name}")
        for _, _, sql in sorted(shipped, key=lambda each: each[0] == "trigger"):
            db.execute(sql)
        for name in _OF_MEMORIES[1:]:
            fill(db, name)


def _rows_sql(db: sqlite3.Connection, index: str) -> str:
    query = "select sql from sqlite_master where name = ?"
    (definition,) = db.execute(query, (index,)).fetchone()
    table = regex.findall(r"content='(\w+)'", definition)[0]
    names = {row[1] for row in db.execute(f"pragma table_info({table})")}
    return f"from {table} where deleted_at is null" if "deleted_at" in names else f"from {table}"


def check_fts5() -> None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("create virtual table t using fts5(x, tokenize='trigram')")

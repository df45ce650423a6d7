"""Which words are in which rows, by FTS5's own reading of the texts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import chain
from threading import local

import numpy as np

from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from ademem.store import search_files

FIELDS = {"title": 5, "content": 1, "tags": 2, "file_scope_pattern": 1, "topic_key": 3}
"""What an occurrence in each column of the index counts."""
TOKENIZE = "porter unicode61 remove_diacritics 2"
TABLE = "unified_memories_fts"
"""What has these fields and reads them so."""
MOST = 65535
"""Occurrences of one word in one row beyond which they are not told apart."""
LONGEST = 1 << 15
"""Bytes of a word beyond which FTS5 cuts it."""
_CHUNK = 1 << 20
"""Occurrences that are read at once."""


class Postings(Value):
    """For each word, in the order of its bytes, the rows that have it, ascending, and how often."""

    text: NDArray[np.uint8]
    """All words, joined."""
    text_ends: NDArray[np.int64]
    ends: NDArray[np.int64]
    """Where the rows of each word end."""
    rows: NDArray[np.int32]
    counts: NDArray[np.uint16]
    """Weighted by field."""
    lengths: NDArray[np.int32]
    """Words of each row, repetitions too."""


class Reader:
    """Reads a few words, or texts, as the store's index would."""

    def __init__(self) -> None:
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.db.execute(_scratch("asked", "word"))
        self.db.execute("create virtual table asked_at using fts5vocab(asked, instance)")

    def words(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """The words of each text in their order, stemmed; none where nothing can be looked for."""
        self.db.execute("begin")
        try:
            self.db.executemany("insert into asked(rowid, word) values (?, ?)", enumerate(texts))
            rows = self.db.execute('select doc, term from asked_at order by "offset"').fetchall()
        finally:
            self.db.execute("rollback")
        spelled: list[list[str]] = [[] for _ in texts]
        for place, word in rows:
            spelled[place].append(word)
        return [tuple(words) for words in spelled]


_mine = local()


def reader() -> Reader:
    """The reader of this thread."""
    try:
        found: Reader = _mine.reader
    except AttributeError:
        found = _mine.reader = Reader()
    return found


def of_store(db: sqlite3.Connection, seqs: NDArray[np.int64]) -> Postings:
    """The words of all rows; *seqs* says which row of the store is row 0, 1, … of the result."""
    for kind in ("row", "instance"):
        db.execute(f"drop table if exists temp.words_{kind}")
        db.execute(f"create virtual table temp.words_{kind} using fts5vocab(main, {TABLE}, {kind})")
    return _read(db, "temp.words_row", "temp.words_instance", seqs)


def of_rows(rows: Iterable[search_files.Row], seqs: NDArray[np.int64]) -> Postings:
    """The same of a few rows that are at hand."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.execute(_scratch("texts", *FIELDS))
        db.execute("begin")
        db.executemany(
            "insert into texts(rowid, title, content, tags, file_scope_pattern, topic_key)"
            " values (?, ?, ?, ?, ?, ?)",
            ((row.seq, *row.texts) for row in rows),
        )
        db.execute("commit")
        for kind in ("row", "instance"):
            db.execute(f"create virtual table words_{kind} using fts5vocab(texts, {kind})")
        return _read(db, "words_row", "words_instance", seqs)


def _scratch(table: str, *columns: str) -> str:
    return (
        f"create virtual table {table} using fts5"
        f"({', '.join(columns)}, content='', tokenize='{TOKENIZE}')"
    )


def _read(
    db: sqlite3.Connection, words: str, occurrences: str, seqs: NDArray[np.int64]
) -> Postings:
    # As bytes: FTS5 cuts a word of more than LONGEST anywhere.
    found = db.execute(f"select cast(term as blob), cnt from {words}").fetchall()
    occurs = np.fromiter((row[1] for row in found), np.int64, len(found))
    lengths = np.zeros(len(seqs), np.int64)
    holders = np.zeros(len(found), np.int64)
    rows: list[NDArray[np.int32]] = [np.empty(0, np.int32)]
    counts: list[NDArray[np.uint16]] = [np.empty(0, np.uint16)]
    for word, row, count, length in _held(_occurrences(db, occurrences, occurs), seqs):
        lengths += np.bincount(row, length, len(seqs)).astype(np.int64)
        holders += np.bincount(word, minlength=len(found))
        rows.append(row.astype(np.int32))
        counts.append(np.minimum(count, MOST).astype(np.uint16))
    encoded = [row[0] for row in found]
    return Postings(
        text=np.frombuffer(b"".join(encoded), np.uint8),
        text_ends=np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded))),
        ends=np.cumsum(holders),
        rows=np.concatenate(rows),
        counts=np.concatenate(counts),
        lengths=lengths.astype(np.int32),
    )


def _occurrences(
    db: sqlite3.Connection, table: str, occurs: NDArray[np.int64]
) -> Iterator[NDArray[np.int64]]:
    """Word, `seq` and weight of every occurrence, by word and then `seq`, in chunks.

    A chunk ends anywhere.
    """
    weights = " ".join(f"when '{name}' then {weight}" for name, weight in FIELDS.items())
    cursor = db.execute(f"select doc * 16 + case col {weights} end from {table}")
    values = chain.from_iterable(cursor)
    ends = np.cumsum(occurs)
    total = int(ends[-1]) if len(ends) else 0
    for start in range(0, total, _CHUNK):
        size = min(_CHUNK, total - start)
        both = np.fromiter(values, np.int64, size)
        word = np.searchsorted(ends, np.arange(start, start + size), side="right")
        yield np.stack((word, both >> 4, both & 15))


def _held(
    chunks: Iterable[NDArray[np.int64]], seqs: NDArray[np.int64]
) -> Iterator[tuple[NDArray[Any], ...]]:
    """Word, row, weighted count and plain count of every word in every row."""
    rest = np.empty((3, 0), np.int64)
    for chunk in chunks:
        both = np.concatenate((rest, chunk), axis=1)
        last = int(np.flatnonzero(_differs(both))[-1])  # its row may go on in the next chunk
        yield _summed(both[:, :last], seqs)
        rest = both[:, last:]
    yield _summed(rest, seqs)


def _differs(chunk: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where another word or another row begins."""
    new = np.ones(chunk.shape[1], bool)
    new[1:] = (chunk[0, 1:] != chunk[0, :-1]) | (chunk[1, 1:] != chunk[1, :-1])
    return new


def _summed(chunk: NDArray[np.int64], seqs: NDArray[np.int64]) -> tuple[NDArray[Any], ...]:
    starts = np.flatnonzero(_differs(chunk)) if chunk.shape[1] else np.empty(0, np.int64)
    word, seq = chunk[0, starts], chunk[1, starts]
    row = np.searchsorted(seqs, seq)
    weighted = np.add.reduceat(chunk[2], starts) if len(starts) else starts
    plain = np.diff(np.append(starts, chunk.shape[1]))
    known = row < len(seqs)
    known[known] = seqs[row[known]] == seq[known]
    return word[known], row[known], weighted[known], plain[known]

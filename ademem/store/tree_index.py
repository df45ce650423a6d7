"""The index of the files that git tracks, `.ade/run/tree.db`: paths, definitions and words."""

from __future__ import annotations

from ademem.core.value import Value
from ademem.store.database import DECODE, sqlite3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SCHEMA = (
    "create table state (commit_id text not null)",
    """create table files (
      id integer primary key autoincrement,
      path text not null unique,
      name text not null,  -- last part of the path, in lower case
      stem text not null  -- the name up to its first dot
    )""",
    "create index files_by_name on files (name)",
    "create index files_by_stem on files (stem)",
    "create table folders (path text primary key, name text not null) without rowid",
    "create index folders_by_name on folders (name)",
    """create table definitions (
      name text not null,
      file_id integer not null,
      primary key (name, file_id)
    ) without rowid""",
    "create index definitions_by_file on definitions (file_id)",
    """create table renames (
      id integer primary key,
      before text not null,
      after text not null
    )""",
    "create index renames_by_path on renames (before)",
    "create virtual table words using fts5("
    "path, names, body, content='', tokenize='porter unicode61')",
)
VERSION = 1
WEIGHTS = (8.0, 2.0, 4.0)
"""Weights of the columns of `words` in BM25.

With them the file that a memory is about was the first for 21 of 55 memories without a name, about
three packages, and among the first three for 35; with a weight of 1 for the body for 11 and 24.
"""
MOST_RENAMES = 5000
WAIT_S = 1.0
_HIGHEST = "\U0010ffff"

Error = sqlite3.Error


class IndexedFile(Value):
    path: str
    path_words: str = ""
    names: Sequence[str] = ()
    """What it defines."""
    headings: str = ""
    """Headings, and the words of its definitions."""
    body: str = ""


class Tree:
    """An open index. Paths are relative to the project, with `/` between folders."""

    def __init__(self, path: str, root: str = "", *, writable: bool = False) -> None:
        """Open the index at *path*, ":memory:" for one of its own; raises sqlite3.Error.

        *root* is the folder of the project; below it untracked files are looked for.
        """
        self.root = root
        self._db = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None)
        try:
            self._db.text_factory = DECODE
            self._db.execute("pragma trusted_schema = off")
            if writable:
                self._prepare()
            elif not self._is_current():
                raise sqlite3.DatabaseError("an index of another version")
            else:
                self._db.execute("pragma query_only = on")
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        self._db.close()

    @property
    def commit(self) -> str:
        """The commit that is indexed; empty for none."""
        row = self._db.execute("select commit_id from state").fetchone()
        return str(row[0]) if row else ""

    @property
    def count(self) -> int:
        return self._number("select count(*) from files")

    def paths(self) -> list[str]:
        return self._column("select path from files order by path")

    def has_file(self, path: str) -> bool:
        return bool(self._number("select count(*) from files where path = ?", path))

    def has_folder(self, path: str) -> bool:
        return bool(self._number("select count(*) from folders where path = ?", path))

    def files_ending(self, path: str, most: int = 4) -> list[str]:
        """Return the file of this path, else those whose paths end with it."""
        if self.has_file(path):
            return [path]
        return self._column(
            "select path from files where name = ? and path like ? escape '\\'"
            " order by path limit ?",
            *(path.rpartition("/")[2].lower(), f"%/{_escaped(path)}", most),
        )

    def folders_ending(self, path: str, most: int = 4) -> list[str]:
        """Return the folder of this path, else those whose paths end with it."""
        if self.has_folder(path):
            return [path]
        return self._column(
            "select path from folders where name = ? and path like ? escape '\\'"
            " order by path limit ?",
            *(path.rpartition("/")[2].lower(), f"%/{_escaped(path)}", most),
        )

    def files_of_stem(self, stem: str, most: int = 4) -> list[str]:
        query = "select path from files where stem = ? order by path limit ?"
        return self._column(query, stem.lower(), most)

    def files_defining(self, name: str, most: int = 4) -> list[str]:
        return self._column(
            "select path from definitions join files on files.id = file_id"
            " where definitions.name = ? order by path limit ?",
            *(name, most),
        )

    def count_below(self, folder: str) -> int:
        query = "select count(*) from files where path > ? and path < ?"
        return self._number(query, f"{folder}/", f"{folder}/{_HIGHEST}")

    def count_matching(self, globs: Iterable[str]) -> int:
        """Count the files that match one of the globs, as SQLite reads them."""
        patterns = list(globs)
        if not patterns:
            return 0
        where = " or ".join(["path glob ?"] * len(patterns))
        return self._number(f"select count(*) from files where {where}", *patterns)

    def count_holding(self, words: Sequence[str]) -> int:
        """Count the files that hold all these words."""
        if not words:
            return 0
        query = "select count(*) from words where words match ?"
        return self._number(query, " AND ".join(map(_quoted, words)))

    def renamed(self, path: str) -> str:
        """Return the last name of a file that git renamed; empty if it has none."""
        seen = {path}
        while not self.has_file(path):
            query = "select after from renames where before = ? order by id desc limit 1"
            row = self._db.execute(query, (path,)).fetchone()
            if row is None or row[0] in seen:
                return ""
            path = str(row[0])
            seen.add(path)
        return path

    def renamed_below(self, folder: str) -> list[tuple[str, str]]:
        """Return the renames of files in a folder, old and new path, the newest first."""
        rows = self._db.execute(
            "select before, after from renames where before > ? and before < ? order by id desc",
            (f"{folder}/", f"{folder}/{_HIGHEST}"),
        )
        return [(str(before), str(after)) for before, after in rows]

    def search(self, words: Iterable[str], most: int) -> list[tuple[str, float]]:
        """Return the files that hold one of the words with their BM25 score, best first."""
        terms = " OR ".join(map(_quoted, words))
        if not terms:
            return []
        rows = self._db.execute(
            "select path, -score from (select rowid, bm25(words, ?, ?, ?) as score from words"
            " where words match ? order by score limit ?) as found"
            " join files on files.id = found.rowid order by score",
            (*WEIGHTS, terms, most),
        )
        return [(str(path), float(score)) for path, score in rows]

    def store(
        self,
        commit: str,
        changed: Iterable[IndexedFile],
        removed: Iterable[str] = (),
        renames: Iterable[tuple[str, str]] = (),
    ) -> None:
        """Replace the *changed* files, forget the *removed*, and note the commit."""
        self._db.execute("begin immediate")
        try:
            for path in removed:
                self._forget(path)
            for file in changed:
                self._forget(file.path)
                self._add(file)
            self.add_renames(renames)
            self._store_folders()
            self._db.execute("delete from state")
            self._db.execute("insert into state values (?)", (commit,))
            self._db.execute("commit")
        except BaseException:
            self._db.execute("rollback")
            raise

    def add_renames(self, renames: Iterable[tuple[str, str]]) -> None:
        """Note renames, old and new path, the oldest first."""
        self._db.executemany("insert into renames (before, after) values (?, ?)", renames)
        self._db.execute(
            "delete from renames where id <= (select max(id) from renames) - ?", (MOST_RENAMES,)
        )

    def clear(self) -> None:
        """Forget all files, and keep the renames."""
        self._db.execute("begin immediate")
        for table in ("state", "files", "folders", "definitions"):
            self._db.execute(f"delete from {table}")
        self._db.execute("insert into words (words) values ('delete-all')")
        self._db.execute("commit")

    @property
    def waste(self) -> float:
        """Share of the rows of words whose files have changed since or are gone."""
        rows = self._number("select count(*) from words_docsize")
        return 1 - self.count / rows if rows else 0.0

    def _forget(self, path: str) -> None:
        """Leave the words of the file behind: an index without its texts cannot delete them."""
        row = self._db.execute("select id from files where path = ?", (path,)).fetchone()
        if row:
            self._db.execute("delete from definitions where file_id = ?", row)
            self._db.execute("delete from files where id = ?", row)

    def _add(self, file: IndexedFile) -> None:
        name = file.path.rpartition("/")[2].lower()
        stem = name.lstrip(".").partition(".")[0]
        made = self._db.execute(
            "insert into files (path, name, stem) values (?, ?, ?)", (file.path, name, stem)
        )
        number = made.lastrowid
        self._db.executemany(
            "insert or ignore into definitions values (?, ?)",
            [(each, number) for each in file.names],
        )
        self._db.execute(
            "insert into words (rowid, path, names, body) values (?, ?, ?, ?)",
            (number, file.path_words, file.headings, file.body),
        )

    def _store_folders(self) -> None:
        folders = set()
        for path in self.paths():
            folder = path.rpartition("/")[0]
            while folder and folder not in folders:
                folders.add(folder)
                folder = folder.rpartition("/")[0]
        self._db.execute("delete from folders")
        rows = [(each, each.rpartition("/")[2].lower()) for each in sorted(folders)]
        self._db.executemany("insert into folders values (?, ?)", rows)

    def _prepare(self) -> None:
        self._db.execute("pragma synchronous = off")
        self._db.execute("pragma journal_mode = wal")
        if self._is_current():
            return
        if self._number("select count(*) from sqlite_schema"):
            raise sqlite3.DatabaseError("not an index of ours")
        self._db.execute("begin immediate")
        for statement in _SCHEMA:
            self._db.execute(statement)
        self._db.execute(f"pragma user_version = {VERSION}")
        self._db.execute("commit")

    def _is_current(self) -> bool:
        """Compare the schema, as a stranger's file may hold triggers and views."""
        version = self._number("pragma user_version")
        found = self._column(
            "select sql from sqlite_schema where sql is not null and name not like 'sqlite\\_%'"
            " escape '\\' and not (type = 'table' and name like 'words\\_%' escape '\\')"
            " order by rowid"
        )
        return version == VERSION and found == [_stored(sql) for sql in _SCHEMA]

    def _number(self, query: str, *values: object) -> int:
        return int(self._db.execute(query, values).fetchone()[0])

    def _column(self, query: str, *values: object) -> list[str]:
        return [str(row[0]) for row in self._db.execute(query, values)]


def _stored(statement: str) -> str:
    """Return a statement as SQLite keeps it in its schema."""
    for kind in ("create table", "create index", "create virtual table"):
        if statement.startswith(kind):
            return kind.upper() + statement[len(kind) :]
    return statement


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _quoted(word: str) -> str:
    return f'"{word.replace(chr(34), " ")}"'

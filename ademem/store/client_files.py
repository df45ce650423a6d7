"""Files of the client's own memory, and the memories that they are linked to."""

from __future__ import annotations

from ademem.core.json_text import array
from ademem.core.value import StrEnum, Value, as_dict
from ademem.store.database import set_value, upsert, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.store import Store

PERSONAL = "user"
"""Kind of a file whose memory is in the person's own store."""
_KEPT = "client_files_kept"
_CHANGING = "('edit', 'revise', 'merge', 'archive', 'reject', 'delete', 'supersede', 'undo')"


class Link(StrEnum):
    NONE = "none"
    NOTE = "note"
    """The memory came from the file."""
    COPY = "copy"
    """The file repeats what the person had said."""
    OTHER = "other"
    """The file says otherwise than what a person confirmed, or may do so."""


class ClientFile(Value):
    folder: str
    path: str
    """Path below the folder, or `MEMORY.md#…` for an entry of the index."""
    digest: str = ""
    stat: str = ""
    """Size and time of the last change; empty for an entry."""
    kind: str = ""
    memory_id: str | None = None
    link: str = Link.NONE
    revision: int = 0
    """Revision of the memory at which it and the file said the same."""

    @property
    def place(self) -> str:
        return f"{self.folder}/{self.path.partition('#')[0]}"


def list_of(store: Store, folder: str) -> dict[str, ClientFile]:
    """Return the files of a folder by path."""
    query = "select * from client_file where folder = ? order by path"
    found = (ClientFile(**row) for row in store.dicts(query, (folder,)))
    return {each.path: each for each in found}


def has_any(store: Store) -> bool:
    return store.has_row("select 1 from client_file limit 1")


def put(store: Store, file: ClientFile) -> None:
    upsert(store.db, "client_file", as_dict(file), ["folder", "path"])


def remove(store: Store, file: ClientFile) -> None:
    query = "delete from client_file where folder = ? and path = ?"
    store.db.execute(query, (file.folder, file.path))


def list_linked(store: Store) -> list[ClientFile]:
    query = "select * from client_file where memory_id is not null order by folder, path"
    return [ClientFile(**row) for row in store.dicts(query)]


def changed_by_person(store: Store, files: Iterable[ClientFile]) -> dict[str, int]:
    """Return memories of this store that a person changed since, with the last such revision."""
    since = {file.memory_id: file.revision for file in files if file.memory_id}
    rows = store.tuples(
        "select memory_id, max(revision) from memory_revisions"
        f" where memory_id in (select value from json_each(?)) and operation in {_CHANGING}"
        " and actor = 'user' group by memory_id",
        (array(since),),
    )
    return {id: revision for id, revision in rows if revision > since[id]}


def content_at(store: Store, memory_id: str, revision: int) -> str:
    """Return the text that a memory had; empty where the history does not tell."""
    query = (
        "select json_extract(snapshot, '$.content') from memory_revisions"
        " where memory_id = ? and revision <= ? order by revision desc limit 1"
    )
    return store.first(query, (memory_id, revision), "")


def note_kept(store: Store, folder: str, missing: int) -> None:
    """Note how many files of a folder are gone at once, whose memories were kept."""
    name = f"{_KEPT}/{folder}"
    if value(store.db, name) == (str(missing) if missing else ""):
        return
    if missing:
        set_value(store.db, name, str(missing))
    else:
        store.db.execute("delete from store_values where name = ?", (name,))


def list_kept(store: Store) -> list[tuple[str, int]]:
    """Return the folders of which much is gone, and how many files each."""
    rows = store.tuples(
        "select name, value from store_values where name glob ? order by name", (f"{_KEPT}/*",)
    )
    return [(name.partition("/")[2], int(missing)) for name, missing in rows]

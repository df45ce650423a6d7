"""Files of the client's own memory, and the memories that they are linked to."""

from __future__ import annotations

from ademem.core.json_text import array, flat
from ademem.core.value import StrEnum, Value, as_dict
from ademem.store.database import set_value, upsert, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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


def linked_ids(store: Store, folders: Iterable[str]) -> frozenset[str]:
    """Return the ids of memories of which a file in these folders says the same."""
    query = (
        "select distinct memory_id from client_file where memory_id is not null"
        " and link in ('note', 'copy') and folder in (select value from json_each(?))"
    )
    return frozenset(store.column(query, (array(folders),)))


def revisions_by_memory(store: Store) -> dict[str, int]:
    """Return the revision of each linked memory at which its file said the same."""
    query = (
        "select memory_id, max(revision) from client_file"
        " where memory_id is not null group by memory_id"
    )
    return store.pairs(query)


def changed_by_person(store: Store, since: Mapping[str, int]) -> dict[str, int]:
    """Return memories of this store that a person changed since, with the last such revision."""
    return store.pairs(
        "select memory_id, max(revision) from json_each(?) as file"
        " cross join memory_revisions on memory_id = file.key and revision > file.value"
        f" where operation in {_CHANGING} and actor = 'user' group by memory_id",
        (flat(since),),
    )


def missing_ids(store: Store) -> list[str]:
    """Return linked memories that were deleted for good; the person's own may be elsewhere."""
    return store.column(
        "select distinct memory_id from client_file where memory_id is not null and kind <> ?"
        " and not exists (select 1 from main.unified_memories where id = memory_id)",
        (PERSONAL,),
    )


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

"""knowledge.jsonl: the lines Beads reads, with our fields behind them, as records and as text."""

from __future__ import annotations

from ademem.core import anchor, clock, record_json, regex
from ademem.core.json_text import compact, loads
from ademem.core.memory import Status, Trust
from ademem.core.registers import (
    ARCHIVED,
    FIELDS,
    LIFE,
    LIVE,
    OLD_REPLICA,
    SETS,
    TEXT,
    Record,
    old_stamp,
    replica_of,
    time_of,
)
from ademem.core.text import slug
from ademem.core.value import replace
from ademem.files import ARCHIVE, KNOWLEDGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeVar

    Line = dict[str, Any]
    T = TypeVar("T")

    from ademem.core.registers import Write

TYPES = ("learned", "investigation", "decision", "fact", "pattern", "gotcha", "convention")
"""Kinds of captured sentences; the first tag of a memory names its kind."""

DOUBTFUL = (Trust.TOOL, Trust.WEB)
"""Levels of trust that a file may claim: it can lower trust and never raise it."""

TOMBSTONE = "tombstone"
SAID_AT = "said_at"
"""On a line without stamps: the time of its text, if another field was changed later."""
VALUES = "values"
"""On a line with anchors: the values that the memory depends on, by their places."""

_LINE_BREAKS = str.maketrans({char: f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029"})
_READABLE = (
    *("category", "status", "title", "importance", "confidence", "pinned", "topic_key", "path"),
    "anchors",
)
ROTATE_ABOVE = 1000
"""Live lines above which the oldest half moves to the archive."""
MAX_TOMBSTONES = 1000
"""Tombstones in the archive; older ones are unlikely to matter to an old branch."""
HAD = "had"
"""On a tombstone: values of registers that were written after the memory was made."""
_TOMBSTONE = f'"{TOMBSTONE}"'
_HIDDEN = f'"status":"{ARCHIVED}"'
_ID = regex.compile(r'"id": ?"([\w-]+)", ?"sync_id"')
_KEY = regex.compile(r'\{"key":("[^"\\]*(?:\\.[^"\\]*)*")')
_KEY_BEFORE = '{"key":"'
OWN = "."
"""End of a given key that would else be taken for another: a derived one, or one with an id."""
UNDECIDED = "undecided"
"""Status that an archived memory has when it comes back, in a line that has its text."""


class KnownLine:
    """The line of a live memory as it was rendered before; its record is read if it must change."""

    __slots__ = ("id", "key", "read", "text")

    def __init__(self, id: str, text: str, read: Callable[[], Record | None]) -> None:
        self.id, self.key, self.text, self.read = id, _read_key(text), text, read


def has_line(status: object, key: object) -> bool:
    """Return True for a memory of the project with a line: confirmed, or captured with a key."""
    return status == Status.PROMOTED or key is not None


def render_lines(
    live: Iterable[Record | KnownLine],
    others: Iterable[Record],
    present: Iterable[str] = (),
    note: Callable[[str, str], None] = lambda _id, _text: None,
) -> dict[str, str]:
    """Render the lines, and the archive once there is one; *live* records are oldest first.

    The archive has the oldest lines, and those of the *others*, which are hidden or archived. Of
    its *present* lines, those of tombstones from before there were stamps stay as they are. *note*
    gets the id and the text of each live line that is rendered, if its place follows from the id.
    """
    lines = list(ordered_lines(live, note=note))
    archived, current = rotate(lines, above=ROTATE_ABOVE, by=(ROTATE_ABOVE + 1) // 2)
    rest = list(others)
    hidden = {record.id for record in rest}
    archived = [*archived, *ordered_lines(rest, present, hidden=hidden)]
    files = {KNOWLEDGE: current, ARCHIVE: archived} if archived else {KNOWLEDGE: current}
    return {path: "".join(text for _, text in sorted(lines)) for path, lines in files.items()}


def rotate(lines: Sequence[T], *, above: int, by: int) -> tuple[Sequence[T], Sequence[T]]:
    """Split into archived and live lines: above *above* live ones, the oldest *by* are archived."""
    moved = 0
    while len(lines) - moved > max(0, above):
        moved += max(1, by)
    return lines[:moved], lines[moved:]


def ordered_lines(
    records: Iterable[Record | KnownLine],
    present: Iterable[str] = (),
    *,
    hidden: Container[str] = (),
    note: Callable[[str, str], None] = lambda _id, _text: None,
) -> Iterator[tuple[str, str]]:
    """Yield the place of each line and its text; equal keys are made distinct by the id.

    Live memories that are *hidden*, by their ids, have the text of an elder one.
    """
    keys: set[str] = set()
    old = _old_tombstones(present)
    for each in records:
        if isinstance(each, KnownLine) and each.key not in keys:
            keys.add(each.key)
            yield _place_of_known(each.id), f"{each.text}\n"
        elif record := each.read() if isinstance(each, KnownLine) else each:
            place, line = _place(record), _render_record(record, keys, old, hidden)
            if place == _place_of_known(record.id):
                note(record.id, line.removesuffix("\n"))
            yield place, line


def _render_record(
    record: Record,
    keys: set[str],
    old: Mapping[str, tuple[Write, str]],
    hidden: Container[str],
) -> str:
    write, raw = old.get(record.id, (None, ""))
    if write and write == record.registers.get(LIFE) and _is_tombstone(record):
        return f"{raw}\n"
    key = _key_in_line(record)
    if key in keys:
        key = f"{key}-{record.id}{OWN if record.value('key') else ''}"
    keys.add(key)
    found = to_line(record, key)
    if record.id in hidden and record.life == LIVE:
        found = _as_archived(found, LIVE)
    return render_line(found)


def _old_tombstones(present: Iterable[str]) -> dict[str, tuple[Write, str]]:
    """Return by id the writes of life from before there were stamps, with their lines."""
    return {
        found.id: (found.registers[LIFE], raw)
        for raw, found in read_tombstones(sorted(present))
        if replica_of(found.registers[LIFE][0]) == OLD_REPLICA
    }


def _place(record: Record) -> str:
    """Return the sort key of a line: by id, so that the additions of two people rarely meet.

    Those from before there were stamps come first, in the order that they had.
    """
    is_dead = record.life != LIVE
    at = record.registers[LIFE][0] if is_dead else record.over.get(OLD_REPLICA, "")
    is_old = replica_of(at) == OLD_REPLICA
    time = (time_of(at) if is_dead else record.created_at) if is_old else ""
    return f"{is_dead:d}{not is_old:d}{time}\0{record.id}"  # which sorts faster than a tuple


def _place_of_known(id: str) -> str:
    return f"01\0{id}"


def to_line(record: Record, key: str | None = None) -> dict[str, Any]:
    """Return the object of the memory's line; an archived one is a tombstone, without a text.

    *key* replaces a key that another line has, too. A text that the archiving did not know stays.
    """
    if _is_tombstone(record):
        return _to_tombstone(record)
    values = record_json.to_json(record)
    category, tags = values.get("category"), values["tags"]
    found = _beads_fields(record, key or _key_in_line(record), record.created_at) | {
        "type": tags[0] if tags and tags[0] in TYPES else category,
        "content": values["content"],
        "source": values.get("source"),
        "tags": tags,
        "bead": values.get("bead") or "",
        **_pick(values, _READABLE),
        "anchors": list(anchor.plain(values["anchors"])),
    }
    if places := anchor.values(values["anchors"]):
        found[VALUES] = places
    last = ("trust", "created_at", "updated_at", *(("stamps",) if values["stamps"] else ()))
    found |= _pick(values, last)
    return found if record.life == LIVE else _as_archived(found, record.life)


def _pick(values: Line, names: Iterable[str]) -> Line:
    return {name: values[name] for name in names if name in values}


def _as_archived(line: dict[str, Any], life: str) -> dict[str, Any]:
    """Return the line of a memory that is not shown, and whose text must not get lost."""
    stamps = {"stamps": line["stamps"]} if "stamps" in line else {}
    rest = {name: value for name, value in line.items() if name != "stamps"}
    shown = {"status": ARCHIVED, LIFE: life, UNDECIDED: line.get("status")}
    return rest | shown | stamps


def is_hidden(line: dict[str, Any]) -> bool:
    """Return True for the line of a live memory whose text an elder one has."""
    return UNDECIDED in line and line.get(LIFE) == LIVE


def map_live(lines: Iterable[str]) -> dict[str, str]:
    """Return the lines that show a memory by their ids, without parsing each."""
    shown = (raw for raw in lines if _HIDDEN not in raw)
    return {found[1]: raw for raw in shown if (found := _ID.search(raw))}


def find_id(line: str) -> str:
    found = _ID.search(line)
    return found[1] if found else ""


def _read_key(line: str) -> str:
    end = line.find('"', len(_KEY_BEFORE))
    if end > 0 and line.startswith(_KEY_BEFORE) and "\\" not in line[:end]:
        return line[len(_KEY_BEFORE) : end]
    found = _KEY.match(line)
    quoted = found[1] if found else '""'
    return str(loads(quoted)) if "\\" in quoted else quoted[1:-1]


def without_derived_key(line: str) -> str:
    """Return the line without a key that only repeats words of the rest, as a derived one does."""
    found = _KEY.match(line)
    if found is None:
        return line
    rest = line[found.end() :]
    is_derived = all(word in rest.lower() for word in _read_key(line).split("-"))
    return f'{{"key":""{rest}' if is_derived else line


def has_id_in_key(line: str, id: str) -> bool:
    """Return True for a key that may end with the id as another memory has the same."""
    return _read_key(line).endswith((f"-{id}", f"-{id}{OWN}"))


def read_tombstones(lines: Iterable[str]) -> Iterator[tuple[str, Record]]:
    for raw in filter(is_tombstone_text, lines):
        found = from_line(parse_line(raw))
        if found and found.life != LIVE and not found.texts:
            yield raw, found


def is_tombstone_text(line: str) -> bool:
    """Return True for what may be the line of a tombstone."""
    return _TOMBSTONE in line


def _is_tombstone(record: Record) -> bool:
    """Return True for an archived memory without a text that the archiving did not know.

    Such a text is written even where another write has the same: others may lack that one.
    """
    unseen = (at for at in record.texts if at > record.seen.get(replica_of(at), ""))
    return not record.texts or (record.life != LIVE and not any(unseen))


def from_line(line: Any) -> Record | None:
    """Read the object of a line, whoever wrote it; None if it has no id of a memory."""
    if not isinstance(line, dict) or not record_json.is_id(line.get("id")):
        return None
    life = LIVE
    if UNDECIDED in line:
        life, line = line.get(LIFE, ARCHIVED), line | {"status": line[UNDECIDED]}
    elif line.get("status") == ARCHIVED or line.get("type") == TOMBSTONE:
        return _from_tombstone(line)
    values = line | {LIFE: life, "bead": line.get("bead") or None, "anchors": _anchors(line)}
    if all(isinstance(line.get(name), str) for name in ("category", "content", "key")):
        values["key"] = key_of(line)
    if not isinstance(line.get("stamps"), dict) and isinstance(line.get(SAID_AT), str):
        values["stamps"] = {old_stamp(line[SAID_AT]): [TEXT]}
    return record_json.from_json(values)


def _from_tombstone(line: dict[str, Any]) -> Record | None:
    names = ("id", "sync_id", "created_at", "updated_at", "stamps")
    values = _pick(line, names)
    if isinstance(line.get("stamps"), dict) and isinstance(line.get(HAD), dict):
        values = line[HAD] | values
    return record_json.from_json(values | {LIFE: line.get(LIFE, ARCHIVED)})


def _key_in_line(record: Record) -> str:
    """Return a key from which `key_of` tells whether the memory was given one."""
    key, derived = record.value("key"), _derived_key(record)
    if key:
        return f"{key}{OWN}" if key == derived else str(key)
    return derived if has_line(record.value("status"), None) else f"{derived}-{record.id}"


def _derived_key(record: Record) -> str:
    return derived_key(record.value("category"), record.text[0], record.id)


def newest_dead(given: Iterable[Record], most: int = MAX_TOMBSTONES) -> list[Record]:
    ordered = sorted(given, key=lambda record: (record.registers[LIFE][0], record.id))
    return ordered[max(0, len(ordered) - max(0, most)) :]


def _to_tombstone(record: Record) -> dict[str, Any]:
    later = _writes_behind_first(record)
    values = record_json.to_json(replace(record, texts={}, over={}, registers=later))
    had = {name: values[name] for name in FIELDS if name in later}
    had |= {kind: values[kind] for kind in SETS if values[kind]}
    return {
        **_beads_fields(record, f"gone-{record.id}", values["updated_at"]),
        "status": ARCHIVED,
        **({} if record.life == ARCHIVED else {LIFE: record.life}),
        "created_at": record.created_at,
        "updated_at": values["updated_at"],
        **({HAD: had} if had else {}),
        **({"stamps": values["stamps"]} if values["stamps"] else {}),
    }


def _writes_behind_first(record: Record) -> dict[str, Write]:
    """Return life, and what was written after the memory was made; of one without a text all."""
    first = min((at for at, _ in record.registers.values()), default="")
    return {
        name: write
        for name, write in record.registers.items()
        if name == LIFE or write[0] != first or not record.texts
    }


def _beads_fields(record: Record, key: str, time: str) -> dict[str, Any]:
    found: dict[str, Any] = {"key": key, "type": TOMBSTONE, "content": "", "source": "", "tags": []}
    seconds = int(clock.parse(time).timestamp()) if time else 0
    return found | {"ts": seconds, "bead": "", "id": record.id, "sync_id": record.sync_id}


def _anchors(line: dict[str, Any]) -> Any:
    def is_texts(value: object) -> bool:
        return isinstance(value, list) and all(isinstance(text, str) for text in value)

    found: Any = line.get("anchors")
    if not is_texts(found):
        return []
    if not isinstance(values := line.get(VALUES), dict):
        return found
    texts = {place: tuple(names) for place, names in values.items() if is_texts(names)}
    return list(anchor.with_values(found, texts))


def render_line(found: Line) -> str:
    text = compact(found)
    return text.translate(_LINE_BREAKS) + "\n"


def parse_line(raw: str) -> Line | None:
    """Parse a line; None if it is not an object, or has no content."""
    try:
        found = loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("content"), str):
        return None
    return found if found["content"].strip() or "sync_id" in found else None


def key_of(found: Mapping[str, Any]) -> str | None:
    """Return the key that the memory was given; None for a key derived from its text.

    An older ademem wrote both in one way, and lines of candidates for none but a given key.
    """
    derived, ending = derived_key(found["category"], found["content"], found["id"]), found["id"]
    key = str(found["key"])
    if key == derived and not has_line(found.get("status"), None):
        return key
    if key in (derived, f"{derived}-{ending}"):
        return None
    key = key.removesuffix(f"-{ending}{OWN}")
    return derived if key == f"{derived}{OWN}" else key


def derived_key(category: str | None, content: str, id: str) -> str:
    return f"{category}-{slug(content) or id}"

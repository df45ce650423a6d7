"""Two copies of a memory, and the one rule for what they come to: `join`.

A record is an id, a text and registers, each written under the stamp of its act. Whoever carries
records between stores joins them; the order in which copies meet changes nothing.

The text keeps every write that no later one has replaced, as both of two people may be right. The
greatest stamp is what the memory says, the others are conflict candidates. Each other register,
also each tag and each anchor, is the last value written.

A stamp is a hybrid logical clock, `2026-01-31T23:59:59.123Z-0000-1a2b3c4d`: UTC milliseconds, a
counter, and the replica, which is one database. Stamps are compared as texts.
"""

from __future__ import annotations

from ademem.core import clock
from ademem.core.caching import lru_cache
from ademem.core.text import fold, sha256_hex
from ademem.core.value import Value, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from typing import Any

    Text = tuple[str, str | None]
    """Content and title."""
    Write = tuple[str, Any]
    """A stamp and the value written."""

OLD_REPLICA = "00000000"
"""The replica of all writes from before there were stamps."""
CLOCKS_DIFFER = clock.timedelta(hours=24)
"""The most by which another clock may be ahead to move ours."""
_MOMENT = len("2026-01-31T23:59:59.123Z-0000")
_TIME = len("2026-01-31T23:59:59.123Z")
_DIGITS = str.maketrans("123456789", "000000000")

LIFE = "life"
TEXT = "text"
LIVE, ARCHIVED, REJECTED, DELETED, REMOVED = "live", "archived", "rejected", "deleted", "removed"
"""Values of the register of life, beside `superseded ID`; removed is for good, without text."""
SUPERSEDED = "superseded"
LIVES = (DELETED, REJECTED, ARCHIVED, SUPERSEDED, LIVE)
"""From the least to the most alive, which counts of two written at one moment."""
SETS = ("tags", "anchors")
"""Lists whose elements are registers, `tags/api`, with place and text as value; None if removed."""
FIELDS = tuple(
    "category status importance confidence pinned trust path topic_key key source bead".split()
)


class Commit(Value):
    id: str
    at: datetime


class Record(Value):
    """The state of a memory that its copies share, without registers that were never read.

    Of the texts each stamp is covered by `over`, whose stamps do not exceed the greatest text.
    """

    id: str
    sync_id: str = ""
    created_at: str = ""
    texts: Mapping[str, Text] = {}
    """The heads: texts that no write has replaced, by stamp."""
    over: Mapping[str, str] = {}
    """The last write of each replica to the text that is contained or replaced here."""
    seen: Mapping[str, str] = {}
    """The same of the texts that the write of life knew, if it ended the memory."""
    registers: Mapping[str, Write] = {}

    @property
    def text(self) -> Text:
        return self.texts[max(self.texts)] if self.texts else ("", None)

    @property
    def life(self) -> str:
        return str(self.value(LIFE) or LIVE)

    @property
    def last_stamp(self) -> str:
        return max([*self.texts, *(write[0] for write in self.registers.values())], default="")

    def value(self, name: str) -> Any:
        return self.registers[name][1] if name in self.registers else None

    def items(self, kind: str) -> tuple[str, ...]:
        start = kind + "/"
        found = (
            value for name, (_, value) in self.registers.items() if value and name.startswith(start)
        )
        return tuple(text for _, text in sorted(found))


def join(ours: Record, theirs: Record) -> Record:
    """Return what both copies of one memory come to: commutative, associative and idempotent."""
    registers = dict(ours.registers)
    for name, write in theirs.registers.items():
        registers[name] = _later(name, registers[name], write) if name in registers else write
    sync_id = _least(ours.sync_id, theirs.sync_id)
    if registers.get(LIFE, ("", ""))[1] == REMOVED:
        return make_tombstone(ours.id, sync_id, registers[LIFE][0])
    return Record(
        id=ours.id,
        sync_id=sync_id,
        created_at=_least(ours.created_at, theirs.created_at),
        texts=_join_texts(ours, theirs),
        over=latest((*ours.over.values(), *theirs.over.values())),
        seen=latest(
            stamp
            for one in (ours, theirs)
            if one.registers.get(LIFE) == registers.get(LIFE)
            for stamp in one.seen.values()
        ),
        registers=registers,
    )


def _join_texts(ours: Record, theirs: Record) -> dict[str, Text]:
    """Return the texts of both that neither of them contains or replaced, by stamp."""
    texts = {
        at: text for at, text in ours.texts.items() if at in theirs.texts or not covers(theirs, at)
    }
    for at, text in theirs.texts.items():
        if at in texts:
            texts[at] = max(
                texts[at], text, key=lambda text: (text[0], text[1] is not None, text[1] or "")
            )
        elif not covers(ours, at):
            texts[at] = text
    return texts


def make_tombstone(id: str, sync_id: str, stamp: str) -> Record:
    return Record(id=id, sync_id=sync_id, registers={LIFE: (stamp, REMOVED)})


def join_all(*copies: Iterable[Record]) -> dict[str, Record]:
    joined: dict[str, Record] = {}
    for records in copies:
        for record in records:
            earlier = joined.get(record.id)
            joined[record.id] = join(earlier, record) if earlier else record
    return joined


def covers(record: Record, stamp: str) -> bool:
    """Return True if the text written at this stamp is contained or replaced."""
    return stamp <= record.over.get(replica_of(stamp), "")


def has_writes_of(current: Record, record: Record) -> bool:
    return all(covers(current, at) for at in record.texts) and all(
        name in current.registers and at <= current.registers[name][0]
        for name, (at, _) in record.registers.items()
    )


def latest(stamps: Iterable[str]) -> dict[str, str]:
    return {replica_of(stamp): stamp for stamp in sorted(stamps)}


def _later(name: str, ours: Write, theirs: Write) -> Write:
    if name == LIFE:
        return max(ours, theirs, key=_life_order)
    if ours[0] != theirs[0]:
        return max(ours, theirs, key=lambda write: write[0])
    return max(ours, theirs, key=lambda write: (write[1] is not None, repr(write[1])))


def _life_order(write: Write) -> tuple[object, ...]:
    stamp, value = write
    if value == REMOVED:
        return (True, stamp)
    return (False, stamp[:_MOMENT], LIVES.index(value.partition(" ")[0]), stamp, value)


def _least(ours: str, theirs: str) -> str:
    return min(filter(None, (ours, theirs)), default="")


class Candidate(Value):
    id: str
    """Derived from the memory and the text, so that it is the same everywhere."""
    memory_id: str
    stamp: str
    content: str
    title: str | None


def conflict_candidates(record: Record) -> list[Candidate]:
    """Return the heads that say something else, the latest first; if archived, the unseen ones."""
    found: dict[str, Candidate] = {}
    heads = sorted(record.texts, reverse=True)
    seen_heads = heads[:1]
    if record.life != LIVE:
        seen_heads = [stamp for stamp in heads if stamp <= record.seen.get(replica_of(stamp), "")]
    seen_texts = {fold(record.texts[stamp][0]) for stamp in seen_heads}
    for stamp in heads:
        content, title = record.texts[stamp]
        id = candidate_id(record.id, content)
        if fold(content) not in seen_texts and id not in found:
            found[id] = Candidate(
                id=id, memory_id=record.id, stamp=stamp, content=content, title=title
            )
    return list(found.values())


def candidate_id(memory_id: str, content: str, chars: int = 12) -> str:
    return sha256_hex("conflict", memory_id, content)[:chars]


def values_of(record: Record) -> dict[str, Any]:
    found = {name: record.registers[name][1] for name in FIELDS if name in record.registers}
    if record.texts:
        found["content"], found["title"] = record.text
    if LIFE in record.registers:
        found[LIFE] = record.life
    return found | {kind: record.items(kind) for kind in SETS}


def write(
    record: Record, values: Mapping[str, Any], stamp: str, *, confirms: bool = False
) -> Record:
    """Write values that differ; an act that changes the text, or *confirms* it, writes life."""
    life = values.get(LIFE, record.life)
    if REMOVED in (life, record.life):
        return record if life == record.life else make_tombstone(record.id, record.sync_id, stamp)
    registers = {**record.registers, **_written_values(record, values, stamp)}
    text = values.get("content", record.text[0]), values.get("title", record.text[1]) or None
    is_new = _is_new_text(record, text)
    seen = record.seen
    if life != record.life or LIFE not in registers or is_new or confirms:
        registers[LIFE] = (stamp, life)
        seen = all_seen(life, stamp, record.over)
    if not is_new:
        return replace(record, registers=registers, seen=seen)
    over = {**record.over, replica_of(stamp): stamp}
    return replace(record, texts={stamp: text}, over=over, registers=registers, seen=seen)


def _is_new_text(record: Record, text: Text) -> bool:
    return bool(text[0]) and (text != record.text or not record.texts)


def _written_values(record: Record, values: Mapping[str, Any], stamp: str) -> dict[str, Write]:
    """Return writes of the fields, tags and anchors that differ."""
    registers = record.registers
    written: dict[str, Write] = {
        name: (stamp, values[name])
        for name in FIELDS
        if name in values and (name not in registers or values[name] != registers[name][1])
    }
    for kind in SETS:
        if kind in values and tuple(values[kind]) != record.items(kind):
            written |= _written_items(record, kind, values[kind], stamp)
    return written


def all_seen(life: str, stamp: str, over: Mapping[str, str]) -> dict[str, str]:
    """Return what a write of life knew that was made on top of these texts."""
    return {} if life in (LIVE, REMOVED) else latest((*over.values(), stamp))


def changes(before: Record | None, after: Record) -> Record:
    """Return the least record that joined to *before* makes *after*."""
    if before is None or after.life == REMOVED:
        return after
    same_texts = (before.texts, before.over) == (after.texts, after.over)
    registers = {
        name: write
        for name, write in after.registers.items()
        if before.registers.get(name) != write or (name == LIFE and before.seen != after.seen)
    }
    return Record(
        id=after.id,
        sync_id=after.sync_id,
        created_at=after.created_at,
        texts={} if same_texts else after.texts,
        over={} if same_texts else after.over,
        seen=after.seen if LIFE in registers else {},
        registers=registers,
    )


def rewrite(record: Record, change: Callable[[str], str], tick: Callable[[str], str]) -> Record:
    """Return the record with *change* made to all that it says, whatever others make of its life.

    Each text and value that differs is a new write, with what `tick` returns, a stamp greater than
    the given one, and replaces what was there. A tag or an anchor gets the changed name.
    """
    return _rewrite_registers(_rewrite_texts(record, change, tick), change, tick)


def _rewrite_texts(
    record: Record, change: Callable[[str], str], tick: Callable[[str], str]
) -> Record:
    last, texts, seen = record.last_stamp, dict(record.texts), record.seen
    over = dict(record.over)
    # The texts that an archiving knew come first, so that it knows the new ones, and no other.
    for stamp in sorted(texts, key=lambda stamp: (stamp > seen.get(replica_of(stamp), ""), stamp)):
        content, title = texts[stamp]
        text = change(content) or content, (title and change(title)) or None
        if text != texts[stamp]:
            is_seen = stamp <= seen.get(replica_of(stamp), "")
            del texts[stamp]
            last = tick(last)
            texts[last] = text
            over[replica_of(last)] = last
            seen = latest((*seen.values(), last)) if is_seen else seen
    return replace(record, texts=texts, over=over, seen=seen)


def _rewrite_registers(
    record: Record, change: Callable[[str], str], tick: Callable[[str], str]
) -> Record:
    last = record.last_stamp
    registers: dict[str, Write] = {}
    for name, (stamp, value) in sorted(record.registers.items()):
        kind, is_element, rest = name.partition("/")
        if is_element:
            write = stamp, value and (value[0], change(value[1]))
            new = element_of(kind, write[1][1]) if value else f"{kind}/{change(rest)}"
            registers[new] = _later(new, registers.get(new, write), write)
        elif name != LIFE and isinstance(value, str) and change(value) != value:
            last = tick(last)
            registers[name] = (last, change(value))
        else:
            registers[name] = (stamp, value)
    return replace(record, registers=registers)


def _written_items(record: Record, kind: str, texts: Iterable[str], stamp: str) -> dict[str, Write]:
    """Return the elements that an act added, changed or removed; all for a new order of them."""
    wanted = {element_of(kind, text): text for text in texts}
    found: dict[str, Write] = {}
    place = -1
    for name, text in wanted.items():
        old = record.value(name)
        place = max(place + 1, old[0]) if old else place + 1
        if old != (place, text):
            found[name] = (stamp, (place, text))
    for text in record.items(kind):
        if (name := element_of(kind, text)) not in wanted:
            found[name] = (stamp, None)
    return found


def element_of(kind: str, text: str) -> str:
    """Return the register of an element; of an anchor the place counts, not the text there."""
    if kind == "anchors":
        from ademem.core import anchor

        place = anchor.place(text)
        return f"anchors/{place.where if place else text}"
    return f"{kind}/{text}"


def next_stamp(last: str, now: datetime, replica: str) -> str:
    """Return a stamp of this moment that is greater than the *last* one, from whatever clock."""
    moment = clock.stamp(now) + "-0000"
    if last[:_MOMENT] >= moment:
        time, count = last[:_TIME], int(last[_TIME + 1 : _MOMENT]) + 1
        if count > 9999:
            time, count = clock.stamp(clock.parse(time) + clock.timedelta(milliseconds=1)), 0
        moment = f"{time}-{count:04}"
    return f"{moment}-{replica}"


def commit_stamp(last: str, made: Commit, now: datetime, said: str) -> str:
    """Return the stamp of a commit's change, the same in each clone, another for other words."""
    replica = sha256_hex(made.id, said)[: len(OLD_REPLICA)]
    return next_stamp(last, min(made.at, now), replica)


def is_ahead(stamp: str, now: datetime) -> bool:
    return time_of(stamp) > clock.stamp(now + CLOCKS_DIFFER)


def time_of(stamp: str) -> str:
    return stamp[:_TIME]


def replica_of(stamp: str) -> str:
    return stamp[_MOMENT + 1 :]


def old_stamp(time: str) -> str:
    return f"{time}-0000-{OLD_REPLICA}"


FIRST_STAMP = old_stamp("1970-01-01T00:00:00.000Z")


def is_stamp(text: object) -> bool:
    """Return True for a valid stamp; the last years are refused, so that a later one exists."""
    return isinstance(text, str) and len(text) == _MOMENT + 9 and _is_stamp(text)


@lru_cache(maxsize=1024)
def _is_stamp(text: str) -> bool:
    if not text.isascii():
        return False
    shape = text[: _MOMENT + 1].translate(_DIGITS)
    if shape != "0000-00-00T00:00:00.000Z-0000-" or text[_MOMENT + 1 :].strip("0123456789abcdef"):
        return False
    return "1970" <= text < "9990" and as_time(time_of(text)) == time_of(text)


def as_time(found: object) -> str:
    """Return a time as the database has it; empty for none."""
    try:
        return clock.stamp(clock.parse(found)) if isinstance(found, str) else ""
    except (ValueError, OverflowError):
        return ""

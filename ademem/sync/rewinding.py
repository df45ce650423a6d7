"""Lines that changed without a stamp: by git, by an older ademem, or by hand.

Git sets a line back to an earlier state when it reverts a commit, and an older ademem writes no
stamps. Both are read as a write on top of what the line said before.
"""

from __future__ import annotations

from ademem.core.clock import parse
from ademem.core.registers import (
    FIRST_STAMP,
    LIFE,
    OLD_REPLICA,
    Record,
    has_writes_of,
    latest,
    next_stamp,
    replica_of,
    time_of,
    values_of,
    write,
)
from ademem.core.text import sha256_hex
from ademem.core.value import replace


def restamp(before: Record, after: Record) -> Record:
    """Return the later version of a line with stamps for what changed without one.

    These are the same on every machine, and those of different changes are of different replicas.
    """
    if not has_writes_of(before, after) and has_stamps(after):
        return after
    time = time_of(after.last_stamp or FIRST_STAMP)
    replica = sha256_hex("unstamped", repr(values_of(after)))[:8]
    return write_over(before, after, next_stamp(before.last_stamp, parse(time), replica))


def write_over(before: Record, after: Record, stamp: str) -> Record:
    """Return *before* after an act that gave it what *after* says; a tombstone says life alone.

    The act knows the texts that either line has, or whose memory was archived with it.
    """
    seen = (stamp for one in (before, after) for stamp in (*one.over.values(), *one.seen.values()))
    values = values_of(after) if after.texts else {LIFE: after.life}
    found = write(replace(before, over=latest(seen)), values, stamp)
    return found if stamp in found.texts else replace(found, over=before.over)


def has_stamps(record: Record) -> bool:
    """Return True if an ademem that knows stamps wrote the record."""
    stamps = [*record.over.values(), *(at for at, _ in record.registers.values())]
    return any(replica_of(at) != OLD_REPLICA for at in stamps)

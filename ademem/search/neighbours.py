"""What a row's neighbours in its session add: an answer rarely repeats the question before it."""

from __future__ import annotations

from ademem.core.json_text import loads, numbers
from ademem.core.memory import EPISODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ademem.search.candidates import Around
    from ademem.store import Store

DECAY = (1.0, 0.6)
"""What the neighbours at distance 1 and 2 count, where the row itself counts 1."""
REACH = len(DECAY)
NEXT = 1
"""How far from a leader a row may stand to be heard too; by words alone, as far as REACH."""
SATURATION = 0.3
"""How soon a word is held enough: a row that has it gains little from neighbours that do too."""

# An episode has the words of its whole session: it would bring each note what others say.
_SIDE = """
(select json_group_array(near.seq) from (
  select seq from unified_memories
  where source_session_id = memory.source_session_id and deleted_at is null
    and source_type <> '{EPISODE}' and seq {beyond} memory.seq
  order by seq {order} limit :reach) as near)
"""
_LINES = f"""
select memory.seq, {_SIDE.format(beyond="<", order="desc", EPISODE=EPISODE)},
  {_SIDE.format(beyond=">", order="", EPISODE=EPISODE)}
from json_each(:rows) as asked
cross join unified_memories as memory on memory.seq = asked.value
where memory.source_session_id is not null and memory.source_type <> '{EPISODE}'
"""


def around(rows: Iterable[int], store: Store) -> dict[int, Around]:
    """The neighbours of the rows and those of these neighbours; rows of no session have none."""
    found: dict[int, Around] = {}
    values = {"rows": numbers(rows), "reach": 2 * REACH}
    for seq, before, after in store.db.execute(_LINES, values):
        before, after = loads(before), loads(after)
        if not before and not after:
            continue
        line = [*reversed(before), seq, *after]
        at = len(before)
        for place in range(max(0, at - REACH), min(len(line), at + REACH + 1)):
            found[line[place]] = _beside(line, place)
    return found


def _beside(line: Sequence[int], place: int) -> Around:
    """Who stands in the line at distance 1, 2, … of a place."""
    return tuple(
        tuple(line[at] for at in (place - far, place + far) if 0 <= at < len(line))
        for far in range(1, REACH + 1)
    )


def words(
    seq: int,
    near: Around,
    held: Mapping[int, tuple[int, ...]],
    tells: Sequence[float],
) -> float:
    """What of a full answer the row and its neighbours hold; 1 is all of it, more is possible."""
    weight = dict.fromkeys(held.get(seq, ()), 1.0)
    for decay, rows in zip(DECAY, near, strict=False):
        for row in rows:
            for term in held.get(row, ()):
                weight[term] = weight.get(term, 0.0) + decay
    enough = sum(tells[term] * w / (w + SATURATION) for term, w in weight.items())
    return (1 + SATURATION) * enough


def meaning(seq: int, near: Around, cosines: Mapping[int, float]) -> float | None:
    """Mean of the cosines of the row and its neighbours, as far as there are any."""
    total = parts = 0.0
    for decay, rows in zip((1.0, *DECAY), ((seq,), *near), strict=False):
        for row in rows:
            if row in cosines:
                total += decay * cosines[row]
                parts += decay
    return total / parts if parts else None

"""The file with the stored vectors in two dimensions, which `projection` writes.

`.ade/run/map` has a line of JSON, then five columns of all points: row numbers (4 bytes), x and y
(2 bytes each), category and status (1 byte), age in weeks (1 byte), little-endian. Ten bytes a
point are a megabyte for 100,000.
"""

from __future__ import annotations

import json
import os
from array import array

from ademem.core import confined
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ademem.core.project import Project

STATUSES = 4
"""Factor of the category in its byte; the rest is the status."""
MOST_BYTES = 16_000_000
SIDE = 65_536
"""Number of the places on an axis."""

Area = tuple[float, float, float, float]
"""Left, top, right and bottom, each from 0 to 1."""


class Map(Value):
    head: dict[str, Any]
    content: bytes
    """The whole file."""
    rows: Any
    xs: Any
    ys: Any
    kinds: Any

    def count_cells(self, cells: int) -> list[list[int]]:
        """Count points by the rows and columns of a grid."""
        counts = [[0] * cells for _ in range(cells)]
        for x, y in zip(self.xs, self.ys, strict=True):
            counts[y * cells // SIDE][x * cells // SIDE] += 1
        return counts

    def within(self, area: Area) -> list[int]:
        """Return the rows of an area, the newest first."""
        left, top, right, bottom = (part * SIDE for part in area)
        places = zip(self.rows, self.xs, self.ys, strict=True)
        return sorted(
            (row for row, x, y in places if left <= x < right and top <= y < bottom),
            reverse=True,
        )

    def count_categories(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for kind in self.kinds:
            name = self.head["categories"][kind // STATUSES]
            counts[name] = counts.get(name, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: -item[1]))


def path_of(project: Project) -> str:
    return os.path.join(project.home, "run", "map")


def read_map(project: Project) -> Map | None:
    """Return the map as it was last computed; None without one, or where the file is damaged."""
    try:
        content = confined.read_bytes(project.home_root, path_of(project), MOST_BYTES) or b""
        line, _, columns = content.partition(b"\n")
        head = json.loads(line)
        count = int(head["count"])
        parts, at = [], 0
        for code, size in (("I", 4), ("H", 2), ("H", 2), ("B", 1), ("B", 1)):
            column = array(code)
            column.frombytes(columns[at : at + count * size])
            parts.append(column)
            at += count * size
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if at != len(columns) or any(len(part) != count for part in parts):
        return None
    rows, xs, ys, kinds, _ = parts
    return Map(head=head, content=content, rows=rows, xs=xs, ys=ys, kinds=kinds)

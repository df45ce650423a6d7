"""A file with the first two principal components of the stored vectors, for a map of them.

`.ade/run/map` has a line of JSON, then five columns of all points: row numbers (4 bytes), x and y
(2 bytes each), category and status (1 byte), age in weeks (1 byte), little-endian. Ten bytes a
point are a megabyte for 100,000.
"""

from __future__ import annotations

import json
import os
from array import array
from collections import Counter
from datetime import datetime
from typing import Any

from ademem.core import confined
from ademem.core.clock import days_between, parse
from ademem.core.memory import Category, Status
from ademem.core.project import Project
from ademem.core.value import Value
from ademem.store import Store

STATUSES = 4
"""Factor of the category in its byte; the rest is the status."""
MOST_BYTES = 16_000_000
SIDE = 65_536
WEEKS = 255
COLUMNS = (("I", 4), ("H", 2), ("H", 2), ("B", 1), ("B", 1))
"""Type in `array`, and bytes, of a number of each column."""

Area = tuple[float, float, float, float]
"""Left, top, right and bottom, each from 0 to 1."""


class Map(Value):
    head: dict[str, Any]
    content: bytes
    rows: Any
    xs: Any
    ys: Any
    kinds: Any

    def count_cells(self, cells: int) -> list[list[int]]:
        counts = [[0] * cells for _ in range(cells)]
        for x, y in zip(self.xs, self.ys, strict=True):
            counts[y * cells // SIDE][x * cells // SIDE] += 1
        return counts

    def within(self, area: Area) -> list[int]:
        left, top, right, bottom = (part * SIDE for part in area)
        places = zip(self.rows, self.xs, self.ys, strict=True)
        return sorted(
            (row for row, x, y in places if left <= x < right and top <= y < bottom),
            reverse=True,
        )

    def count_categories(self) -> dict[str, int]:
        names = (self.head["categories"][kind // STATUSES] for kind in self.kinds)
        return dict(Counter(names).most_common())


def path_of(project: Project) -> str:
    return os.path.join(project.home, "run", "map")


def write_map(project: Project, store: Store, model: str, now: datetime) -> int:
    """Return the number of points."""
    from ademem.search import dense
    from ademem.store import embeddings

    size = embeddings.dimensions(store, model)
    path = path_of(project)
    if not size:
        confined.remove(project.home_root, path)
        return 0
    vectors = dense.load_vectors(store, model, size)
    facts = {row[0]: row[1:] for row in embeddings.list_mapped(store, model)}
    places = dense.project(vectors.matrix, SIDE).astype(int).tolist()
    every = zip(vectors.rows.tolist(), places, strict=True)
    points = [(row, x, y) for row, (x, y) in every if row in facts]
    categories, statuses = list(Category), list(Status)
    kinds, ages = [], []
    for row, _, _ in points:
        category, status, created_at = facts[row]
        kinds.append(categories.index(category) * STATUSES + statuses.index(status))
        ages.append(min(WEEKS, max(0, int(days_between(parse(created_at), now) // 7))))
    head = {
        "count": len(points),
        "vectors": embeddings.count(store, model),
        "model": model,
        "categories": categories,
        "statuses": statuses,
    }
    content = json.dumps(head).encode() + b"\n"
    rows, xs, ys = zip(*points, strict=True) if points else ((), (), ())
    for (code, _), column in zip(COLUMNS, (rows, xs, ys, kinds, ages), strict=True):
        content += array(code, column).tobytes()
    confined.write_bytes(project.home_root, path, content, mode=0o600)
    return len(points)


def read_map(project: Project) -> Map | None:
    try:
        content = confined.read_bytes(project.home_root, path_of(project), MOST_BYTES) or b""
        line, _, columns = content.partition(b"\n")
        head = json.loads(line)
        count = int(head["count"])
        parts, at = [], 0
        for code, size in COLUMNS:
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

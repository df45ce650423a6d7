"""Write the first two principal components of the stored vectors as a file; see `vector_map`."""

from __future__ import annotations

import json

import numpy as np

from ademem.core import confined
from ademem.core.clock import days_between, parse
from ademem.core.memory import Category, Status
from ademem.search.dense import load_vectors
from ademem.search.vector_map import STATUSES, path_of
from ademem.store import embeddings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from numpy.typing import NDArray

    from ademem.core.project import Project
    from ademem.store import Store

SIDE = 65_535
"""Largest coordinate."""
OUTLIERS = 0.5
"""Percent of points at each end of an axis that are drawn at its border."""
WEEKS = 255


def write_map(project: Project, store: Store, model: str, now: datetime) -> int:
    """Write the map of what has a vector of the model; return the number of points."""
    size = embeddings.dimensions(store, model)
    path = path_of(project)
    if not size:
        confined.remove(project.home_root, path)
        return 0
    vectors = load_vectors(store, model, size)
    facts = {row[0]: row[1:] for row in embeddings.list_mapped(store, model)}
    is_shown = np.array([seq in facts for seq in vectors.rows.tolist()], bool)
    rows = vectors.rows[is_shown]
    points = project_points(vectors.matrix)[is_shown]
    categories, statuses = list(Category), list(Status)
    kinds, ages = [], []
    for seq in rows.tolist():
        category, status, created_at = facts[seq]
        kinds.append(categories.index(category) * STATUSES + statuses.index(status))
        ages.append(min(WEEKS, max(0, int(days_between(parse(created_at), now) // 7))))
    head = {
        "count": len(rows),
        "vectors": embeddings.count(store, model),
        "model": model,
        "categories": categories,
        "statuses": statuses,
    }
    content = json.dumps(head).encode() + b"\n"
    for column, kind in (
        (rows, "<u4"),
        (points[:, 0], "<u2"),
        (points[:, 1], "<u2"),
        (np.array(kinds), "u1"),
        (np.array(ages), "u1"),
    ):
        content += column.astype(kind).tobytes()
    confined.write_bytes(project.home_root, path, content, mode=0o600)
    return len(rows)


def project_points(matrix: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the first two principal components of rows, each from 0 to SIDE.

    The sign of an axis is that of its largest weight, so that the same rows give the same points.
    """
    mean = matrix.mean(axis=0, dtype=np.float64)
    sums = matrix.T @ matrix
    covariance = sums.astype(np.float64) / len(matrix) - np.outer(mean, mean)
    _, axes = np.linalg.eigh(covariance)
    axes = axes[:, :-3:-1]
    largest = np.abs(axes).argmax(axis=0)
    axes = axes * np.sign(axes[largest, range(axes.shape[1])])
    points = matrix @ axes.astype(np.float32) - (mean @ axes)
    low, high = np.percentile(points, [OUTLIERS, 100 - OUTLIERS], axis=0)
    spread = np.maximum(high - low, 1e-9)
    placed: NDArray[np.float64] = np.rint(np.clip((points - low) / spread, 0, 1) * SIDE)
    return placed

"""A linear map that brings questions near the notes that answer them, whatever their languages.

`bench/question_map.py` trained it for the second model, on questions to notes of five authors. The
vectors of memories stay as they are: the question's alone changes.
"""

from __future__ import annotations

import os
from functools import cache

import numpy as np

from ademem.core.value import Value
from ademem.search.embedding.cache import DIMENSIONS, DamagedModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

FILE = os.path.join(os.path.dirname(__file__), "questions.map")
"""Little-endian: the mean question and a step in float32; then what the map adds to the identity,
DIMENSIONS x DIMENSIONS, in int8 and steps."""
SHARE = 0.8
"""Length of what is added to a unit question. What the map finds alone is best across languages,
and the model's own vector where question and memory are both in one that is not English."""


class Map(Value):
    mean: Floats
    """That of the questions it was trained on."""
    moves: Floats

    def aim(self, question: Floats) -> Floats:
        """Return the row whose product with a memory counts their likeness and that of the moved.

        The cosine of two moved rows is (q W) · (m W) / |q W| |m W|. The length of m W is nearly the
        same for all memories, so W (q W) / |q W| is compared with them as they are stored.
        """
        moved = (question - self.mean) @ self.moves
        length = max(float(np.linalg.norm(moved)), 1e-9)
        return np.asarray(question + SHARE * (self.moves @ moved) / length, np.float32)


@cache
def load() -> Map:
    """Raises DamagedModel, for which a search falls back to the first model."""
    try:
        with open(FILE, "rb") as file:
            content = file.read()
        *mean, step = np.frombuffer(content, "<f4", DIMENSIONS + 1)
        steps = np.frombuffer(content, np.int8, offset=4 * (DIMENSIONS + 1))
        moves = np.eye(DIMENSIONS) + steps.reshape(DIMENSIONS, DIMENSIONS) * step
    except (OSError, ValueError) as error:
        raise DamagedModel(f"its map of questions cannot be read: {error}") from error
    return Map(mean=np.array(mean, np.float32), moves=moves.astype(np.float32))

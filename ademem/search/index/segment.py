"""Rows of the store as arrays: their words, their vectors."""

from __future__ import annotations

import re
from bisect import bisect_left

import numpy as np

from ademem.search.index import aim, sketch
from ademem.search.index.file import Damaged
from ademem.search.index.links import NONE
from ademem.search.index.sets import distinct
from ademem.search.index.words import LONGEST, Postings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ademem.search.index.aim import Aim
    from ademem.search.index.file import Arrays
    from ademem.search.whitening import Lens

    Floats = NDArray[np.float32]
    Rows = NDArray[np.int64]

WORDS = Postings._fields
COLUMNS = ("seqs", "standing", "turns", "vectors", "embedded", "scales")
KEPT = (*COLUMNS, *WORDS, *sketch.ARRAYS)


class Segment:
    """Rows in ascending order of `seq`; a row without vector has zeros for one."""

    def __init__(self, arrays: Arrays) -> None:
        """Raises Damaged when the arrays do not fit each other."""
        self.arrays = {name: arrays[name] for name in arrays if name in KEPT}
        try:
            self.seqs = arrays["seqs"]
            self.standing = arrays["standing"]
            self.turns = arrays["turns"]
            self.vectors = arrays["vectors"]
            self.embedded = arrays["embedded"]
            self.scales = arrays["scales"]
            self.sketches = sketch.read(arrays)
            self.words = Postings(**{name: arrays[name] for name in WORDS})
        except KeyError as error:
            raise Damaged(f"no array {error}") from error
        columns = (self.standing, self.turns, self.vectors, self.embedded, self.scales)
        sizes = {*map(len, columns), len(self.words.lengths)}
        words, postings = self.words.ends, self.words.rows
        if (
            sizes != {len(self.seqs)}
            or len(words) != len(self.words.text_ends)
            or (len(words) and words[-1] != len(postings))
            or len(postings) != len(self.words.counts)
            or (self.sketches is not None and len(self.sketches) != len(self.seqs))
        ):
            raise Damaged("arrays of different sizes")
        self._spelled = _Spelled(self.words)
        self.all_embedded = bool(self.embedded.all())

    def __len__(self) -> int:
        return len(self.seqs)

    def meanings(self, asked: Aim) -> Floats:
        """The cosine of every row to a question, through the lens."""
        return aim.through(self.vectors, self.scales, asked)

    def through(self, rows: Rows, asked: Aim) -> Floats:
        """The same of these rows; most of them take longer to fetch than all to compare."""
        if 2 * len(rows) > len(self):
            return self.meanings(asked)[rows]
        return aim.through(self.vectors[rows], self.scales[rows], asked)

    def near(self, asked: Aim, lens: Lens) -> Rows:
        """Rows that have a vector nearer to a question than most; all without sketches."""
        if self.sketches is None:
            return np.flatnonzero(self.embedded)
        if self.all_embedded:
            return self.sketches.near(asked.question, lens)
        rows = self.sketches.near(asked.question, lens, self.embedded)
        return rows[self.embedded[rows]]

    def holders(self, word: str) -> slice:
        """Where the postings of *word* are."""
        spelled = word.encode()
        place = bisect_left(self._spelled, spelled)
        known = place < len(self._spelled) and self._spelled[place] == spelled
        return slice(self._start(place), self._start(place + known))

    def beginners(self, prefix: str) -> slice:
        """Where the postings of all words are that begin with *prefix*."""
        first = prefix.encode()
        return slice(
            self._start(bisect_left(self._spelled, first)),
            self._start(bisect_left(self._spelled, first + b"\xff")),
        )

    def containing(self, text: str) -> Rows:
        """The rows that have a word with *text* inside, ascending; a word that was cut may have."""
        ends = self.words.text_ends
        found = re.finditer(re.escape(text.encode()), self.words.text.data)
        spans = np.array([match.span() for match in found], np.int64).reshape(-1, 2)
        words = np.searchsorted(ends, spans[:, 0], side="right")
        inside = words[spans[:, 1] <= ends[words]]
        cut = np.flatnonzero(np.diff(ends, prepend=0) >= LONGEST)
        return distinct(self._holding(distinct(np.concatenate((inside, cut)))))

    def _holding(self, words: Rows) -> Rows:
        """The rows of all these words, one after the other."""
        ends = self.words.ends[words]
        starts = np.where(words > 0, self.words.ends[words - 1], 0)
        sizes = ends - starts
        places = np.repeat(ends - np.cumsum(sizes), sizes) + np.arange(sizes.sum())
        return self.words.rows[places].astype(np.int64)

    def where(self, seqs: Rows) -> Rows:
        """The row of each memory, or NONE."""
        if not len(self):
            return np.full(len(seqs), NONE, np.int64)
        found = np.minimum(np.searchsorted(self.seqs, seqs), len(self) - 1)
        return np.where(self.seqs[found] == seqs, found, NONE)

    def _start(self, word: int) -> int:
        return int(self.words.ends[word - 1]) if word else 0


class _Spelled:
    """The words as a sequence that bisection can look into."""

    def __init__(self, words: Postings) -> None:
        self.text = words.text.data
        self.ends = words.text_ends.data

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, word: int) -> bytes:
        return bytes(self.text[self.ends[word - 1] if word else 0 : self.ends[word]])

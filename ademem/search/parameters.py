"""The numbers of the ranking, chosen on the tuning sets that `bench/README.md` describes."""

from __future__ import annotations

from ademem.core.value import Value


class Parameters(Value):
    """Weights, floors and discounts of one search."""

    pool: int = 30
    """Rows that the lexical and the vector search each pass to the ranking; twice for dialogues."""

    postings: int = 1500
    """Postings of the rarest words that are read: what a search costs in a store of any size."""

    words: float = 0.25
    """Weight of the words of a memory in its relevance."""
    meaning: float = 0.28
    """Weight of the whitened cosine to the question in the relevance."""
    near_words: float = 0.35
    """Weight of the words of a turn of a dialogue and its neighbours in the session."""
    near_meaning: float = 0.2
    """Weight of the cosines of a turn of a dialogue and its neighbours."""

    speaker: float = 0.25
    """Bonus of a turn whose speaker the question names."""
    time: float = 0.25
    """Bonus of a turn with a word of time if the question asks when."""
    date: float = 0.35
    """Bonus of a turn of the month or year that the question names."""
    asks: float = -0.08
    """Bonus of a turn that ends with a question, as it rarely answers one."""
    steps: float = -0.2
    """Bonus of a learned procedure if the query is a question and not a task."""

    relevance: float = 0.8
    """Weight of the relevance in the composite score."""
    recency: float = 0.02
    """Weight of the time since the last change in the composite score."""
    importance: float = 0.11
    """Weight of the importance in the composite score."""
    confidence: float = 0.05
    """Weight of the confidence in the composite score."""
    access: float = 0.02
    """Weight of the use in the composite score."""
    half_life_days: float = 30.0
    """Age at which recency and use count half."""
    tier_bonus: tuple[float, float, float] = (0.1, 0.0, -0.05)
    """Bonus of tier 1, 2 and 3 on the composite score."""

    candidate_discount: float = 0.97
    """Factor of the score of a candidate."""
    branch_discount: float = 0.8
    """Factor of the score of a memory of another branch."""
    drift_discount: float = 0.8
    """Factor of the score of a memory whose code has changed or was removed."""

    widen: bool = True
    """Look up other forms of rare and unknown words, too, such as what they abbreviate."""
    floor: float = 0.25
    """Share of a short query in whole words below which parts of words are looked up."""
    answer_share: float = 0.8
    """Share of a question from which a confirmed memory makes candidates unnecessary."""


DEFAULTS = Parameters()
UNASKED = Parameters(widen=False, postings=1000)
"""Parameters for a reader who did not ask: a guess is no evidence, and hooks have little time."""

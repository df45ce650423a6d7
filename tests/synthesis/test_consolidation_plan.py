"""How near texts are that mean nearly the same."""

from itertools import combinations

import numpy as np
import pytest

from ademem.core.settings import EmbedSettings
from ademem.search import embedding
from ademem.synthesis.consolidation import MERGE_COSINE
from tests.synthesis.statements import MODEL, STATEMENTS

NEAR = MERGE_COSINE


def pairs():
    """All pairs of statements, with what they are to each other and how near."""
    for one, other in combinations(STATEMENTS, 2):
        marks = {one.mark, other.mark}
        if one.group != other.group or "~" in marks:
            kind = "different"
        else:
            kind = "same" if marks == {"="} else "against"
        left, right = (np.frombuffer(each.vector, "<f4") for each in (one, other))
        yield kind, float(left @ right), one.text, other.text


def test_statements_about_different_matters_are_not_near():
    cosines = [cosine for kind, cosine, *_ in pairs() if kind == "different"]

    assert len(cosines) > 5000
    assert max(cosines) < NEAR


def test_three_of_four_statements_of_one_matter_are():
    cosines = [cosine for kind, cosine, *_ in pairs() if kind == "same"]

    assert sum(cosine >= NEAR for cosine in cosines) / len(cosines) >= 0.75


@pytest.mark.slow
def test_the_stored_vectors_are_those_of_the_model(models):
    model = embedding.load(EmbedSettings(), models)
    assert model.model_id == MODEL
    some = STATEMENTS[::9]
    made = model.embed([each.text for each in some])
    kept = np.stack([np.frombuffer(each.vector, "<f4") for each in some])

    assert ((made * kept).sum(axis=1) > 0.999).all()

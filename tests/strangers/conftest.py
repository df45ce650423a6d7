"""Strangers' texts, of which each has one vector by a model."""

import pytest

from ademem.search.embedding.multilingual import E5


@pytest.fixture(scope="session", autouse=True)
def no_second_vector():
    """Embed no text twice by the second model, which takes 40 ms for one."""
    embed, vectors = E5._vector, {}

    def embed_once(self, text, most, *, is_question):
        key = self.model_id, text[:most], is_question
        if key not in vectors:
            vectors[key] = embed(self, text, most, is_question=is_question)
        return vectors[key].copy()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(E5, "_vector", embed_once)
        yield

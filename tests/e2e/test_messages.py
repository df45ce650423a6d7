"""A subagent writes to the main thread: the client passes its message on as if it were a prompt."""

from __future__ import annotations

import pytest

from .product import Product
from .script import Call, delegate, helper, model, person
from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.contract]

SENT, TYPED = "the ferry desk closes at nine", "the harbour office opens at six"


def test_what_a_subagent_sends_is_nobodys_dictation(world: World, ademem: Product) -> None:
    message = {"to": "main", "summary": "a note", "message": f"remember: {SENT}"}
    session = world.chat(
        person(f"remember: {TYPED}"),
        model(delegate("Look around.", background=True)),
        model("It is under way."),
        helper(Call("SendMessage", message), late=True),
        helper("Nothing to see."),
        model("I see."),
        model("Done."),
    )

    assert any(f"remember: {SENT}" in request.news for request in session.requests)
    assert list(ademem.memories()) == [TYPED]
    assert list(ademem.memories("candidate")) == [TYPED]  # a program runs this client
    assert ademem.prompts() == [f"remember: {TYPED}"]
    assert not any(SENT in hook.stdout for hook in session.hooks("UserPromptSubmit"))

"""What is held alone is held where a member of the hub sends it."""

from ademem.store import memory_queries
from tests.strangers.orders import HARMLESS, TEXTS, passed


def test_what_is_held_alone_is_held_from_the_hub(ann, bob):
    for number, text in enumerate(TEXTS):
        ann.learn(text, id=f"m{number}")
    ann.sync()
    bob.sync()

    found = memory_queries.everything(bob.store)
    assert len(found) == len(TEXTS)
    assert passed([one.content] for one in found if one.quarantine_reason is None) == [HARMLESS]

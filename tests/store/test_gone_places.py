"""Since when places are not there: noted once, forgotten when they are again."""

from datetime import timedelta

from ademem.operations import placing
from ademem.search import binding
from ademem.store import gone_places


def test_a_place_that_is_gone_for_long_is_asked_about_until_it_is_there_again(world):
    world.know("Rounding is done there alone", path="src/money.py")
    day = timedelta(days=1)
    with world.memories() as memories:
        store, now = memories.store, memories.now
        binding.refresh(memories)
        store.db.execute("update memory_bindings set state = 'gone'")
        gone_places.note(store, now)
        gone_places.note(store, now + 29 * day)
        assert gone_places.list_since(store, now - day) == []
        ((id, place),) = gone_places.list_since(store, now)
        assert binding.describe(place) == "src/money.py"
        memories.clock = lambda: now + 31 * day
        (found,) = placing.list_misplaced(memories)
        assert (found.memory.id, found.why) == (id, "src/money.py is gone for 30 days")

        placing.accept_place(memories, found)
        assert placing.list_misplaced(memories) == []
        store.db.execute("update memory_bindings set state = null")
        gone_places.note(store, now + 32 * day)
        store.db.execute("update memory_bindings set state = 'gone'")
        gone_places.note(store, now + 60 * day)
        memories.clock = lambda: now + 61 * day
        assert placing.list_misplaced(memories) == []

"""What was captured already."""

from __future__ import annotations

from ademem.store import ledger
from tests.builders import NOW


def test_an_event_is_claimed_once(store):
    claims = [ledger.claim(store, "pr", key, NOW) for key in ("1", "2", "1")]

    assert claims == [True, True, False]
    assert ledger.claim(store, "error", "1", NOW)


def test_a_claimed_event_is_credited_with_its_memory(store):
    ledger.claim(store, "pr", "1", NOW)
    ledger.claim(store, "pr", "2", NOW)
    ledger.credit(store, "pr", "1", "m")
    rows = store.db.execute("select source_key, memory_id from memory_capture_ledger")

    assert dict(map(tuple, rows)) == {"1": "m", "2": None}

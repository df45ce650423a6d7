"""Keeping memory in order by hand."""

from ademem import api


def backdate(ademem, id, days):
    with api.open_memories(str(ademem.root)) as memories:
        memories.runtime.store.db.execute(
            "update unified_memories set last_accessed_at ="
            " strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?) where id = ?",
            (f"-{days} days", id),
        )


def kept(ademem, text, days):
    id = ademem.json("add", text)["memory"]["id"]
    backdate(ademem, id, days)
    return id


def test_a_dry_run_tells_what_would_move_and_why_and_moves_nothing(ademem):
    id = kept(ademem, "Invoices round half to even", 91)
    said = ademem("sweep", "--dry-run")

    assert f"demote   {id}  [fact] Invoices round half to even" in said
    assert "promoted 2 → promoted 3: not asked for in 91 days" in said
    assert "would be 0 promoted, 1 demoted, 0 archived" in said
    assert ademem.json("get", id)["tier"] == 2


def test_a_sweep_tells_what_moved_and_how_to_take_it_back(ademem):
    id = kept(ademem, "Invoices round half to even", 181)
    swept = ademem.json("sweep")
    assert (swept["archived"], swept["moves"][0]["id"]) == (1, id)
    assert ademem.json("get", id)["status"] == "archived"

    ademem("undo", swept["id"])
    assert ademem.json("get", id)["status"] == "promoted"
    assert "every memory is where it belongs" in ademem("sweep")


def test_the_status_tells_of_the_last_sweep(ademem):
    assert ademem.json("status")["lifecycle"]["last_sweep"] is None

    ademem("sweep")
    assert ademem.json("status")["lifecycle"]["last_sweep"]["outcome"] == "ok"

"""Keeping memory in order by hand."""

import json
import subprocess

from ademem import operations
from ademem.doors.cli.reports import _status_lines
from ademem.operations import writing
from tests import builders
from tests.synthesis import statements
from tests.synthesis.test_consolidation import group


def backdate(ademem, id, days):
    with operations.open_memories(str(ademem.root)) as memories:
        memories.store.db.execute(
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
    with operations.open_memories(str(ademem.root)) as memories:
        id = writing.write(memories, "Invoices round half to even").memory.id
    backdate(ademem, id, 181)
    swept = ademem.json("sweep")
    assert (swept["archived"], swept["moves"][0]["id"]) == (1, id)
    assert ademem.json("get", id)["status"] == "archived"

    ademem("undo", swept["id"])
    assert ademem.json("get", id)["status"] == "candidate"
    assert "every memory is where it belongs" in ademem("sweep")


def test_the_status_tells_of_the_last_sweep(ademem):
    assert ademem.json("status")["lifecycle"]["last_sweep"] is None

    ademem("sweep")
    assert ademem.json("status")["lifecycle"]["last_sweep"]["outcome"] == "ok"


def test_the_status_fits_one_screen_however_much_there_is_to_tell(ademem):
    found = ademem.json("status")
    long = "word " * 100
    found |= {"root": long, "overfull": long, "imports": [long] * 9}
    found["jobs"] |= {"kinds": [long] * 9, "failing": [long] * 9, "parked": [long], "last": long}
    found["lifecycle"]["missions"] = [f"m{number}" for number in range(9)]
    found["ai"] |= {"last": long, "error": long}
    lines = list(_status_lines(found))

    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert "missions  m0, m1, m2, 6 more" in lines


def test_the_status_counts_what_is_listed(ademem):
    ademem("learn", "Invoices round half to even")
    ademem("add", "Invoices are in euro")
    ademem("add", "Somebody else's", "--scope", "agent", "--owner", "ada")
    (ademem.root / ".claude/skills/ship").mkdir(parents=True)
    (ademem.root / ".claude/skills/ship/SKILL.md").write_text("# Ship\n\nRun the tests.\n")
    ademem("skills", "reindex")
    counted = ademem.json("status")["memories"]
    listed = {
        "candidates": ademem.json("list", "--status", "candidate")["count"],
        "promoted": ademem.json("list", "--status", "promoted")["count"],
    }

    assert listed == {"candidates": 1, "promoted": 1}
    assert listed.items() <= counted.items()


def embedded(ademem, number, marks):
    """Statements in the project, with their vectors."""
    rows = []
    with operations.open_memories(str(ademem.root)) as memories:
        store = memories.store
        for each in group(number, marks):
            (row,) = builders.insert(store, builders.memory(each.text))
            store.db.execute(
                "insert into unified_memory_embeddings values (?, ?, ?, ?, ?, 384, 1, '', '')",
                (row.id, row.id, store.project_id, statements.MODEL, each.vector),
            )
            rows.append(row)
    return rows


UPLOADS = 15


def test_a_consolidation_tells_what_it_merged_and_is_taken_back(ademem):
    rows = embedded(ademem, UPLOADS, "=")
    told = ademem("sweep", "--merge", "--dry-run")
    assert all(row.id in told for row in rows)
    assert "would be 3 merged into 1" in told

    done = ademem.json("sweep", "--merge")
    merged = done["merges"][0]["id"]
    assert (done["outcome"], done["merged"]) == ("ok", 3)
    assert f"merged from: {' '.join(sorted(row.id for row in rows))}" in sorted_ids(
        ademem("get", merged)
    )
    assert f"merged into: {merged}" in ademem("get", rows[1].id)
    ademem("undo", done["id"])
    assert ademem.json("get", rows[1].id)["status"] == "promoted"
    assert "no three memories say the same" in ademem("sweep", "--merge")


def sorted_ids(text):
    """The text with the ids behind each colon in order."""
    lines = [line.split(": ") for line in text.splitlines()]
    return "\n".join(": ".join([line[0], " ".join(sorted(line[-1].split()))]) for line in lines)


def test_a_conflict_is_shown_until_somebody_settles_it(ademem):
    left = ademem.json("add", "Uploads are limited to 20 MB")["memory"]["id"]
    right = ademem.json("add", "Uploads may have 50 MB")["memory"]["id"]
    ademem("relations", "judge", right, "conflicts_with", "--other", left)
    reviewed = {row["id"]: row["why"] for row in ademem.json("review")["memories"]}
    assert reviewed[right] == f"conflicts with {left}"
    assert f"conflicts-with:{left}" in ademem.json("get", right)["flags"]
    assert f"conflicts with: {left}" in ademem("get", right)

    assert "both are kept as true" in ademem("review", "--settle", right, left)
    assert ademem.json("review")["count"] == 0
    ademem("review", "--settle", right, left)
    assert ademem.exit_code == 1


def test_without_vectors_a_consolidation_says_what_is_missing(ademem):
    ademem("add", "Invoices round half to even")

    assert "embeddings-unavailable" in ademem("sweep", "--merge")
    assert ademem.json("status")["lifecycle"]["last_consolidation"]["outcome"] == (
        "embeddings-unavailable"
    )


def limited(ademem, **limits):
    lines = [f"lifecycle.{scope}_limit = {limit}\n" for scope, limit in limits.items()]
    (ademem.root / ".ade" / "config.toml").write_text("".join(lines), encoding="utf-8")


def imported(ademem, count, **fields):
    """What is said of an import of so many notes that no other import has."""
    file = ademem.root / "notes.jsonl"
    name = " ".join(fields.values()) or "the project"
    texts = [f"note {n} of {name} tells of matter{n}" for n in range(count)]
    file.write_text("".join(json.dumps({"content": text} | fields) + "\n" for text in texts))
    return ademem("import", str(file))


def test_an_import_beyond_the_limit_says_what_a_sweep_will_do_and_how_to_keep_it(ademem):
    limited(ademem, project=3)
    assert "above" not in imported(ademem, 3)

    told = imported(ademem, 5)
    assert "2 above project_limit: a sweep from 20" in told
    assert ademem.json("status")["overfull"] in told
    assert ademem.json("sweep", "--dry-run")["archived"] == 2
    assert "lifecycle.project_limit = 0 in .ade/config.toml keeps them" in told
    limited(ademem, project=0)
    assert ademem.json("status")["overfull"] is None
    assert ademem.json("sweep", "--dry-run")["archived"] == 0
    ademem("config", "set", "lifecycle.project_limit", "2", "--local")
    local = "lifecycle.project_limit = 0 in .ade/config.local.toml keeps them"
    assert ademem.json("status")["overfull"].endswith(local)
    ademem.monkeypatch.setenv(variable := "ADEMEM_LIFECYCLE_PROJECT_LIMIT", "1")
    assert ademem.json("status")["overfull"].endswith(f"{variable}=0 keeps them")


def test_a_clone_gets_the_merge_driver_with_the_hooks_and_the_doctor_misses_it(ademem):
    def finding():
        (found,) = (row for row in ademem.json("doctor")["findings"] if row["check"] == "merges")
        return found["ok"]

    subprocess.run(["git", "init", "--quiet", ademem.root], check=True)
    assert not finding()

    ademem("install")
    assert finding()
    ademem("uninstall")
    assert not finding()

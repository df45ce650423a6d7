"""`ademem import` of other programs' memories, and of Beads."""

import json
from pathlib import Path

import pytest

BEAD = json.dumps(
    {"key": "learned-x", "type": "learned", "content": "TaskGroup needs Sendable closures", "ts": 1}
)


@pytest.fixture
def sources(tmp_path):
    """A path by the format that it has."""
    mem0 = tmp_path / "mem0.json"
    mem0.write_text('{"results": [{"memory": "Deploys run on Mondays"}]}')
    beads = tmp_path / "shop" / ".beads" / "memory" / "knowledge.jsonl"
    beads.parent.mkdir(parents=True)
    beads.write_text(BEAD + "\n")
    return {"beads": beads, "mem0": mem0}


def test_a_trial_import_counts_and_stores_nothing(ademem, sources):
    command = ("import", "--format", "beads", str(sources["beads"]))
    tried = ademem.json(*command, "--dry-run")
    events = ademem.json("log")["count"]
    done = ademem.json(*command)
    for found in (tried, done):
        del found["event"]

    assert events == 0
    assert tried == done
    assert ademem.json("list")["count"] == tried["inserted"] == 1


def test_an_import_is_taken_back_as_a_whole(ademem, sources):
    command = ("import", "--format", "beads", str(sources["beads"]))
    tried = ademem.json(*command, "--dry-run")
    done = ademem.json(*command)
    again = ademem.json(*command)
    ademem("undo", done["event"])

    assert [found["event"] for found in (tried, again)] == ["", ""]
    assert ademem.json("list", "--all")["memories"] == []


@pytest.mark.parametrize("format", ["beads", "mem0"])
def test_an_import_tells_what_waits_and_what_a_sweep_archives(ademem, sources, format):
    ademem("add", "Invoices are numbered without a gap", "--category", "fact")
    ademem("config", "set", "lifecycle.project_limit", "1")

    tried = ademem("import", "--format", format, str(sources[format]), "--dry-run")
    said = ademem("import", "--format", format, str(sources[format]))

    if format == "mem0":  # of beads there is JSON where there is no terminal
        assert "to review: 1 unconfirmed (`ademem review`)" in said
    assert "1 above project_limit" in said
    assert "to review: " not in tried


def test_a_project_of_beads_is_imported_and_what_was_not_read_is_reported(ademem):
    sample = Path(__file__).parent / "beads"
    found = json.loads(ademem("import", "--format", "beads", str(sample)))

    assert (found["inserted"], len(found["errors"])) == (16, 8)
    assert found["errors"][0]["line"] == 5
    assert found["errors"][0]["message"].startswith("knowledge.jsonl: is not JSON")
    assert (ademem.root / ".ade/log/not-imported.jsonl").exists()
    assert json.loads(ademem("import", "--format", "beads", str(sample)))["inserted"] == 0


def test_a_memory_names_the_program_that_it_came_from(ademem, tmp_path):
    path = tmp_path / "mem0.json"
    path.write_text('{"results": [{"id": "m7", "memory": "Deploys run on Mondays"}]}')
    ademem("import", "--format", "auto", str(path))

    (memory,) = ademem.json("list")["memories"]
    assert "source: mem0:m7" in ademem("get", memory["id"])


def test_the_format_of_beads_is_recognised(ademem, sources):
    shop = sources["beads"].parents[2]
    assert ademem.json("import", "--format", "auto", str(shop))["inserted"] == 1


@pytest.mark.parametrize("format", ["claude", "rules", "auto"])
def test_instruction_files_are_not_copied(ademem, tmp_path, format):
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/AGENTS.md").write_text("- Use pnpm\n")
    said = ademem("import", "--format", format, str(tmp_path / "rules"))

    assert "`ademem adopt` reads" in said
    assert ademem.exit_code == 2

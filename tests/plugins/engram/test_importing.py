"""`ademem import --format engram`, and its export."""

import json
import re

import pytest

from tests.doors.cli.test_importing import confirmed as confirmed

ROW = {
    "id": 1,
    "session_id": "s1",
    "type": "decision",
    "title": "Tokens",
    "content": "Tokens expire after ten minutes",
    "created_at": "2026-01-02 03:04:05",
}
ENGRAM = json.dumps(
    {
        "version": "0.1.0",
        "sessions": [],
        "prompts": [],
        "observations": [ROW | {"sync_id": "a", "project": "p"}],
    }
)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "engram.json"
    path.write_text(ENGRAM + "\n")
    return str(path)


def test_a_trial_import_counts_and_stores_nothing(ademem, source):
    command = ("import", "--format", "engram", source)
    tried = ademem.json(*command, "--dry-run")
    events = ademem.json("log")["count"]
    done = ademem.json(*command)
    for found in (tried, done):
        del found["dry_run"], found["event"]

    assert tried["inserted"] == 1
    assert events == 0
    assert tried == done
    assert ademem.json("list")["count"] == 1


def test_an_import_tells_what_waits_and_what_a_sweep_archives(ademem, source):
    ademem("add", "Invoices are numbered without a gap", "--category", "fact")
    ademem("config", "set", "lifecycle.project_limit", "1")

    tried = ademem("import", "--format", "engram", source, "--dry-run")
    said = ademem("import", "--format", "engram", source)

    assert "to review: 1 unconfirmed (`ademem review`)" in said
    assert "1 above project_limit" in said
    assert "to review: " not in tried


def test_the_format_is_recognised(ademem, source):
    assert ademem.json("import", "--format", "auto", source)["inserted"] == 1


@pytest.mark.parametrize("option", [("--as", "personal"), ("--follow",)])
def test_its_memories_are_the_projects_and_not_followed(ademem, source, option):
    said = ademem("import", "--format", "engram", source, *option)

    assert f"engram has no `{' '.join(option)}`" in said
    assert ademem.exit_code == 2
    assert ademem.json("list")["count"] == 0


def test_personal_memories_are_in_no_export(ademem):
    assert "no export for engram" in ademem("export", "--format", "engram", "--include-personal")
    assert ademem.exit_code == 2


def test_an_import_names_the_act_that_takes_it_back(ademem, source):
    said = ademem("import", "--format", "engram", source)
    (event,) = re.findall(r"`ademem undo (\w+)` takes it back", said)
    ademem("undo", event)

    assert ademem.json("list")["count"] == 0


def test_it_tells_what_is_imported_and_what_is_new(ademem, source):
    command = ("import", "--format", "engram", source)
    assert ademem(*command, "--status") == "p: 0 imported, 1 new\n"
    ademem(*command)
    assert ademem(*command, "--status") == "p: 1 imported, 0 new\n"


@pytest.mark.parametrize(
    "change", [{"content": "Use Kafka for locks"}, {"deleted_at": "2100-01-01"}]
)
def test_an_agents_import_puts_another_text_beside_it(ademem, confirmed, change):
    ademem("export", "--format", "engram", "engram.json")
    path = ademem.root / "engram.json"
    document = json.loads(path.read_text())
    for row in document["observations"]:
        row |= {"updated_at": "2100-01-01 00:00:00"} | change
    path.write_text(json.dumps(document))
    ademem("import", "--format", "engram", "engram.json")

    kept = ademem.json("get", confirmed)
    assert (kept["content"], kept["status"]) == ("Use Redis for locks", "promoted")
    proposed = [row["content"] for row in ademem.json("list", "--status", "candidate")["memories"]]
    assert proposed == ([change["content"]] if "content" in change else [])

"""The formats of `ademem import`, and its trial runs."""

import io
import json
import sys

import pytest

LINE = json.dumps({"content": "Invoices round half to even"})
REMARK = json.dumps(
    [{"id": 7, "user": {"login": "ann"}, "body": "Please validate the amount before storing it."}]
)


@pytest.fixture
def sources(tmp_path):
    """A path by the format that it has."""
    paths = {
        "jsonl": tmp_path / "lines.jsonl",
        "pr": tmp_path / "remarks.json",
    }
    texts = {"jsonl": LINE, "pr": REMARK}
    for name, path in paths.items():
        path.write_text(texts[name] + "\n")
    return paths


@pytest.mark.parametrize("format", ["jsonl", "pr"])
def test_a_trial_import_counts_and_stores_nothing(ademem, sources, format):
    command = ("import", "--format", format, str(sources[format]))
    tried = ademem.json(*command, "--dry-run")
    events = ademem.json("log")["count"]
    done = ademem.json(*command)
    for found in (tried, done):
        found.pop("dry_run", None)
        found.pop("event", None)

    assert tried.get("inserted", len(tried.get("added", ()))) == 1
    assert events == 0
    if format != "pr":  # whose memories get new ids
        assert tried == done
    assert ademem.json("list")["count"] == 1


OWN = {"content": "I prefer short answers", "scope": "personal"}


def test_an_import_is_taken_back_as_a_whole_but_for_what_is_the_persons_own(ademem, sources):
    texts = ("Refunds need a second approval", "Webhooks are signed with HMAC")
    lines = [
        {"content": text, "key": text, "status": status, "type": "learned"}
        for text, status in zip(texts, ("archived", "candidate"), strict=True)
    ]
    with sources["jsonl"].open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in [*lines, OWN])
    command = ("import", str(sources["jsonl"]))
    tried = ademem.json(*command, "--dry-run")
    done = ademem.json(*command)
    again = ademem.json(*command)
    ademem("undo", done["event"])

    assert [found["event"] for found in (tried, again)] == ["", ""]
    listed = ademem.json("list", "--all")["memories"]
    assert listed == []
    waiting = ademem.json("review")["memories"]
    assert [row["content"] for row in waiting] == [OWN["content"]]


def test_an_import_tells_what_a_sweep_archives(ademem, sources):
    ademem("add", "Invoices are numbered without a gap", "--category", "fact")
    ademem("config", "set", "lifecycle.project_limit", "1")

    said = ademem("import", str(sources["jsonl"]))

    assert "1 above project_limit" in said


@pytest.mark.parametrize(
    ("typed", "limit"),
    [
        pytest.param("y\n", 1000, id="yes"),
        pytest.param("\n", 1, id="no"),
        pytest.param("", 1, id="interrupted"),
    ],
)
def test_an_import_asks_a_person_before_it_raises_a_limit_that_was_set(
    ademem, sources, monkeypatch, typed, limit
):
    ademem("add", "Invoices are numbered without a gap", "--category", "fact")
    ademem("config", "set", "lifecycle.project_limit", "1")
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    said = ademem("import", str(sources["jsonl"]))

    assert "raise it to 1,000 on this machine?" in said
    assert ademem.json("config", "list", "lifecycle.project_limit")["value"] == limit
    assert ("above project_limit: a sweep from" in said) is (limit == 1)
    assert "inserted 1, merged 0" in said


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_what_was_done_stands_on_a_line_without_the_progress(ademem, sources, monkeypatch, options):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    said = ademem("import", str(sources["jsonl"]), *options)

    assert "1 line\r\x1b[K" in said


def test_a_file_of_another_program_leads_to_its_format(ademem, tmp_path):
    path = tmp_path / "mem0.json"
    path.write_text('{"results": [{"memory": "Deploys run on Mondays"}]}')

    assert "`--format auto` names the format" in ademem("import", str(path))
    assert "`--format auto` tells" in ademem("import", str(tmp_path))
    path.write_text(f"{LINE}\n[]\n")
    assert "--format auto" not in ademem("import", str(path))


def test_a_line_that_is_not_utf_8_is_named_and_the_others_go_on(ademem, tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b'{"content": "caf\xe9 is written in Latin-1"}\n' + LINE.encode())

    found = ademem.json("import", str(path))

    assert found["errors"] == [{"line": 1, "message": "is not UTF-8"}]
    assert found["inserted"] == ademem.json("list")["count"] == 1


def test_a_remark_that_is_not_utf_8_is_stored_all_the_same(ademem, tmp_path):
    path = tmp_path / "remarks.json"
    path.write_bytes(REMARK.replace("amount", "caf~").encode().replace(b"~", b"\xe9"))

    assert len(ademem.json("import", "--format", "pr", str(path))["added"]) == 1


@pytest.mark.parametrize(
    ("format", "option"),
    [
        pytest.param("pr", ("--status",), id="remarks"),
        pytest.param("jsonl", ("--from-project", "p"), id="lines"),
    ],
)
def test_an_option_that_a_format_has_not_is_refused_by_name(ademem, sources, format, option):
    said = ademem("import", "--format", format, str(sources[format]), *option)

    assert f"{format} has no `{' '.join(option[:2]) if option[0] == '--as' else option[0]}`" in said
    assert ademem.exit_code == 2
    assert ademem.json("list")["count"] == 0


@pytest.fixture
def confirmed(ademem):
    """A memory of an agent that a person confirmed; the shell is the agent's again."""
    ademem.inside()
    id = ademem.json("add", "Use Redis for locks")["memory"]["id"]
    ademem.outside()
    ademem("promote", id)
    ademem.inside()
    return id


def test_an_agents_import_of_our_export_leaves_what_a_person_confirmed(ademem, confirmed):
    ademem("export", "ours.jsonl")
    path = ademem.root / "ours.jsonl"
    later = json.loads(path.read_text()) | {"updated_at": "2100-01-01T00:00:00.000Z"}
    changes = {"content": "Use Kafka for locks"}, {"status": "archived"}, {"tags": ["stop"]}
    path.write_text("".join(f"{json.dumps(later | change)}\n" for change in changes))
    (error,) = ademem.json("import", "--format", "ademem", "ours.jsonl")["errors"]

    assert confirmed in error["message"]
    kept = ademem.json("get", confirmed)
    assert (kept["content"], kept["status"], kept["tags"]) == (
        "Use Redis for locks",
        "promoted",
        [],
    )


def test_an_agent_replaces_no_database_by_a_backup(ademem, confirmed):
    ademem("backup")
    said = ademem("restore", "--backup", "latest")

    assert ademem.exit_code == 4
    assert "is for a person to decide" in said

"""Rows of Engram's behaviour by commands; `tools/test_rows.py` has its tools."""

import gzip
import hashlib
import json
import shutil
import subprocess
from contextlib import closing

import pytest

from ademem.core import project
from ademem.store import database
from tests.canaries import CANARIES, found_below, sentence
from tests.examples import FULL, examples

LESSON = "Releases are cut on Mondays, because the mirror syncs on Sunday"
NEAR = "Releases are cut on Fridays now, because the mirror syncs each night"
OTHER = "The parser of invoices reads tokens of at most 64 bytes"


@pytest.fixture
def add(ademem):
    """Add a memory and return it as the command shows it."""

    def run(*arguments):
        return ademem.json("add", *arguments)

    return run


def test_e1_and_e2_a_session_starts_once_and_ends_for_good(ademem):
    ademem("session", "start", "e1", "--directory", "/srv/shop")
    ademem("session", "start", "e1")
    shown = ademem.json("session", "show", "e1")
    ademem("session", "end", "e1", "--summary", "We moved the release day")

    assert shown["session"]["directory"] == "/srv/shop"
    assert "session_already_ended" in ademem("session", "start", "e1")
    assert ademem.exit_code == 4


def test_e3_each_of_fifty_sessions_has_what_its_shell_saved(ademem, add):
    for number in range(examples(50, share=5)):
        ademem("session", "start", f"s{number}")
    for number in range(examples(50, share=5)):
        ademem.inside(f"s{number}")
        add(f"Worker {number} drains the queue of region {number * 7} each night")
    ademem.outside()
    alone = add(LESSON)["memory"]

    for number in range(examples(50, share=5)):
        (saved,) = ademem.json("session", "show", f"s{number}")["memories"]
        assert f"Worker {number} " in str(saved)
    assert alone["provenance"]["session_id"] is None


@pytest.mark.parametrize("text", ["", "  ", "<private>all of it</private>"])
def test_e4_an_empty_text_is_refused_and_nothing_is_written(ademem, text):
    ademem("add", text)

    assert ademem.exit_code != 0
    assert ademem.json("list")["memories"] == []


def test_e5_a_text_beyond_the_limit_is_cut_at_a_character_and_says_so(ademem, add):
    saved = add("漢" * 16_666 + "🦉", "--title", "Long")

    assert ademem.json("get", saved["memory"]["id"])["content"] == "漢" * 16_666
    assert any("50,002" in note for note in saved["notes"])


def test_e6_and_e7_a_repeat_is_counted_and_a_topic_is_replaced(ademem, add):
    add(OTHER)
    again = add(f" {OTHER.upper()} ")
    add(LESSON, "--topic-key", "bug/release")
    topic = add(NEAR, "--topic-key", "bug/release")

    assert again["deduped"]
    assert len(revisions(ademem, topic["memory"]["id"])) == 2
    assert len(ademem.json("list")["memories"]) == 2
    assert not any("Mondays" in row["text"] for row in found(ademem, "Mondays"))


def revisions(ademem, id):
    return [row["snapshot"]["content"] for row in ademem.json("get", id, "--history")["revisions"]]


def found(ademem, *words):
    return ademem.json("search", *words)["memories"]


def test_e8_another_subject_under_a_known_key_is_saved_with_a_warning(ademem, add):
    add(LESSON, "--topic-key", "bug/release")
    saved = add(OTHER, "--topic-key", "bug/release")

    assert any("stated something else" in note for note in saved["notes"]), saved["notes"]
    assert revisions(ademem, saved["memory"]["id"]) == [LESSON, OTHER]


def test_e9_a_key_is_suggested(ademem):
    first, second = (ademem("topic-key", "数据库缓存", "--type", "config") for _ in range(2))

    assert first == second
    assert first.startswith("config/数据库缓存")


def test_e10_revisions_are_listed_and_taken_back(ademem, add):
    id = add(LESSON, "--topic-key", "bug/release")["memory"]["id"]
    add(NEAR, "--topic-key", "bug/release")
    event = ademem.json("log")["events"][0]["id"]
    ademem("undo", event)

    assert revisions(ademem, id) == [LESSON, NEAR, LESSON]


def test_e11_a_part_that_is_not_there_is_refused(ademem, add):
    id = add(LESSON)["memory"]["id"]
    assert "the text to find" in ademem("edit", id, "--find", "Tuesdays", "--replace", "x")
    ademem("edit", id, "--content", OTHER, "--find", "Mondays", "--replace", "x")

    assert ademem.exit_code == 2
    assert revisions(ademem, id) == [LESSON]


def test_e12_what_is_personal_is_found_and_in_no_file_of_the_project(ademem, add, tmp_path):
    add("My canary sings at dawn, whatever the release does", "--scope", "personal")
    ademem("files", "refresh")
    ademem("export", str(tmp_path / "out"))
    ademem("export", "--format", "engram", str(tmp_path / "engram"))

    assert [row["scope"] for row in found(ademem, "canary")] == ["personal"]
    for command in ("list", "recall canary --no-count", "search canary"):
        listed = ademem.json(*command.split(), "--scope", "personal")["memories"]
        assert [row["scope"] for row in listed] == ["personal"], command
    for path in [*ademem.root.rglob("*"), tmp_path / "out", tmp_path / "engram"]:
        assert path.is_dir() or b"canary" not in path.read_bytes(), path


def test_e15_a_prompt_is_redacted_found_and_deleted_for_good(ademem, tmp_path):
    key = "".join(next(iter(CANARIES.values())))
    prompt = {"id": 1, "sync_id": "p1", "session_id": "e1", "project": "project"}
    prompt |= {"content": f"deploy with {key}", "created_at": "2026-01-01 10:00:00"}
    session = {"id": "e1", "project": "project", "directory": "/p"}
    session["started_at"] = prompt["created_at"]
    export = {"version": "0.1.0", "exported_at": "2026-01-02 10:00:00", "observations": []}
    file = tmp_path / "export.json"
    file.write_text(json.dumps(export | {"sessions": [session], "prompts": [prompt]}))
    ademem("import", "--format", "engram", str(file))
    (typed,) = ademem.json("prompts", "search", "deploy")["prompts"]
    assert ademem("prompts", "delete", typed["id"][:6], "--dry-run").startswith("would delete")
    assert ademem.json("prompts", "search")["count"] == 1
    ademem("prompts", "delete", typed["id"])
    ademem("import", "--format", "engram", str(file))

    assert key not in typed["text"]
    assert ademem.json("prompts", "search", "deploy")["prompts"] == []
    assert ademem.exit_code == 1


def test_e13_and_e14_what_is_deleted_is_in_no_answer_and_for_good_in_no_file(ademem, add):
    gone = add(LESSON)["memory"]["id"]
    other = add(NEAR)["memory"]["id"]
    ademem("relations", "judge", other, "related", "--other", gone)
    ademem("delete", gone)
    readers = [
        "recall mirror",
        "search mirror",
        "list",
        "context",
        "why",
        "review --list",
        "status",
    ]
    for words in readers:
        assert "Mondays" not in ademem(*words.split()), words
    ademem("restore", gone)
    assert "Mondays" in ademem("list")
    ademem("delete", gone, "--hard")

    assert ademem.json("relations", "list")["relations"][0]["status"] == "orphaned"
    assert "(deleted)" in ademem("search", "mirror")
    for path in (ademem.root / ".ade").rglob("*"):
        assert path.is_dir() or b"on Mondays" not in path.read_bytes(), path


def test_e16_to_e18_a_candidate_is_judged_and_leaves_when_superseded(ademem, add):
    old = add(LESSON)
    (candidate,) = add(NEAR)["candidates"]
    ademem("relations", "judge", candidate["judgment_id"], "conflicts_with")
    again = ademem("relations", "judge", candidate["judgment_id"], "supersedes")
    ademem("files", "refresh")

    assert "judged" in again
    assert "Mondays" not in ademem("search", "mirror")
    assert "Mondays" not in (ademem.root / ".ade/memory/MEMORY.md").read_text()
    assert "superseded" in ademem("get", old["memory"]["id"])
    assert ademem.json("relations", "scan")["count"] == 0


def test_e19_nothing_is_queued_without_a_target(ademem, add):
    for number in range(20):
        add(f"Queue {'abcdefghij'[number % 10]}{number} is drained by worker {number * 7}")
    with closing(database.connect(project.at(str(ademem.root)).database, wait_s=0)) as db:
        assert db.execute("select count(*) from sync_mutations").fetchone()[0] == 0


def test_e19_with_a_target_the_last_state_of_a_memory_waits_once(ademem, add, tmp_path):
    id = add(LESSON)["memory"]["id"]
    (tmp_path / "share").mkdir()
    ademem("sync", "--dir", str(tmp_path / "share"))
    for number in range(examples(100, share=5)):
        ademem("edit", id, "--content", f"{LESSON}, as of release {number}")
    (waiting,) = ademem.json("sync", "--status")["folders"]
    (sent,) = ademem.json("sync")["folders"]
    (again,) = ademem.json("sync")["folders"]

    assert (waiting["waiting"], sent["sent"], again["sent"]) == (1, 1, 0)


def put_chunk(root, **content):
    """Write a chunk as Engram does."""
    data = json.dumps({"sessions": [], "observations": [], "prompts": []} | content).encode()
    id = hashlib.sha256(data).hexdigest()[:8]
    manifest = root / ".engram/manifest.json"
    (root / ".engram/chunks").mkdir(parents=True, exist_ok=True)
    (root / f".engram/chunks/{id}.jsonl.gz").write_bytes(gzip.compress(data))
    listed = json.loads(manifest.read_text()) if manifest.exists() else {"version": 1, "chunks": []}
    entry = {"id": id, "created_by": "eve", "created_at": "2026-01-03T10:00:00Z"}
    listed["chunks"].append(entry | {"sessions": 0, "memories": 0, "prompts": 0})
    manifest.write_text(json.dumps(listed))
    return id


def observation(number, content):
    return {
        "id": number,
        "sync_id": f"obs-{number}",
        "session_id": "s1",
        "type": "fact",
        "title": content[:20],
        "content": content,
        "project": "project",
        "scope": "project",
        "created_at": "2026-01-01 10:00:00",
        "updated_at": "2026-01-01 10:00:00",
    }


def relation(id, source, target):
    payload = {
        "sync_id": id,
        "source_id": source,
        "target_id": target,
        "relation": "related",
        "judgment_status": "judged",
        "marked_by_actor": "eve",
        "created_at": "2026-01-02 10:00:00",
        "updated_at": "2026-01-02 10:00:00",
    }
    return {
        "seq": 1,
        "target_key": "local",
        "entity": "relation",
        "entity_key": id,
        "op": "upsert",
        "payload": json.dumps(payload),
        "source": "local",
        "project": "project",
        "occurred_at": "2026-01-02 10:00:00",
    }


def test_e20_a_relation_waits_for_its_memories_and_stops_nothing(ademem):
    early = [relation("rel-0000000000000001", "obs-1", "obs-2")]
    put_chunk(ademem.root, mutations=early)
    put_chunk(ademem.root, observations=[observation(1, LESSON)])
    put_chunk(ademem.root, mutations=[relation("rel-0000000000000002", "obs-1", "obs-9")])
    first = ademem.json("sync", "--engram", "--import")
    waiting = ademem.json("relations", "deferred")
    put_chunk(ademem.root, observations=[observation(2, OTHER)])
    second = ademem.json("sync", "--engram", "--import")
    replayed = ademem.json("relations", "deferred", "--replay")
    (left,) = replayed["deferred"]
    dropped = ademem.json("relations", "deferred", "--drop", left["id"])

    assert (first["inserted"], waiting["count"], second["inserted"]) == (1, 2, 1)
    assert [one["relation"] for one in ademem.json("relations")["relations"]] == ["related"]
    assert dropped["count"] == 0


def test_e21_two_clones_write_and_read_chunks_and_come_to_the_same(ademem, add, tmp_path):
    clone = tmp_path / "clone"
    git("init", "-b", "main")
    git("add", ".ade")
    git("commit", "-m", "enrol")
    git("clone", ".", str(clone))
    for root, texts in ((ademem.root, (LESSON, NEAR)), (clone, (OTHER,))):
        ademem.monkeypatch.chdir(root)
        for text in texts:
            add(text)
        ademem("sync", "--engram")
        git("add", "-f", ".engram")
        git("commit", "-m", "chunk")
    ademem.monkeypatch.chdir(ademem.root)
    git("pull", "--no-rebase", str(clone), "main", check=False)
    assert "<<<<<<<" in (ademem.root / ".engram/manifest.json").read_text()
    ademem("sync", "--engram", "--import")
    again = ademem.json("sync", "--engram", "--import")
    shutil.copytree(ademem.root / ".engram", clone / ".engram", dirs_exist_ok=True)
    ademem.monkeypatch.chdir(clone)
    ademem("sync", "--engram", "--import")

    mine, theirs = (contents(ademem, root) for root in (ademem.root, clone))
    assert OTHER in mine
    assert mine == theirs
    assert (again["read"], again["inserted"], again["updated"]) == ([], 0, 0)


def git(*words, check=True):
    who = ["-c", "user.name=anna", "-c", "user.email=anna@example.org"]
    subprocess.run(["git", *who, *words], check=check, capture_output=True)


def contents(ademem, root):
    return {row["content"] for row in ademem.json("list", "--project", str(root))["memories"]}


def test_e21_a_chunk_with_another_byte_is_named_and_the_others_are_taken(ademem):
    bad = put_chunk(ademem.root, observations=[observation(1, LESSON)])
    put_chunk(ademem.root, observations=[observation(2, OTHER)])
    path = ademem.root / f".engram/chunks/{bad}.jsonl.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b"cut", b"Cut")))
    received = ademem.json("sync", "--engram", "--import")

    assert ademem.exit_code == 1
    assert bad in str(received["problems"])
    assert contents(ademem, ademem.root) == {OTHER}


def test_e22_an_export_into_an_empty_project_and_out_again_is_the_same(ademem, add, tmp_path):
    add(LESSON, "--topic-key", "bug/release", "--type", "decision")
    add(OTHER, "--tags", "parser,invoices")
    ademem("export", str(tmp_path / "first"))
    (tmp_path / "other").mkdir()
    ademem.monkeypatch.chdir(tmp_path / "other")
    ademem("init")
    ademem("import", str(tmp_path / "first"))
    ademem("export", str(tmp_path / "second"))
    again = ademem.json("import", str(tmp_path / "first"))

    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    assert again["inserted"] == 0


def test_e22_the_interchange_is_exact_and_another_version_is_refused(ademem, add, tmp_path):
    add(LESSON, "--topic-key", "bug/release", "--type", "decision")
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    ademem("export", str(first), "--format", "engram")
    (tmp_path / "other").mkdir()
    ademem.monkeypatch.chdir(tmp_path / "other")
    ademem("init")
    newer = tmp_path / "newer.json"
    newer.write_text(json.dumps(json.loads(first.read_text()) | {"version": "0.9.0"}))
    refused = ademem("import", str(newer), "--format", "engram")
    untouched = ademem.json("list")["memories"]
    ademem("import", str(first), "--format", "engram")
    ademem("import", str(first), "--format", "engram")
    ademem("export", str(second), "--format", "engram")
    mine, theirs = (json.loads(path.read_text())["observations"] for path in (first, second))

    assert "0.9.0" in refused
    assert untouched == []
    assert [one["sync_id"] for one in mine] == [one["sync_id"] for one in theirs]
    assert [one["content"] for one in mine] == [one["content"] for one in theirs]


def test_e23_of_several_projects_below_none_is_written_to(ademem, tmp_path):
    for name in ("a", "b"):
        (tmp_path / "many" / name).mkdir(parents=True)
        ademem.monkeypatch.chdir(tmp_path / "many" / name)
        ademem("init")
    ademem.monkeypatch.chdir(tmp_path / "many")
    said = ademem("add", LESSON)

    assert ademem.exit_code
    assert str(tmp_path / "many/a") in said
    for name in ("a", "b"):
        assert ademem.json("list", "--project", str(tmp_path / "many" / name))["memories"] == []


def test_e24_spellings_are_merged_and_other_projects_by_a_person_alone(ademem, add, tmp_path):
    add(LESSON)
    for name, text in (("Pro-Ject", OTHER), ("blog", NEAR)):
        (tmp_path / name).mkdir()
        ademem.monkeypatch.chdir(tmp_path / name)
        ademem("init")
        add(text)
    into = str(ademem.root)
    ademem.monkeypatch.chdir(ademem.root)
    ademem("projects", "merge", str(tmp_path / "blog"), into)
    refused = ademem.exit_code
    ademem("projects", "merge", str(tmp_path / "blog"), into, "--force")

    assert refused
    assert len(ademem.json("list")["memories"]) == 2


@pytest.mark.parametrize("query", ['"', "NEAR(", "a:b", "*", "-", "(((", "' or 1=1 --", "漢", "\\"])
def test_e26_every_query_is_answered(ademem, add, query):
    add(LESSON)

    assert ademem.json("search", query)["query"] == query
    assert found(ademem, query, "mirror")


def test_e25_and_e27_previews_are_short_and_some_words_are_enough(ademem, add):
    long = f"{LESSON}. " + "All of the release is long. " * 60
    id = add(long)["memory"]["id"]
    page = ademem.json("search", "releases", "mirror", "zeppelin")

    (row,) = page["memories"]
    assert page["relaxed"]
    assert len(row["text"]) <= 240
    assert ademem.json("get", id)["content"] == long.strip()
    assert ademem.json("timeline", id)["before"] == []


def test_e28_a_context_has_whole_entries_and_counts_the_rest(ademem, add):
    for number in range(12):
        add(f"Worker {number} drains the queue of region {number * 7} each night")
    part = ademem.json("context", "--max-bytes", "600")

    entries = [line for line in part["text"].splitlines() if line.startswith("- [")]
    assert 0 < len(entries) == 12 - part["left_out"]["memories"]
    assert len(part["text"].encode()) <= 600


def test_e30_a_decision_that_is_due_is_listed_until_it_is_marked(ademem, add):
    id = add(LESSON, "--type", "decision")["memory"]["id"]
    with closing(database.connect(project.at(str(ademem.root)).database, wait_s=0)) as db:
        db.execute("update unified_memories set review_after = '2020-01-01T00:00:00.000Z'")
        db.commit()

    assert id in ademem("review", "--due")
    ademem("review", "--reviewed", id)
    assert ademem.json("review", "--due")["memories"] == []


def test_e31_damage_is_found_by_its_check_and_repaired(ademem, add):
    add(LESSON)
    ademem("files", "refresh")
    with closing(database.connect(project.at(str(ademem.root)).database, wait_s=0)) as db:
        db.execute("delete from unified_memories_fts")
        db.commit()
    pages = (ademem.root / ".ade/memory").glob("[a-z]*.md")  # of its category
    page = next(each for each in pages if "Mondays" in each.read_text())
    page.write_text(page.read_text().replace("Mondays", "Tuesdays"))
    checks = {row["check"]: row["ok"] for row in ademem.json("doctor")["findings"]}
    ademem("doctor", "--fix")
    ademem("files", "import")
    repaired = {row["check"]: row["ok"] for row in ademem.json("doctor")["findings"]}

    assert (checks["database"], checks["files"]) == (False, False)
    assert (repaired["database"], repaired["files"]) == (True, True)
    assert json.dumps(found(ademem, "releases"))


def test_e32_no_secret_reaches_a_file(ademem, add):
    for number, key in enumerate(list(CANARIES.values())[:: 1 if FULL else 5]):
        add(sentence(number, key))
    ademem("files", "refresh")

    assert found(ademem, "signs its calls")
    assert found_below(ademem.root) == {}


@pytest.mark.parametrize("said", ["", "no json", '{"session_id": 7}', "valid"])
def test_e33_each_registered_hook_ends_well_whatever_it_reads(ademem, said):
    ademem("install")
    settings = json.loads((ademem.root / ".claude/settings.local.json").read_text())
    for event, groups in settings["hooks"].items():
        payload = {"session_id": "s1", "cwd": str(ademem.root), "hook_event_name": event}
        handler = groups[0]["hooks"][0]
        ended = subprocess.run(
            ["sh", "-c", handler["command"]],
            input=json.dumps(payload) if said == "valid" else said,
            capture_output=True,
            text=True,
        )

        assert (ended.returncode, ended.stderr) == (0, ""), event
        if ended.stdout and event != "PreCompact":
            assert json.loads(ended.stdout), event
    sessions = [row["id"] for row in ademem.json("session", "list")["sessions"]]
    assert ("s1" in sessions) == (said == "valid")


def test_e34_a_database_of_a_newer_schema_is_refused_and_left_alone(ademem, add):
    add(LESSON)
    path = project.at(str(ademem.root)).database
    with closing(database.connect(path, wait_s=0)) as db:
        db.execute("pragma user_version = 9999")
    refused = ademem("list")

    assert ademem.exit_code == 6
    assert "schema 9999" in refused
    with closing(database.connect(path, wait_s=0)) as db:
        assert db.execute("select content from unified_memories").fetchone()[0] == LESSON


def test_e35_settings_are_the_same_bytes_after_two_installations_and_their_end(ademem):
    theirs = '{"hooks": [{"type":"command","command":"theirs"}]}'
    own = f'{{\n   "hooks" : {{\n      "Stop" : [ {theirs} ]\n   }},\n\n   "model":"opus"}}'
    file = ademem.root / ".claude/settings.local.json"
    file.parent.mkdir()
    file.write_text(own)
    ademem("install")
    once = file.read_text()
    ademem("install")
    twice = file.read_text()
    ademem("uninstall")

    assert "theirs" in once
    assert json.loads(once)["hooks"].keys() > {"Stop"}
    assert once == twice
    assert file.read_text() == own

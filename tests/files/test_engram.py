"""Exchange with Engram: its JSON both ways, and its database."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import timedelta

import pytest

from ademem import api
from ademem.core.errors import UsageError
from ademem.core.memory import Draft, Origin, Trust
from ademem.files import engram
from tests.builders import NOW

OBSERVATION = {
    "id": 7,
    "sync_id": "obs-1",
    "session_id": "s1",
    "type": "bugfix",
    "title": "Rounding of invoices",
    "content": "Totals are rounded once, as rounding per line was off by a cent",
    "tool_name": "Edit",
    "project": "shop",
    "scope": "project",
    "topic_key": "bug/rounding",
    "revision_count": 3,
    "duplicate_count": 2,
    "last_seen_at": "2026-01-03 10:00:00",
    "review_after": "2026-07-01 00:00:00",
    "created_at": "2026-01-01 10:00:00",
    "updated_at": "2026-01-02 10:00:00",
}
DELETED = OBSERVATION | {
    "id": 8,
    "sync_id": "obs-2",
    "title": "Cache",
    "content": "Posts are cached for an hour in Redis",
    "topic_key": "config/cache",
    "deleted_at": "2026-01-04 10:00:00",
}
SESSION = {
    "id": "s1",
    "project": "shop",
    "directory": "/home/me/shop",
    "started_at": "2026-01-01 09:00:00",
    "ended_at": "2026-01-01 11:00:00",
    "summary": "Fixed the invoices",
}
PROMPT = {
    "id": 3,
    "sync_id": "prompt-1",
    "session_id": "s1",
    "content": "fix the invoices",
    "project": "shop",
    "created_at": "2026-01-01 09:01:00",
}


def document(*observations, **changes):
    return {
        "version": "0.1.0",
        "exported_at": "2026-01-31 12:00:00",
        "sessions": [SESSION],
        "observations": list(observations) or [OBSERVATION, DELETED],
        "prompts": [PROMPT],
    } | changes


@pytest.fixture
def opened(tmp_path):
    """Opens projects by name; a day passes with each."""
    days = iter(range(100))

    def opened(name):
        root = tmp_path / name
        root.mkdir(exist_ok=True)
        api.init(str(root), environment={})
        now = NOW + timedelta(days=next(days))
        return api.open_memories(str(root), environment={}, now=lambda: now)

    return opened


def saved(tmp_path, found):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(found))
    return str(path)


def imported(opened, tmp_path, found, name="here", **options):
    with opened(name) as memories:
        return api.import_engram(memories, saved(tmp_path, found), **options)


def exported(opened, name="here"):
    with opened(name) as memories:
        return {
            key: value for key, value in api.export_engram(memories).items() if key != "exported_at"
        }


def rows(opened, name="here"):
    with opened(name) as memories:
        return {memory.title: memory for memory in api.list_memories(memories, None, None)}


def test_what_engram_wrote_comes_back_with_every_field(opened, tmp_path):
    report = imported(opened, tmp_path, document())
    assert (report.inserted, report.sessions, report.prompts) == (2, 1, 1)

    back = exported(opened)
    assert back["observations"] == [OBSERVATION, DELETED]
    assert back["sessions"] == [SESSION]
    assert back["prompts"] == [PROMPT]


def test_a_memory_has_the_fields_of_its_observation(opened, tmp_path):
    imported(opened, tmp_path, document())

    (found,) = rows(opened).values()
    assert (found.category, found.tags, found.topic_key) == ("gotcha", ("bugfix",), "bug/rounding")
    assert (found.trust, found.status, found.source_session_id) == ("import", "candidate", "s1")
    assert found.created_at.isoformat() == "2026-01-01T10:00:00+00:00"


def test_an_export_into_an_empty_project_and_out_again_is_the_same(opened, tmp_path):
    with opened("first") as memories:
        by_person = Origin(trust=Trust.USER, source_type="user", session_id="s9")
        api.write(memories, Draft(content="Releases are cut on Mondays", origin=by_person))
        api.write(
            memories, Draft(content="WAL needs shared memory", title="WAL", category="gotcha")
        )
    first = exported(opened, "first")
    assert [row["type"] for row in first["observations"]] == ["fact", "gotcha"]
    assert [row["id"] for row in first["sessions"]] == ["ademem-first", "s9"]

    imported(opened, tmp_path, first, "second")
    assert exported(opened, "second") == first


@pytest.mark.parametrize("again", [document(), document(OBSERVATION)])
def test_a_second_import_changes_nothing(opened, tmp_path, again):
    imported(opened, tmp_path, document())
    before = exported(opened)

    report = imported(opened, tmp_path, again)
    assert (report.inserted, report.updated, report.deleted) == (0, 0, 0)
    assert (report.sessions, report.prompts) == (0, 0)
    assert exported(opened) == before


def test_the_newer_text_counts(opened, tmp_path):
    imported(opened, tmp_path, document())
    newer = OBSERVATION | {"content": "Totals are rounded per order", "revision_count": 4}

    older = imported(opened, tmp_path, document(newer | {"updated_at": "2026-01-01 12:00:00"}))
    assert older.updated == 0
    report = imported(opened, tmp_path, document(newer | {"updated_at": "2026-01-20 10:00:00"}))
    assert report.updated == 1
    (found,) = rows(opened).values()
    assert found.content == "Totals are rounded per order"
    assert exported(opened)["observations"][0]["revision_count"] == 4


def test_a_text_that_changed_here_later_stays_and_is_exported(opened, tmp_path):
    imported(opened, tmp_path, document())
    with opened("here") as memories:
        (found,) = api.list_memories(memories, None, None)
        api.edit(memories, found.id, content="Totals are rounded by the bank")
    newer = OBSERVATION | {"content": "Old news", "updated_at": "2026-01-20 10:00:00"}
    imported(opened, tmp_path, document(newer))

    (row,) = [row for row in exported(opened)["observations"] if row["sync_id"] == "obs-1"]
    assert row["content"] == "Totals are rounded by the bank"
    assert row["updated_at"] > newer["updated_at"]
    assert (row["tool_name"], row["id"]) == ("Edit", 7)


def test_what_a_person_said_is_not_replaced_but_proposed_once(opened, tmp_path):
    imported(opened, tmp_path, document(OBSERVATION))
    with opened("here") as memories:
        (found,) = api.list_memories(memories, None, None)
        api.edit(memories, found.id, content="Totals are rounded by the bank")
    later = OBSERVATION | {
        "content": "Totals are never rounded",
        "updated_at": "2027-01-01 10:00:00",
    }

    reports = [imported(opened, tmp_path, document(later)) for _ in range(2)]
    assert [report.inserted for report in reports] == [1, 0]
    with opened("here") as memories:
        texts = {memory.content: memory.trust for memory in api.list_memories(memories, None, None)}
    assert texts == {
        "Totals are rounded by the bank": "user",
        "Totals are never rounded": "import",
    }


def test_a_later_deletion_deletes(opened, tmp_path):
    imported(opened, tmp_path, document(OBSERVATION))

    report = imported(
        opened, tmp_path, document(OBSERVATION | {"deleted_at": "2026-01-09 10:00:00"})
    )
    assert report.deleted == 1
    assert rows(opened) == {}


def test_what_was_deleted_here_for_good_stays_away(opened, tmp_path):
    imported(opened, tmp_path, document(OBSERVATION))
    with opened("here") as memories:
        (found,) = api.list_memories(memories, None, None)
        api.delete(memories, found.id, hard=True)
        (prompt,) = api.search_prompts(memories)
        api.delete_prompt(memories, prompt["id"])

    imported(opened, tmp_path, document(OBSERVATION))
    assert rows(opened) == {}
    assert exported(opened)["prompts"] == []


def test_personal_scope_is_not_exported(opened, tmp_path):
    imported(opened, tmp_path, document(OBSERVATION | {"scope": "personal"}))

    assert exported(opened)["observations"] == []


def test_one_project_of_several_is_imported(opened, tmp_path):
    other = OBSERVATION | {"sync_id": "obs-3", "project": "blog", "content": "Posts are cached"}
    both = document(OBSERVATION, other | {"topic_key": None})
    with pytest.raises(UsageError, match="blog, shop"):
        imported(opened, tmp_path, both)
    assert rows(opened) == {}

    assert imported(opened, tmp_path, both, project="blog").inserted == 1


def test_a_dry_run_writes_nothing(opened, tmp_path):
    assert imported(opened, tmp_path, document(), dry_run=True).inserted == 2
    assert exported(opened)["observations"] == []


@pytest.mark.parametrize("version", ["9.9.9", None, 1])
def test_another_version_is_refused_before_a_row_is_touched(opened, tmp_path, version):
    with pytest.raises(UsageError, match="version"):
        imported(opened, tmp_path, document(version=version))
    assert exported(opened)["sessions"] == []


FIRST_SCHEMA = """
create table sessions (id text primary key, project text not null, directory text not null,
  started_at text not null, ended_at text, summary text);
create table observations (id integer primary key autoincrement, session_id text not null,
  type text not null, title text not null, content text not null, tool_name text, project text,
  scope text not null default 'project', topic_key text, normalized_hash text,
  revision_count integer not null default 1, duplicate_count integer not null default 1,
  last_seen_at text, created_at text not null, updated_at text not null, deleted_at text);
create table user_prompts (id integer primary key autoincrement, session_id text not null,
  content text not null, project text, created_at text not null);
"""
LATER_COLUMNS = """
alter table observations add column sync_id text;
alter table observations add column pinned integer not null default 0;
alter table observations add column review_after text;
"""


@pytest.mark.parametrize("script", [FIRST_SCHEMA, FIRST_SCHEMA + LATER_COLUMNS], ids=["old", "new"])
def test_the_database_is_read_by_the_columns_that_it_has(opened, tmp_path, script):
    path = tmp_path / "engram.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(script)
        there = {row[1] for row in db.execute("pragma table_info(observations)")}
        for table, row in (("sessions", SESSION), ("observations", OBSERVATION)):
            kept = {k: v for k, v in row.items() if table == "sessions" or k in there}
            marks = ", ".join("?" * len(kept))
            names = ", ".join(kept)
            db.execute(f"insert into {table} ({names}) values ({marks})", list(kept.values()))
        db.commit()
    before = path.read_bytes()

    with opened("here") as memories:
        first = api.import_engram(memories, str(tmp_path))
        again = api.import_engram(memories, str(path))
    assert (first.inserted, first.sessions, again.inserted) == (1, 1, 0)
    (found,) = exported(opened)["observations"]
    assert {key: found[key] for key in ("id", "title", "content", "tool_name")} == {
        key: OBSERVATION[key] for key in ("id", "title", "content", "tool_name")
    }
    assert path.read_bytes() == before


def test_a_row_without_a_text_is_named(opened, tmp_path):
    report = imported(
        opened, tmp_path, document(OBSERVATION, DELETED | {"deleted_at": None, "content": " "})
    )

    assert [(each.where, each.why) for each in report.skipped] == [
        ("observation 8", "it has no text")
    ]
    assert engram.VERSION in engram.READ

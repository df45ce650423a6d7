"""Cleaning the past: what older versions, other programs and hands left behind."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
from contextlib import closing

import pytest

from ademem import operations
from ademem.core.errors import UnusableStore
from ademem.core.registers import join, next_stamp, write
from ademem.operations import files, searching, upkeep, writing
from ademem.store import replication, texts
from ademem.store.memories import Change
from ademem.sync import checks
from tests.builders import NOW, insert, memory
from tests.canaries import CANARIES, found_below
from tests.examples import some

KEYS = ["".join(canary) for canary in CANARIES.values()]
KEY = "ghp_" + "a1B2c3D4e5" * 4


def opened(root):
    environment = {"TMPDIR": str(root / "tmp"), "CLAUDE_PROJECT_DIR": str(root)}
    return operations.open_memories(str(root), environment=environment, now=lambda: NOW)


@pytest.fixture
def root(tmp_path):
    operations.init(str(tmp_path))
    return tmp_path


def tables(db):
    """Tables and their columns, without the parts of word indexes."""
    found = db.execute("select name, sql from sqlite_master where type = 'table'").fetchall()
    virtual = tuple(name for name, sql in found if sql.lower().startswith("create virtual"))
    return {
        name: db.execute(f"pragma table_info({name})").fetchall()
        for name, _ in found
        if not name.startswith(virtual)
    }


def written(db):
    """Columns by table in which a person, an agent or a tool may have written a key."""
    sqls = dict(map(tuple, db.execute("select name, sql from sqlite_master where type = 'table'")))
    return {
        table: [
            column["name"]
            for column in columns
            if column["type"].lower() == "text"
            and column["name"] not in {*texts.SAFE, "agent_id", "counts"}
            and not re.search(rf"\b{column['name']} in \(", sqls[table])
        ]
        for table, columns in tables(db).items()
        if table not in ("projects", "memory_bindings", "store_values")
    }


def plant(db, key):
    """The key in every column that may hold one, past all doors, in a row of its own."""
    told = tables(db)
    db.execute("pragma ignore_check_constraints = on")
    for table, wanted in written(db).items():
        number = db.execute(f"select count(*) from {table}").fetchone()[0]
        row = {
            name: f'{{"a": ["{number} {key}"]}}' if name in texts.JSON else f"{number} {key}"
            for name in wanted
        }
        for column in told[table]:
            needed = column["pk"] or (column["notnull"] and column["dflt_value"] is None)
            if needed and column["name"] not in row:
                row[column["name"]] = number + 1
        marks = ", ".join(f":{name}" for name in row)
        db.execute(f"insert into {table} ({', '.join(row)}) values ({marks})", row)


def test_a_key_in_any_column_is_gone_with_every_byte(root):
    with opened(root) as memories:
        db = memories.store.db
        db.execute("pragma foreign_keys = off")
        for key in some(KEYS):
            with memories.store.transaction():
                plant(db, key.replace('"', "").replace("\\", ""))
        db.execute(
            "update unified_memories set status = 'archived', tier = 2, scope = 'project',"
            " category = 'fact', created_at = '2026-01-01T00:00:00.000000Z',"
            " updated_at = created_at, last_accessed_at = created_at, anchors = '[]'"
        )
        assert found_below(root)
        planted = {f"{table}.{name}" for table, names in written(db).items() for name in names}
        done = upkeep.scrub(memories)

    changed = {column.removeprefix("ade.db.") for column in done.rows}
    vectors = "unified_memory_embeddings.embedding_model"  # rows that go when their text changes
    assert planted - changed <= {"unified_memories.anchors", vectors}
    assert found_below(root) == {}


def test_a_second_run_finds_nothing(root):
    with opened(root) as memories:
        insert(memories.store, memory(f"the key is {KEY}"))
        first, second = upkeep.scrub(memories), upkeep.scrub(memories)

    assert first.rows == {"unified_memories.content": 1, "memory_revisions.snapshot": 1}
    assert (second.found, second.left) == (0, ())


def test_a_dry_run_tells_the_same_and_changes_nothing(root):
    with opened(root) as memories:
        insert(memories.store, memory(f"the key is {KEY}"))
        dry = upkeep.scrub(memories, dry_run=True)

        assert KEY in searching.list_memories(memories)[0].content
        assert upkeep.scrub(memories).rows == dry.rows
        assert KEY not in searching.list_memories(memories)[0].content


def test_what_is_clean_is_found_and_merged_as_before(root):
    with opened(root) as memories:
        insert(memories.store, memory(f"Deploys are signed with {KEY} in staging"))
        upkeep.scrub(memories)
        said = writing.write(memories, f"Deploys are signed with {KEY} in staging")
        found = searching.search(memories, "deploys signed")

    assert said.deduped
    assert [hit.memory.id for hit in found.hits] == [said.merged_into_id]


def test_no_copy_of_what_was_redacted_comes_back(root):
    secret = memory(f"Deploys are signed with {KEY}", title=KEY, tags=(KEY, "ops"), bead=KEY)
    by_import = Change(operation="import", actor="import", at=NOW)
    with opened(root) as memories:
        insert(memories.store, secret)
        copy = replication.read(memories.store, secret.id)
        theirs = write(copy, {"content": f"{KEY} signs"}, next_stamp(copy.last_stamp, NOW, "b" * 8))
        replication.apply(memories.store, copy, by_import)
        upkeep.scrub(memories)
        clean = replication.read(memories.store, secret.id)
        for old in (copy, theirs):
            joined = join(old, clean)
            assert joined.value("bead") == "[redacted:github-token]"
            assert (KEY in str(joined.texts)) == (old is theirs)
        upkeep.scrub(memories)

        assert join(clean, replication.read(memories.store, secret.id)) == clean
        assert not replication.apply(memories.store, copy, by_import).changed
        replication.apply(memories.store, theirs, by_import)
        assert len(searching.list_memories(memories)) == 2
        assert KEY not in "\n".join(memories.store.db.iterdump())


def test_of_two_that_differed_in_their_keys_one_stays_live(root):
    texts_ = [f"Deploys are signed with ghp_{letter * 36}" for letter in "AB"]
    with opened(root) as memories:
        insert(memories.store, *map(memory, texts_))
        upkeep.scrub(memories)

        assert len(searching.list_memories(memories)) == 1


def test_pages_that_were_freed_before_hold_nothing(root):
    with opened(root) as memories:
        (row,) = insert(memories.store, memory(f"{KEY} " * 500))
        db = memories.store.db
        db.execute("delete from memory_revisions")
        db.execute("delete from unified_memories")
        upkeep.scrub(memories)

    assert row.id
    assert KEY.encode() not in (root / ".ade/ade.db").read_bytes()


def test_files_logs_and_backups_are_rewritten(root):
    with opened(root) as memories:
        insert(memories.store, memory(f"the key is {KEY}"))
        files.refresh_files(memories)
    shutil.copy(root / ".ade/ade.db", root / ".ade/ade.db.v4.bak")
    for path in ("log/hooks.log.1", "run/note", "memory/notes.md", "agents/a/core-memory.json"):
        file = root / ".ade" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"before {KEY} after\n")
    with opened(root) as memories:
        done = upkeep.scrub(memories)
        clean = checks.check(memories.project, memories.store, memories.settings.mirror)

    assert (root / ".ade/log/hooks.log.1").read_text() == "before [redacted:github-token] after\n"
    assert done.files[".ade/memory/notes.md"] == 1
    assert done.rows["ade.db.v4.bak: unified_memories.content"] == 1
    assert KEY.encode() not in b"".join(
        path.read_bytes() for path in (root / ".ade").rglob("*") if path.is_file()
    )
    assert [problem for problem in clean if "notes.md" not in problem.path] == []


def test_a_copy_of_an_older_schema_is_cleaned_as_far_as_it_goes(root):
    with opened(root) as memories:
        insert(memories.store, memory(f"the key is {KEY}"))
    shutil.copy(root / ".ade/ade.db", root / ".ade/ade.db.v4.bak")
    with closing(sqlite3.connect(root / ".ade/ade.db.v4.bak")) as copy:
        copy.execute("drop table jobs")
        copy.execute("alter table sessions drop column summary")
    with opened(root) as memories:
        left = upkeep.scrub(memories).left

    assert left == ()
    assert KEY.encode() not in (root / ".ade/ade.db.v4.bak").read_bytes()


def test_what_cannot_be_cleaned_is_reported_with_the_next_step(root):
    def git(*words):
        who = ("-c", "user.name=A", "-c", "user.email=a@x.invalid")
        subprocess.run(["git", "-C", root, *who, *words], check=True, capture_output=True)

    (root / ".ade/memory").mkdir(exist_ok=True)
    (root / ".ade/memory/notes.md").write_text(KEY)
    git("init", "-q")
    git("add", ".ade")
    git("commit", "-qm", "one")
    (root / ".ade/config.toml").write_text(f"# {KEY}\n")
    (root / ".ade/config.local.toml").write_text(f"# {KEY}\n")
    (root / ".ade/ade.db.damaged-1").write_bytes(b"no database " + KEY.encode())
    with opened(root) as memories:
        left = upkeep.scrub(memories).left

    told = {each.what.partition(",")[0].rpartition("/")[2]: each.hint for each in left}
    assert told["ade.db.damaged-1"] == "delete it"
    assert "by hand" in told["config.toml"]
    assert "by hand" in told["config.local.toml"]
    (history,) = [each for each in left if "history" in each.what]
    assert history.what.startswith("1 commit of git")
    assert "filter-repo" in history.hint


def test_while_others_read_the_old_pages_the_person_is_informed(root):
    with opened(root) as memories, closing(sqlite3.connect(root / ".ade/ade.db")) as other:
        insert(memories.store, memory(f"the key is {KEY}"))
        memories.store.db.execute("pragma busy_timeout = 50")
        other.execute("begin")
        other.execute("select * from unified_memories").fetchall()
        with pytest.raises(UnusableStore, match="is in use"):
            upkeep.scrub(memories)
        other.rollback()

        assert upkeep.scrub(memories).found == 0
    assert KEY.encode() not in (root / ".ade/ade.db").read_bytes()

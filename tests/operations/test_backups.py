"""Backups of the whole database, and what takes one back."""

import json
import os
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from ademem import operations
from ademem.core import project
from ademem.core.errors import AdememError
from ademem.core.memory import Draft
from ademem.core.registers import replica_of
from ademem.operations import curation, doctor, files, recovery, reports, searching, upkeep, writing
from ademem.store import backup_files, backups, database, stamps
from ademem.store.runtime import personal_project
from ademem.worker import running
from tests import builders
from tests.builders import NOW
from tests.command_line import ademem
from tests.examples import FULL
from tests.operations.killed_restore import texts
from tests.store import ade_file, filled, foreign, racing

SHARED = "Deploys go through the staging cluster"
PRIVATE = "Ann reviews the parser on Mondays"
LATER = "Clocks are UTC in every log"


def write(root, text, **fields):
    with operations.open_memories(str(root), now=lambda: NOW) as memories:
        draft = Draft(content=text, category="convention", promoted=True, **fields)
        return writing.write(memories, draft).memory


@pytest.fixture
def root(tmp_path):
    """A project with a memory for all and one of an agent."""
    folder = tmp_path / "atlas"
    folder.mkdir()
    operations.init(str(folder))
    write(folder, SHARED)
    write(folder, PRIVATE, scope="personal", owner="ann")
    return folder


@pytest.fixture
def path(root):
    return root / ".ade/ade.db"


def back_up(root, now=NOW):
    return Path(recovery.back_up(project.at(str(root)), os.environ, now).path)


def restore(root, named="latest", **options):
    return recovery.restore_backup(project.at(str(root)), os.environ, str(named), NOW, **options)


def listed(root):
    return backup_files.list_all(project.at(str(root)), os.environ)


def test_a_backup_is_one_file_with_everything_that_its_owner_alone_may_read(root, home):
    made = back_up(root)

    assert texts(made) == [PRIVATE, SHARED]
    assert os.listdir(made.parent) == [made.name]
    assert made.stat().st_mode & 0o777 == 0o600
    assert made.parent.stat().st_mode & 0o777 == 0o700
    assert made.is_relative_to(home)
    assert not made.is_relative_to(root)


def test_restoring_takes_the_backup_back_and_keeps_what_was_there(root, path):
    back_up(root)
    write(root, LATER)
    done = restore(root)

    assert texts(path) == [PRIVATE, SHARED]
    assert done.memories == 2
    assert texts(done.replaced) == [PRIVATE, LATER, SHARED]


def test_a_restored_database_can_be_replaced_by_the_one_before(root, path):
    back_up(root)
    write(root, LATER)
    restore(root, restore(root).replaced)

    assert texts(path) == [PRIVATE, LATER, SHARED]


def test_what_the_files_know_beyond_the_backup_is_imported(root, path):
    back_up(root)
    write(root, LATER)
    with operations.open_memories(str(root)) as memories:
        files.refresh_files(memories)
    done = restore(root)

    assert done.done == ("took 1 memory from the files",)
    assert texts(path) == [PRIVATE, LATER, SHARED]
    assert LATER in (root / ".ade/memory/knowledge.jsonl").read_text()


def test_a_running_session_goes_on_with_the_restored_database(root, path):
    back_up(root)
    with operations.open_memories(str(root)) as memories:
        writing.write(memories, Draft(content="Lost with the restoring", category="fact"))
        restore(root)
        writing.write(memories, Draft(content=LATER, category="convention"))

        assert len(searching.search(memories, "staging cluster deploys").hits) == 1
    assert texts(path) == [PRIVATE, LATER, SHARED]


def test_a_restored_database_writes_as_another_replica(root):
    """Also a session that has it open: others may have what it wrote after the backup."""
    place = project.at(str(root))
    with operations.open_memories(str(root)) as memories, memories.store.transaction():
        before = stamps.replica(memories.store)
    back_up(root)
    with operations.open_memories(str(root)) as memories:
        store = memories.store
        with store.transaction():
            assert stamps.replica(store) == before
            stamps.follow(store, "2026-01-31T20:00:00.000Z-0000-1a2b3c4d", NOW)
        restore(root)
        with store.transaction():
            last = stamps.tick(store, NOW)

    assert replica_of(last) != before
    assert last.startswith("2026-01-31T20:00:00.000Z-0001-")
    with closing(database.connect(place.database, 1)) as db:
        assert database.value(db, "replica").startswith(replica_of(last))


def test_while_another_process_writes_nothing_is_restored(root, path, monkeypatch):
    monkeypatch.setattr(backups, "WAIT_S", 0.05)
    back_up(root)
    write(root, LATER)
    with closing(sqlite3.connect(path)) as other:
        other.execute("begin immediate")
        with pytest.raises(backups.InUse):
            restore(root)

    assert texts(path) == [PRIVATE, LATER, SHARED]
    assert [each.kind for each in listed(root)] == ["typed"]
    assert [name for name in os.listdir(path.parent) if name.startswith("ade.db")] == ["ade.db"]


def test_a_trial_changes_nothing(root, path):
    back_up(root)
    write(root, LATER)
    before = path.read_bytes()

    assert restore(root, dry_run=True).memories == 2
    assert path.read_bytes() == before


def test_a_damaged_database_is_renamed(root, path):
    back_up(root)
    path.write_bytes(b"SQLite format 3\0" + b"rubbish" * 1000)
    done = restore(root)

    assert texts(path) == [PRIVATE, SHARED]
    assert Path(done.replaced).read_bytes().endswith(b"rubbish")


def test_a_lost_database_comes_back(root, path):
    back_up(root)
    path.unlink()

    assert restore(root).replaced == ""
    assert texts(path) == [PRIVATE, SHARED]


def test_a_foreign_database_is_set_aside(root, path):
    back_up(root)
    path.unlink()
    foreign.build(path, "create table notes (x)")

    assert restore(root).replaced == f"{path}.foreign-1"
    assert texts(path) == [PRIVATE, SHARED]


def test_a_backup_of_an_older_schema_is_migrated(root, path, tmp_path):
    filled.build_own(tmp_path / "ade.db")
    restore(root, tmp_path / "ade.db", force=True)

    with closing(sqlite3.connect(path)) as db:
        assert database.version(db) == database.SCHEMA_VERSION


def damage(file):
    content = bytearray(file.read_bytes())
    content[8192:200_000] = b"\xff" * (200_000 - 8192)
    file.write_bytes(content)


def make_newer(file):
    with closing(sqlite3.connect(file)) as db:
        db.execute("pragma user_version = 99")


def make_adoptable(file):
    file.unlink()
    with closing(sqlite3.connect(file)) as db, db:
        ade_file.fill(db)


def make_foreign(file):
    file.unlink()
    foreign.build(file, "create table notes (x)")


def make_pipe(file):
    file.unlink()
    os.mkfifo(file)


def make_link(file):
    file.rename(f"{file}.real")
    file.symlink_to(f"{file}.real")


@pytest.mark.parametrize(
    ("spoil", "code", "reason"),
    [
        pytest.param(damage, 6, "is damaged", id="damaged"),
        pytest.param(lambda file: os.truncate(file, 40_000), 6, "is damaged", id="cut off"),
        pytest.param(lambda file: os.truncate(file, 0), 4, "is an empty database", id="empty"),
        pytest.param(lambda file: file.write_text("x" * 9000), 4, "is not a database", id="a text"),
        pytest.param(make_newer, 6, "the database has schema 99", id="newer"),
        pytest.param(make_adoptable, 4, "is not a database of ademem", id="of another program"),
        pytest.param(make_foreign, 4, "is not a database of ademem", id="with another schema"),
        pytest.param(make_pipe, 4, "is not a regular file", id="a pipe"),
        pytest.param(make_link, 4, "cannot be read", id="a link"),
        pytest.param(lambda file: file.unlink(), 1, "there is no file", id="missing"),
    ],
)
def test_a_file_that_is_no_whole_backup_is_refused(root, path, tmp_path, spoil, code, reason):
    file = tmp_path / "given.db"
    back_up(root).rename(file)
    spoil(file)
    before = path.read_bytes()

    with pytest.raises(AdememError, match=reason) as refused:
        restore(root, file)
    assert refused.value.exit_code == code
    assert refused.value.hint
    assert path.read_bytes() == before
    assert [name for name in os.listdir(path.parent) if name.startswith("ade.db")] == ["ade.db"]


def test_the_backup_of_another_project_needs_to_be_meant(root, path, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    operations.init(str(other))
    made = back_up(other)

    with pytest.raises(backups.BadBackup, match="another project, other") as refused:
        restore(root, made)
    assert "--force" in refused.value.hint
    restore(root, made, force=True)
    assert texts(path) == []


def test_a_backup_from_elsewhere_is_not_taken_for_the_word_of_this_person(root, home):
    made = back_up(root)
    for note in (home / ".local/share/ademem-data/stores").iterdir():
        note.unlink()
    restore(root, made)

    with operations.open_memories(str(root)) as memories:
        assert not memories.store.is_trusted


def test_the_newest_three_of_each_kind_are_kept(root):
    place = project.at(str(root))
    for day in range(5):
        now = NOW + timedelta(days=day)
        back_up(root, now)
        backups.make(place, os.environ, backup_files.Kind.WEEKLY, now)

    kept = [f"{each.at[:10]} {each.kind}" for each in listed(root)]
    days = ("2026-02-04", "2026-02-03", "2026-02-02")
    assert kept == [f"{day} {kind}" for day in days for kind in ("weekly", "typed")]


def test_a_backup_is_named_by_the_beginning_of_its_time(root):
    first, second = back_up(root), back_up(root, NOW + timedelta(days=1))
    place = project.at(str(root))

    assert backups.find(place, os.environ, "2026-01-31T12:00") == str(first)
    assert backups.find(place, os.environ, "latest") == str(second)
    with pytest.raises(backups.NoBackup, match="2 backups begin with '2026'"):
        backups.find(place, os.environ, "2026")


def test_a_damaged_database_replaces_no_backup(root, path):
    made = back_up(root)
    damage(path)

    with pytest.raises(sqlite3.DatabaseError):
        back_up(root, NOW + timedelta(days=1))
    assert os.listdir(made.parent) == [made.name]


def test_a_memory_that_is_deleted_for_good_is_in_no_backup(root):
    gone = write(root, LATER)
    old = back_up(root)
    with operations.open_memories(str(root), now=lambda: NOW + timedelta(days=1)) as memories:
        curation.delete(memories, gone.id, hard=True)
    (left,) = listed(root)

    assert left.path != str(old)
    assert texts(left.path) == [PRIVATE, SHARED]
    assert LATER.encode() not in Path(left.path).read_bytes()


def test_scrubbing_reaches_the_backups(root):
    key = "ghp_" + "a" * 36
    with operations.open_memories(str(root)) as memories:
        builders.insert(memories.store, builders.memory(f"the key is {key}"))
        made = back_up(root)
        done = upkeep.scrub(memories)

    assert done.rows[f"{made.name}: unified_memories.content"] == 1
    assert key.encode() not in made.read_bytes()


def test_doctor_and_status_name_the_newest_backup(root, path):
    patient = doctor.Patient(project=project.at(str(root)), environment=os.environ, now=NOW)

    assert doctor.backup_was_made(patient).message == "none yet"
    back_up(root)
    with operations.open_memories(str(root)) as memories:
        assert reports.get_status(memories)["backup"] == "2026-01-31T12:00:00.000Z"
    assert "2026-01-31T12:00:00.000Z (typed)" in doctor.backup_was_made(patient).message
    path.write_bytes(b"SQLite format 3\0" + b"rubbish" * 1000)
    assert "restore --backup latest" in doctor.database_is_sound(patient).hint


@pytest.mark.slow
def test_a_killed_process_leaves_the_old_database_or_the_restored_one(root, path):
    """Whatever it was doing: opening, renaming or removing a file, in the middle of a write."""
    made = back_up(root)
    write(root, LATER)
    before, after = [PRIVATE, LATER, SHARED], [PRIVATE, SHARED]
    stride = "1" if FULL else "9"
    lines = racing.said("tests.operations.killed_restore", str(root), str(made), stride)
    states = [json.loads(line) for line in lines]

    at = [found for found, _ in states].index(after)
    assert all(found == before and kept in ([], [before]) for found, kept in states[:at])
    assert all(state == [after, [before]] for state in states[at:])
    assert 5 < at < len(states) - 1


def test_personal_memory_has_backups_of_its_own(root, home, tmp_path):
    own = personal_project(os.environ)
    write(root, "I prefer short answers", scope="personal")
    by_command("backup", root)
    of_project, of_person = (Path(listed_in(place)) for place in (project.at(str(root)), own))
    assert texts(of_project) == [PRIVATE, SHARED]
    assert texts(of_person) == ["I prefer short answers"]
    assert of_person.stat().st_mode & 0o777 == 0o600

    write(root, "I work in UTC", scope="personal")
    by_command("restore", root, "--backup", "latest", "--personal")
    assert texts(own.database) == ["I prefer short answers"]
    assert texts(root / ".ade/ade.db") == [PRIVATE, SHARED]
    (replaced,) = (
        each for each in backup_files.list_all(own, os.environ) if each.kind == "replaced"
    )
    assert texts(replaced.path) == ["I prefer short answers", "I work in UTC"]
    assert "memory" not in os.listdir(own.home)


def listed_in(place):
    (only,) = backup_files.list_all(place, os.environ)
    return only.path


def by_command(name, root, *words):
    return ademem(name, *words, "--project", str(root), environment=dict(os.environ), folder=root)


def test_the_worker_backs_up_personal_memory_weekly_whichever_project_it_works_for(root):
    own = personal_project(os.environ)
    write(root, "I prefer short answers", scope="personal")
    for days, expected in ((8, 1), (9, 1), (16, 2)):
        now = NOW + timedelta(days=days)
        with operations.open_memories(str(root), now=lambda now=now: now) as memories:
            running.back_up(running.JobContext(memories, lambda now=now: now, None), None)
        assert len(backup_files.list_all(own, os.environ)) == expected

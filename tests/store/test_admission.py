"""Which database is used, and which is set aside before SQLite reads a byte of it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
from contextlib import closing

import pytest

from ademem.core import trust
from ademem.store import admission, adoption, database, inspection, memories
from ademem.store.database import EARLIER, SCHEMA_VERSION
from ademem.store.opening import open_store
from tests import builders
from tests.builders import NOW, memory, project
from tests.store import filled, foreign
from tests.store.stores import reopen, text_of


def open_here(root, **options):
    return open_store(project(root), NOW, **options)


def names(root):
    return sorted(name for name in os.listdir(root / ".ade") if name.startswith("ade.db"))


@pytest.fixture
def is_set_aside(tmp_path, path):
    """Whether opening the store leaves what was there untouched beside a new, empty store."""

    def is_set_aside():
        before = os.lstat(path)
        with closing(open_here(tmp_path)) as store:
            assert memories.find(store, "true") == []
            assert store.is_trusted
        aside = os.lstat(tmp_path / ".ade/ade.db.foreign-1")
        return (aside.st_ino, aside.st_mode) == (before.st_ino, before.st_mode)

    return is_set_aside


@pytest.mark.parametrize("index", ["2", "4"])
def test_a_database_that_git_tracks_is_set_aside_once(tmp_path, path, is_set_aside, index):
    foreign.build(path)
    foreign.commit(tmp_path, ".ade/ade.db")
    foreign.git(tmp_path, "update-index", "--index-version", index)

    assert is_set_aside()
    with closing(open_here(tmp_path)) as store:
        builders.insert(store, memory())
    foreign.git(tmp_path, "commit", "-q", "--allow-empty", "-m", "another state of the index")
    with closing(open_here(tmp_path)) as store:
        assert len(memories.find(store, "true")) == 1
    assert names(tmp_path) == ["ade.db", "ade.db.foreign-1"]


def test_a_database_that_a_checkout_wrote_over_ours_is_set_aside(tmp_path, path):
    foreign.build(path)
    foreign.commit(tmp_path, ".ade/ade.db")
    reopen(tmp_path)
    foreign.git(tmp_path, "checkout", "-q", "--", ".ade/ade.db")
    reopen(tmp_path)

    assert names(tmp_path) == ["ade.db", "ade.db.foreign-1", "ade.db.foreign-2"]


def test_a_log_that_git_wrote_beside_our_database_is_not_replayed(tmp_path, path):
    reopen(tmp_path)
    theirs = foreign.build(tmp_path / "theirs" / "ade.db")
    with closing(sqlite3.connect(theirs)) as db:
        db.execute("update projects set display_name = 'theirs'")
        db.commit()
        shutil.copy(f"{theirs}-wal", f"{path}-wal")
    foreign.commit(tmp_path, ".ade/ade.db-wal")
    with closing(open_here(tmp_path)) as store:
        (found,) = store.db.execute("select display_name from projects").fetchone()

    assert found != "theirs"
    assert "ade.db.foreign-1-wal" in names(tmp_path)


def test_a_store_of_ours_that_a_person_adds_to_git_is_set_aside(tmp_path, path):
    reopen(tmp_path)
    foreign.commit(tmp_path, ".ade/ade.db")
    reopen(tmp_path)

    assert names(tmp_path) == ["ade.db", "ade.db.foreign-1"]


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_a_link_is_renamed_and_never_followed(tmp_path, path, suffix):
    elsewhere = foreign.build(tmp_path / "elsewhere" / "notes.db")
    if suffix:
        reopen(tmp_path)
    before = elsewhere.read_bytes()
    path.parent.mkdir(exist_ok=True)
    os.symlink(elsewhere, f"{path}{suffix}")
    with closing(open_here(tmp_path)) as store:
        builders.insert(store, memory())

    assert elsewhere.read_bytes() == before
    assert os.readlink(tmp_path / f".ade/ade.db.foreign-1{suffix}") == str(elsewhere)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(os.mkdir, id="a folder"),
        pytest.param(os.mkfifo, id="a pipe"),
        pytest.param(lambda path: os.symlink("/dev/zero", path), id="a device"),
        pytest.param(lambda path: os.symlink("nowhere", path), id="a link to nowhere"),
    ],
)
def test_what_is_no_file_is_set_aside(path, is_set_aside, make):
    path.parent.mkdir()
    make(path)

    assert is_set_aside()


def test_a_database_of_another_user_is_set_aside(path, is_set_aside):
    if os.getuid() != 0:
        pytest.skip("only root can give a file away")
    foreign.build(path)
    os.chown(path, 4321, 4321)

    assert is_set_aside()


def test_a_database_of_the_owner_of_the_project_is_used(tmp_path, path):
    if os.getuid() != 0:
        pytest.skip("only root can give a file away")
    foreign.build(path)
    for each in (tmp_path, path):
        os.chown(each, 4321, 4321)
    reopen(tmp_path)

    assert names(tmp_path) == ["ade.db"]


def test_a_journal_that_would_delete_another_file_is_not_rolled_back(tmp_path, path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    foreign.build(path)
    named = os.fsencode(victim)
    page, name = struct.pack(">I", 1), struct.pack(">I", len(named))
    check = struct.pack(">I", sum(named))
    head = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + struct.pack(">IIIII", 0, 7, 1, 512, 4096)
    end = page + named + name + check + b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
    path.with_name("ade.db-journal").write_bytes(head.ljust(512, b"\0") + end)
    reopen(tmp_path)

    assert victim.read_text() == "precious"
    assert "ade.db.foreign-1-journal" in names(tmp_path)


@pytest.mark.parametrize("folder", ["run", "log"])
def test_a_folder_of_ours_that_came_with_git_is_set_aside(tmp_path, folder):
    theirs = tmp_path / ".ade" / folder
    theirs.mkdir(parents=True)
    (theirs / "files.seen").write_text("")
    foreign.commit(tmp_path, ".ade")
    reopen(tmp_path)

    assert not theirs.exists()
    assert (tmp_path / f".ade/ade.db.foreign-1-{folder}" / "files.seen").exists()


@pytest.mark.parametrize("folder", ["run", "log"])
def test_a_folder_of_ours_that_is_a_link_is_set_aside(tmp_path, folder):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".ade").mkdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / ".ade" / folder)
    reopen(tmp_path)

    assert not (tmp_path / ".ade" / folder).is_symlink()
    assert (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("script", foreign.SCRIPTS.values(), ids=foreign.SCRIPTS.keys())
def test_a_schema_that_is_not_ours_is_set_aside(path, is_set_aside, script):
    foreign.build(path, script)

    assert is_set_aside()


OTHERS = {
    "no table of ours": "create table notes (x); insert into notes values (1);",
    "a version without tables": f"pragma user_version = {EARLIER[-1]}",
    "a version that lies": f"pragma user_version = {SCHEMA_VERSION}; create table projects (x);",
    "a version below all": "pragma user_version = -7; create table projects (x);",
    "a view for ADE's table": f"create view unified_memories as {foreign.ENDLESS};",
    "text in two bytes a character": "pragma encoding = 'UTF-16'; create table notes (x);",
    "small pages": "pragma page_size = 512; create table notes (x);",
}


@pytest.mark.parametrize("script", OTHERS.values(), ids=OTHERS.keys())
def test_a_database_that_is_neither_ours_nor_ades_is_set_aside(path, is_set_aside, script):
    foreign.plain(path, script)

    assert is_set_aside()


def test_a_schema_of_thousands_of_tables_is_set_aside(path, is_set_aside):
    script = "begin;" + "".join(f"create table t{number} (x);" for number in range(6000))
    foreign.plain(path, script + "commit;")

    assert is_set_aside()


def test_reading_a_schema_ends_after_its_time(path, monkeypatch):
    foreign.plain(path, "begin;" + "".join(f"create table t{n} (x);" for n in range(3000)))
    monkeypatch.setattr(inspection, "OPERATIONS", 10)
    monkeypatch.setattr(inspection, "LOOK_S", 0.0)

    assert inspection.kind_of(str(path), {}) is inspection.Kind.FOREIGN


def test_a_newer_database_is_left_in_place(tmp_path, path):
    foreign.build(path, f"pragma user_version = {SCHEMA_VERSION + 1}")
    before = text_of(path)

    with pytest.raises(database.NewerDatabase):
        reopen(tmp_path)
    assert text_of(path) == before
    assert not [name for name in names(tmp_path) if "foreign" in name]


ALLOWED = {
    "as it was made": "",
    "with statistics": "analyze",
}


@pytest.mark.parametrize("script", ALLOWED.values(), ids=ALLOWED.keys())
def test_a_database_of_ours_is_used(tmp_path, path, script):
    foreign.build(path, script)
    with closing(open_here(tmp_path)) as store:
        assert store.db.execute("select count(*) from unified_memories").fetchone()[0] == 1
        assert not store.is_trusted
    assert names(tmp_path) == ["ade.db"]


def test_the_digest_of_the_schema_is_that_of_the_files(path):
    with closing(sqlite3.connect(filled.build(path))) as db:
        digest = inspection.digest(inspection.schema(db))

    assert digest == inspection.DIGEST, "DIGEST has to be this"


@pytest.mark.parametrize("version", [EARLIER[0], EARLIER[-1]])
def test_a_database_from_before_the_release_that_was_not_made_here_is_set_aside(
    path, is_set_aside, version
):
    filled.build(path, earlier=version)

    assert is_set_aside()


def test_a_database_of_this_person_that_is_too_old_to_be_taken_over_is_set_aside(
    path, is_set_aside
):
    filled.build_own(path, earlier=EARLIER[3] - 1)

    assert is_set_aside()


def test_a_close_look_is_taken_once(tmp_path, path, monkeypatch):
    reopen(tmp_path)
    looks = []
    monkeypatch.setattr(adoption, "admit", lambda *given: looks.append(given))
    reopen(tmp_path)
    assert looks == []

    os.replace(foreign.build(tmp_path / "other" / "ade.db"), path)
    reopen(tmp_path)
    assert len(looks) == 1


def test_a_commit_of_other_files_needs_no_close_look(tmp_path, path, monkeypatch):
    (tmp_path / "a.py").write_text("a = 1\n")
    foreign.commit(tmp_path, "a.py")
    reopen(tmp_path)
    (tmp_path / "a.py").write_text("a = 2\n")
    foreign.commit(tmp_path, "a.py")
    monkeypatch.setattr(adoption, "admit", lambda *_: pytest.fail("looked closely"))
    reopen(tmp_path)

    assert trust.last_inspection(str(path), os.environ) == admission.state(project(tmp_path))


def test_a_file_that_was_changed_in_place_is_looked_at_again(tmp_path, path):
    foreign.build(path)
    open_here(tmp_path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute(foreign.SCRIPTS["a view of another name"])
    open_here(tmp_path).close()

    assert "ade.db.foreign-1" in names(tmp_path)


def test_where_nothing_can_be_noted_the_store_is_used_all_the_same(tmp_path):
    (tmp_path / "data").write_text("a file, where a folder is needed")
    environment = {"ADEMEM_DATA_DIR": str(tmp_path / "data")}
    with closing(open_here(tmp_path, environment=environment)) as store:
        builders.insert(store, memory(trust="user"))
    with closing(open_here(tmp_path, environment=environment)) as store:
        (found,) = memories.find(store, "true")

    assert found.trust == "import"


def test_the_digest_of_a_secret_is_all_that_is_outside_of_the_database(tmp_path, home):
    with closing(open_here(tmp_path)) as store:
        secret = store.secret
    noted = [path for path in home.rglob("*") if path.is_file()]

    assert len(bytes.fromhex(secret)) == database.SECRET_BYTES
    assert noted
    assert not [path for path in noted if secret in path.name or secret in path.read_text()]


def test_each_database_has_a_secret_of_its_own(tmp_path):
    with closing(open_here(tmp_path / "a")) as one, closing(open_here(tmp_path / "b")) as other:
        assert one.secret != other.secret
        assert trust.is_registered(one.secret, os.environ)

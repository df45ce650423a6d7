"""What doctor --fix brings back."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from ademem import operations
from ademem.core import clock, project
from ademem.core.memory import Draft
from ademem.operations import doctor, files, install, recovery, searching, writing
from ademem.operations.doctor import CHECKS
from ademem.search.embedding import cache
from ademem.store import database, inspection, repair
from tests.store import filled, foreign

TEXTS = ("Tabs are forbidden in this code", "Deploys go through staging", "Never edit the parser")


@pytest.fixture
def root(tmp_path):
    operations.init(str(tmp_path))
    with operations.open_memories(str(tmp_path), environment={}) as memories:
        for text in TEXTS:
            writing.write(memories, Draft(content=text, category="convention", promoted=True))
        files.refresh_files(memories)
    return tmp_path


def fixed(root):
    return recovery.recover(project.at(str(root)), {}, clock.now())


def contents(root):
    with operations.open_memories(str(root), environment={}) as memories:
        return sorted(memory.content for memory in searching.list_memories(memories))


def forget_database(root):
    for path in (root / ".ade").glob("ade.db*"):
        path.unlink()


def test_a_sound_database_is_left_alone(root):
    assert fixed(root) == []


def test_a_database_that_is_gone_is_built_from_the_files(root):
    forget_database(root)

    assert fixed(root) == ["took 3 memories from the files"]
    assert contents(root) == sorted(TEXTS)


def test_a_clone_knows_at_its_enrolment_what_its_files_know(root):
    forget_database(root)
    operations.init(str(root))

    assert contents(root) == sorted(TEXTS)


def test_a_database_of_which_nothing_could_be_read_is_made_here_anew(root, tmp_path):
    (root / ".ade" / "ade.db").write_bytes(b"SQLite format 3\0" + b"rubbish" * 1000)
    environment = {"ADEMEM_DATA_DIR": str(tmp_path / "data")}
    recovery.recover(project.at(str(root)), environment, clock.now())

    with operations.open_memories(str(root), environment=environment) as memories:
        assert memories.store.is_trusted


def test_a_damaged_database_is_kept_and_its_memories_are_brought_back(root):
    (root / ".ade" / "ade.db").write_bytes(b"SQLite format 3\0" + b"rubbish" * 1000)
    done = fixed(root)

    assert "kept the damaged database" in done[0]
    assert list((root / ".ade").glob("ade.db.damaged-*"))
    assert contents(root) == sorted(TEXTS)


@pytest.mark.parametrize("script", foreign.SCRIPTS.values(), ids=foreign.SCRIPTS.keys())
def test_a_database_of_another_schema_is_set_aside_though_nothing_opened_it_before(root, script):
    """Nothing checks its pages, which may run expressions of its schema, or copies its rows."""
    forget_database(root)
    foreign.build(root / ".ade" / "ade.db", script)
    done = fixed(root)

    assert done == ["took 3 memories from the files"]
    assert (root / ".ade" / "ade.db.foreign-1").exists()
    assert contents(root) == sorted(TEXTS)


def test_a_look_at_a_schema_that_does_not_end_is_given_up(root, monkeypatch):
    monkeypatch.setattr(inspection, "OPERATIONS", 10)
    monkeypatch.setattr(inspection, "LOOK_S", 0.0)
    fixed(root)

    assert (root / ".ade" / "ade.db.foreign-1").exists()
    assert contents(root) == sorted(TEXTS)


def test_copying_from_a_damaged_database_that_does_not_end_is_given_up(root, monkeypatch):
    with operations.open_memories(str(root), environment={}) as memories:
        writing.write(memories, "The candidate is in no file of the project")
        memories.store.db.execute("pragma wal_checkpoint(truncate)")
    with (root / ".ade" / "ade.db").open("r+b") as file:
        file.write(b"none")  # in the header, which is known
    monkeypatch.setattr(inspection, "OPERATIONS", 1)
    monkeypatch.setattr(inspection, "COPY_S", 0.0)
    fixed(root)

    assert contents(root) == sorted(TEXTS)


def test_a_locked_database_is_left_where_it_is(root, monkeypatch):
    monkeypatch.setattr(recovery, "WAIT_S", 0.0)
    with closing(sqlite3.connect(root / ".ade" / "ade.db", isolation_level=None)) as db:
        db.execute("pragma locking_mode = exclusive")
        db.execute("begin exclusive")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            fixed(root)
        db.execute("rollback")

    assert [name for name in os.listdir(root / ".ade") if "damaged" in name] == []
    assert contents(root) == sorted(TEXTS)


def test_a_database_of_another_user_is_left_where_it_is(root, monkeypatch):
    file = str(root / ".ade" / "ade.db")
    monkeypatch.setattr(os, "access", lambda path, _mode: path != file)
    with pytest.raises(PermissionError, match="denied"):
        fixed(root)

    assert [name for name in os.listdir(root / ".ade") if "damaged" in name] == []
    assert contents(root) == sorted(TEXTS)


FULL_DISK = """
import resource, sys
sys.dont_write_bytecode = True  # a file that is cut would stay beside the source
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
from ademem.doors.cli import main
main()
"""
"""A process whose files cannot grow."""


@pytest.mark.parametrize(
    "damage", [None, b"SQLite format 3\0" + b"rubbish" * 9], ids=["sound", "damaged"]
)
def test_while_the_disk_is_full_a_database_is_left_where_it_is(root, damage):
    file = root / ".ade" / "ade.db"
    if damage:
        file.write_bytes(damage)
    before = file.read_bytes()
    command = [sys.executable, "-c", FULL_DISK, "doctor", "--fix", "--project", str(root)]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout

    assert "nothing in the database" in told
    assert "make room" in told
    assert ("rebuilds it" in told) is bool(damage)
    assert file.read_bytes() == before
    assert [name for name in os.listdir(file.parent) if "damaged" in name] == []
    fixed(root)
    assert contents(root) == sorted(TEXTS)


def test_rows_that_can_still_be_read_are_copied_from_a_damaged_database(root):
    with operations.open_memories(str(root), environment={}) as memories:
        writing.write(memories, "The candidate is in no file of the project")
        memories.store.db.execute("pragma wal_checkpoint(truncate)")
    database = root / ".ade" / "ade.db"
    size = database.stat().st_size
    with database.open("r+b") as file:
        file.seek(size - 4096)
        file.write(b"\xff" * 4096)
    fixed(root)

    assert "The candidate is in no file of the project" in contents(root)
    assert set(TEXTS) <= set(contents(root))


def test_a_word_index_that_lost_its_way_is_rebuilt(root):
    """Row E31 of the doctor."""

    with operations.open_memories(str(root), environment={}) as memories:
        memories.store.db.execute(
            "insert into unified_memories_fts(unified_memories_fts) values ('delete-all')"
        )

    assert fixed(root) == ["rebuilt unified_memories_fts"]
    with operations.open_memories(str(root), environment={}) as memories:
        assert [hit.memory.content for hit in searching.search(memories, "tabs").hits] == [TEXTS[0]]


def test_every_check_of_a_healthy_project_is_ok_but_for_the_hooks_it_lacks(root, monkeypatch):
    monkeypatch.setattr(doctor, "CHECKS", CHECKS)
    environment = {"ADEMEM_MODELS_DIR": str(root / "models"), "TMPDIR": str(root)}
    patient = doctor.Patient(
        project=project.at(str(root)), environment=environment, now=clock.now()
    )
    findings = {finding.check: finding for finding in doctor.examine(patient)}

    assert [name for name, finding in findings.items() if not finding.ok] == ["hooks"]
    assert "ademem install" in findings["hooks"].hint
    assert "throw-away" in findings["rehearsal"].message


@pytest.fixture
def examined(root):
    """The doctor's word on the model, after something was done to it."""
    models = root / "models"
    folder = models / "all-MiniLM-L6-v2/int8"
    patient = doctor.Patient(
        project=project.at(str(root)),
        environment={"ADEMEM_MODELS_DIR": str(models)},
        now=clock.now(),
    )
    return folder, lambda: doctor.model_is_sound(patient)


def test_a_missing_model_is_no_fault(examined):
    _, finding = examined

    assert finding().ok
    assert finding().message == "none, so words alone decide"


def test_a_broken_download_is_no_fault(examined):
    folder, finding = examined
    aside = folder.with_name("int8.part")
    aside.mkdir(parents=True)
    (aside / "model.onnx").write_bytes(b"half")

    assert finding().ok
    assert "broke off" in finding().message


def test_a_model_that_lost_a_file_is_a_fault(examined):
    folder, finding = examined
    folder.mkdir(parents=True)
    for name in ("model.onnx", "tokenizer.json"):
        (folder / name).write_text(name)
    cache.seal(str(folder), ("model.onnx", "tokenizer.json"), source="hub", trust="hash")
    whole = finding()

    (folder / "model.onnx").unlink()
    assert (whole.ok, whole.message[:41]) == (True, "all-MiniLM-L6-v2/int8/256/words/headings ")
    assert not finding().ok
    assert "`ademem model install`" in finding().hint


def cut(path):
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(size * 2 // 3)


def overwrite(path, at, text):
    with path.open("r+b") as file:
        file.seek(at)
        file.write(text)


def break_schema(path):
    data = path.read_bytes()
    at = data.index(b"CREATE TABLE unified_memories")
    overwrite(path, at, b"CREATE TABEL")


def change_text(path):
    """Still UTF-8, still sound for SQLite: only the digest beside it tells."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for trigger in db.execute(
            "select name from sqlite_master where type = 'trigger'"
        ).fetchall():
            db.execute(f"drop trigger {trigger[0]}")
        db.execute("update unified_memories set content = replace(content, 'Tabs', 'Taps')")


DAMAGES = [
    pytest.param(lambda path: path.write_bytes(b""), id="no byte left"),
    pytest.param(cut, id="cut off"),
    pytest.param(lambda path: overwrite(path, 0, b"X"), id="a header that is none"),
    pytest.param(lambda path: overwrite(path, 60, b"\x00\x00\x07\x07"), id="a version far ahead"),
    pytest.param(lambda path: overwrite(path, 60, b"\x00\x00\x00\x05"), id="a version long gone"),
    pytest.param(break_schema, id="a table that is none"),
    pytest.param(lambda path: overwrite(path, 4096 * 3, b"\xff" * 4096), id="a page overwritten"),
    pytest.param(change_text, id="another word in a text"),
]


@pytest.fixture
def written(root):
    """All in one file, as after the last session of a day."""
    path = root / ".ade" / "ade.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("pragma wal_checkpoint(truncate)")
    return path


@pytest.mark.parametrize("inflict", DAMAGES)
def test_whatever_happened_to_the_file_its_memories_are_there_afterwards(root, written, inflict):
    inflict(written)
    done = fixed(root)

    assert done
    assert contents(root) == sorted(TEXTS)
    assert repair.find_damage(str(written)) == ""
    assert fixed(root) == []


@pytest.mark.parametrize("inflict", DAMAGES)
def test_the_doctor_survives_whatever_happened_to_the_file(root, written, inflict):
    inflict(written)
    environment = {"ADEMEM_MODELS_DIR": str(root / "models"), "TMPDIR": str(root)}
    patient = doctor.Patient(
        project=project.at(str(root)), environment=environment, now=clock.now()
    )
    findings = doctor.examine(patient)

    assert len(findings) == len(doctor.list_checks())
    assert all(finding.hint for finding in findings if not finding.ok)


def test_writes_that_only_the_log_had_come_back_from_the_files(root):
    path = root / ".ade" / "ade.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("pragma wal_checkpoint(truncate)")
    before = path.read_bytes()
    with operations.open_memories(str(root), environment={}) as memories:
        writing.write(
            memories, Draft(content="Releases wait for Friday", category="decision", promoted=True)
        )
        files.refresh_files(memories)
    for other in root.glob(".ade/ade.db-*"):
        other.unlink()
    path.write_bytes(before)  # as after a damaged log, whose commits SQLite leaves out

    assert fixed(root) == ["took 1 memory from the files"]
    assert "Releases wait for Friday" in contents(root)


def test_a_check_that_fails_is_a_finding(root):
    def checked(_patient):
        raise KeyError("x")

    patient = doctor.Patient(project=project.at(str(root)), environment={}, now=clock.now())
    finding = doctor.run_check(checked, patient)

    assert not finding.ok
    assert "KeyError" in finding.message


def test_bad_rows_are_named_and_repaired(root):
    """Row E31 of the doctor."""

    with operations.open_memories(str(root), environment={}) as memories:
        db = memories.store.db
        db.execute("pragma ignore_check_constraints = on")
        db.execute("update unified_memories set importance = 'zzz' where content like 'Tabs%'")
    patient = doctor.Patient(project=project.at(str(root)), environment={}, now=clock.now())

    assert "(importance)" in doctor.database_is_sound(patient).message
    assert len(contents(root)) == 2
    (said,) = fixed(root)
    assert "repaired unified_memories" in said
    assert contents(root) == sorted(TEXTS)
    assert doctor.database_is_sound(patient).ok


def test_hooks_that_were_put_in_and_got_lost_are_put_in_again(root):
    """Row E31 of the doctor."""

    put = install.install(
        str(root), install.Where.LOCAL, python="python3", hooks=install.hooks_folder()
    )
    Path(put.path).unlink()
    patient = doctor.Patient(project=project.at(str(root)), environment={}, now=clock.now())

    assert any("registered the hooks" in line for line in doctor.fix(patient))
    assert (
        install.find_commands(str(root), install.Where.LOCAL).keys()
        == install.own_commands().keys()
    )


def test_hooks_that_were_never_put_in_are_left_out(root):
    patient = doctor.Patient(project=project.at(str(root)), environment={}, now=clock.now())
    doctor.fix(patient)

    assert install.find_commands(str(root), install.Where.LOCAL) == {}


def test_a_database_that_is_a_link_is_set_aside_and_what_it_leads_to_is_not_opened(root, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"precious" * 999)
    forget_database(root)
    (root / ".ade/ade.db").symlink_to(elsewhere)
    fixed(root)

    assert elsewhere.read_bytes() == b"precious" * 999
    assert (root / ".ade/ade.db.foreign-1").is_symlink()
    assert contents(root) == sorted(TEXTS)


def break_migration(path):
    """Make it one from before the release, in which two live memories have one text."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript(filled.EARLIER)
        db.execute(f"pragma user_version = {database.EARLIER[-1]}")
        db.execute("drop index idx_unified_memories_live_text")
        names = [each[1] for each in db.execute("pragma table_info(unified_memories)")]
        other = {"seq": "seq + 100", "id": "'two'", "sync_id": "'two'"}
        values = ", ".join(other.get(name, name) for name in names)
        db.execute(f"insert into unified_memories select {values} from unified_memories limit 1")


def test_a_store_that_cannot_be_migrated_is_set_aside_and_rebuilt(tmp_path, monkeypatch):
    root = tmp_path / "project"
    root.mkdir()
    environment = {"ADEMEM_DATA_DIR": str(tmp_path / "data")}
    monkeypatch.setenv(*next(iter(environment.items())))
    operations.init(str(root))
    with operations.open_memories(str(root), environment=environment) as memories:
        for text in TEXTS:
            writing.write(memories, Draft(content=text, category="convention", promoted=True))
        files.refresh_files(memories)
        writing.write(memories, "The candidate is in no file of the project")
    break_migration(root / ".ade" / "ade.db")
    found = project.at(str(root))
    patient = doctor.Patient(project=found, environment=environment, now=clock.now())

    assert "`ademem doctor --fix` sets it aside" in doctor.database_is_sound(patient).hint
    done = recovery.recover(found, environment, clock.now())
    assert "could not be brought to schema" in done[0]
    assert "kept the damaged database" in done[0]
    assert "that could still be read" in done[1]
    assert list((root / ".ade").glob("ade.db.damaged-*"))
    with operations.open_memories(str(root), environment=environment) as memories:
        there = {memory.content for memory in searching.list_memories(memories)}
    assert {*TEXTS, "The candidate is in no file of the project"} <= there
    assert recovery.recover(found, environment, clock.now()) == []


@pytest.mark.parametrize("column", ["name", "sql"])
def test_a_schema_that_is_not_utf_8_is_damage(root, tmp_path, column):
    path = root / ".ade" / "ade.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("pragma writable_schema = on")
        bad = f"cast(cast({column} as blob) || x'ff' as text)"
        db.execute(f"update sqlite_master set {column} = {bad} where name = 'turns'")
    patient = doctor.Patient(project=project.at(str(root)), environment={}, now=clock.now())

    assert not doctor.database_is_sound(patient).ok
    assert "kept the damaged database" in fixed(root)[0]
    assert contents(root) == sorted(TEXTS)
    assert doctor.database_is_sound(patient).ok

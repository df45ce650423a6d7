"""What doctor --fix brings back."""

import pytest

from ademem import api, clock, doctor, project, recovery
from ademem.embed import cache

TEXTS = ("Tabs are forbidden in this code", "Deploys go through staging", "Never edit the parser")


@pytest.fixture
def root(tmp_path):
    api.init(str(tmp_path))
    with api.open_memories(str(tmp_path), environment={}) as memories:
        for text in TEXTS:
            memories.write(api.Draft(content=text, category="convention", promoted=True))
        memories.refresh_files()
    return tmp_path


def fixed(root):
    return recovery.recover(project.at(str(root)), {}, clock.now())


def contents(root):
    with api.open_memories(str(root), environment={}) as memories:
        return sorted(memory.content for memory in memories.list())


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
    api.init(str(root))

    assert contents(root) == sorted(TEXTS)


def test_a_damaged_database_is_kept_and_its_memories_are_brought_back(root):
    (root / ".ade" / "ade.db").write_bytes(b"not a database" * 1000)
    done = fixed(root)

    assert "kept the damaged database" in done[0]
    assert list((root / ".ade").glob("ade.db.damaged-*"))
    assert contents(root) == sorted(TEXTS)


def test_rows_that_can_still_be_read_are_copied_from_a_damaged_database(root):
    with api.open_memories(str(root), environment={}) as memories:
        memories.write("The candidate is in no file of the project")
        memories.runtime.store.db.execute("pragma wal_checkpoint(truncate)")
    database = root / ".ade" / "ade.db"
    size = database.stat().st_size
    with database.open("r+b") as file:
        file.seek(size - 4096)
        file.write(b"\xff" * 4096)
    fixed(root)

    assert "The candidate is in no file of the project" in contents(root)
    assert set(TEXTS) <= set(contents(root))


def test_a_word_index_that_lost_its_way_is_rebuilt(root):
    with api.open_memories(str(root), environment={}) as memories:
        memories.runtime.store.db.execute(
            "insert into unified_memories_fts(unified_memories_fts) values ('delete-all')"
        )

    assert fixed(root) == ["rebuilt unified_memories_fts"]
    with api.open_memories(str(root), environment={}) as memories:
        assert [hit.memory.content for hit in memories.search("tabs").hits] == [TEXTS[0]]


def test_every_check_of_a_healthy_project_is_ok_but_for_the_hooks_it_lacks(root):
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
    assert (whole.ok, whole.message[:26]) == (True, "all-MiniLM-L6-v2/int8/256 ")
    assert not finding().ok
    assert "`ademem model install`" in finding().hint

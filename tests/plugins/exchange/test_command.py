"""`ademem sync`: what it says, and what it leaves behind, and the check that runs it."""

import os
import re

import pytest

from ademem import operations
from ademem.core import clock, project, trust
from ademem.operations import doctor
from ademem.plugins.exchange import checks
from tests.command_line import Failed, ademem


@pytest.fixture
def machine(tmp_path, home):
    """Run a command in the project of a machine, where a person types."""
    (tmp_path / "drive").mkdir()

    def make(name, **variables):
        folder = tmp_path / name / "shop"
        folder.mkdir(parents=True, exist_ok=True)
        environment = {"HOME": str(home), "PATH": os.environ["PATH"], "ADEMEM_JOBS_AUTO": "false"}
        environment |= variables
        operations.init(str(folder), environment=environment)
        return lambda *words: ademem(*words, environment=environment, folder=folder)

    return make


@pytest.fixture
def drive(tmp_path):
    return tmp_path / "drive"


def test_the_words_of_a_folder_move_no_cursor(machine, drive):
    anna, ben = machine("anna"), machine("ben")
    anna("add", "Deploys run at noon")
    anna("sync", "--dir", str(drive))
    (manifest,) = (drive / "manifests").iterdir()
    manifest.write_text(manifest.read_text().replace('"shop"', r'"\u001b[2J\u001b]0;owned\u0007"'))

    with pytest.raises(Failed, match="has the memories of") as refused:
        ben("sync", "--dir", str(drive))
    assert str(refused.value).replace("\n", "").isprintable()


def test_the_first_use_enrols_and_later_ones_name_what_they_did(machine, drive):
    anna, ben = machine("anna"), machine("ben")
    anna("add", "Deploys run at noon")
    with pytest.raises(Failed, match="no folder is enrolled"):
        anna("sync")

    assert anna("sync", "--dir", str(drive)) == (
        f"enrolled {drive}; `ademem sync` exchanges with it from now on\n"
        f"{drive}: 0 chunks read, 0 changed here, 1 record sent"
    )
    ben("sync", "--dir", str(drive))
    assert "Deploys run at noon" in ben("list")
    ben("add", "Tests run in CI, and before each push")
    assert ben("sync").startswith(f"{drive}: 0 chunks read, 0 changed here, 1 record sent")
    said = anna("sync")
    assert "1 changed here" in said
    anna("undo", re.search(r"`ademem undo (\w+)`", said)[1])
    assert "Tests run" not in anna("list")
    assert (
        anna("sync", "--status")
        == f"{drive}: 1 record to send, 0 chunks to read, 2 databases there"
    )
    assert anna("sync", "--dir", str(drive), "--leave").startswith(f"left {drive}")
    assert anna("sync", "--status").endswith("`ademem hub join` a server)")


def test_an_agent_exchanges_with_the_folders_of_a_person_alone(machine, drive):
    anna, agent = machine("anna"), machine("anna", CLAUDECODE="1")
    with pytest.raises(Failed, match=r"to share memories through .* is for a person to decide"):
        agent("sync", "--dir", str(drive))
    assert list(drive.iterdir()) == []

    anna("sync", "--dir", str(drive))
    assert "0 records sent" in agent("sync", "--dir", str(drive))
    with pytest.raises(Failed, match=r"sync --leave --dir .* is for a person to decide"):
        agent("sync", "--leave", "--dir", str(drive))
    assert anna("sync", "--status").startswith(f"{drive}: ")


def test_a_dry_run_lists_what_would_leave_and_changes_nothing(machine, drive):
    anna = machine("anna")
    anna("add", "Deploys run at noon")

    said = anna("sync", "--dir", str(drive), "--dry-run")
    assert said.splitlines()[:2] == [
        f"would enrol {drive}",
        f"{drive}: would read 0 chunks and send 1 record",
    ]
    assert said.endswith("Deploys run at noon")
    assert list(drive.iterdir()) == []
    assert anna("sync", "--status").startswith("off")


def test_a_damaged_chunk_is_named_and_ends_with_1(machine, drive):
    anna, ben = machine("anna"), machine("ben")
    anna("add", "Deploys run at noon")
    anna("sync", "--dir", str(drive))
    (chunk,) = (drive / "chunks").iterdir()
    chunk.write_bytes(chunk.read_bytes()[:50])

    with pytest.raises(Failed, match=rf"exit 1\n.*chunk {chunk.name[:64]}: it is not whole"):
        ben("sync", "--dir", str(drive))
    anna("sync")
    ben("sync")
    assert "Deploys run at noon" in ben("list")


def test_a_drive_that_is_away_does_not_keep_the_others_from_being_synced(machine, drive, tmp_path):
    anna = machine("anna")
    (tmp_path / "stick").mkdir()
    anna("sync", "--dir", str(drive)), anna("sync", "--dir", str(tmp_path / "stick"))
    (tmp_path / "stick").rename(tmp_path / "away")
    anna("add", "Deploys run at noon")

    with pytest.raises(Failed, match="there is no folder"):
        anna("sync")
    assert len(list((drive / "chunks").iterdir())) == 1
    assert f"{tmp_path / 'stick'}: not there; 1 record to send" in anna("sync", "--status")


def test_trusted_files_bring_memories_without_a_label(machine, drive, tmp_path, home):
    anna, ben = machine("anna"), machine("ben")
    anna("add", "Deploys run at noon")
    anna("sync", "--dir", str(drive))
    root, person = str(tmp_path / "ben/shop"), {"HOME": str(home)}
    with operations.open_memories(root, environment=person) as memories:
        trust.agree_to_files(root, memories.store.secret, "", "2026-01-31", person)
    ben("sync", "--dir", str(drive))

    assert "Deploys run at noon" in ben("list")
    assert "came with" not in ben("list")


@pytest.mark.parametrize(
    "words", [["--import"], ["--engram", "--dir", "x"], ["--engram", "--import", "--status"]]
)
def test_options_that_do_not_go_together_are_refused(machine, words):
    with pytest.raises(Failed, match="exit 2"):
        machine("anna")("sync", *words)


@pytest.fixture
def patient(machine, tmp_path, home):
    machine("anna")
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    return doctor.Patient(
        project=project.at(str(tmp_path / "anna/shop")), environment=environment, now=clock.now()
    )


def test_the_exchange_that_people_start_is_run(patient, machine, drive):
    assert checks.exchange_runs(patient).message == "`ademem sync --status` works"

    machine("anna")("sync", "--dir", str(drive))
    assert checks.exchange_runs(patient).message == "`ademem sync --dry-run` works"


def test_an_exchange_that_fails_is_found(patient, tmp_path):
    script = tmp_path / "bin/ademem"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n[ $1 = --help ]\n")
    script.chmod(0o755)
    patient.environment["PATH"] = f"{script.parent}:{patient.environment['PATH']}"
    finding = checks.exchange_runs(patient)

    assert not finding.ok
    assert "sync --status` fails" in finding.message

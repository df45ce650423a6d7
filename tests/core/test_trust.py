"""What a person agreed to, outside of every project."""

import os

import pytest

from ademem.core import trust


@pytest.fixture
def environment(tmp_path):
    return {"HOME": str(tmp_path / "home")}


def test_nothing_is_agreed_before_a_person_agreed(environment, tmp_path):
    assert trust.agreement(str(tmp_path), environment) == trust.Agreement()


def test_an_agreement_holds_for_its_project_alone(environment, tmp_path):
    trust.agree(str(tmp_path / "one"), environment, settings="abc")

    assert trust.agreement(str(tmp_path / "one"), environment).settings == "abc"
    assert trust.agreement(str(tmp_path / "two"), environment).settings == ""


def test_a_second_agreement_leaves_the_first_in_force(environment, tmp_path):
    trust.agree(str(tmp_path), environment, settings="abc")
    trust.agree(str(tmp_path), environment, local="def")

    assert trust.agreement(str(tmp_path), environment) == trust.Agreement(
        settings="abc", local="def"
    )


@pytest.mark.parametrize("damaged", ["", "{", "[]", '{"settings": 7}', "\x00"])
def test_a_damaged_note_agrees_to_nothing_it_cannot_name(environment, tmp_path, damaged):
    trust.agree(str(tmp_path), environment, settings="abc")
    (note,) = (tmp_path / "home/.local/share/ademem-data/projects").iterdir()
    note.write_text(damaged)

    assert trust.agreement(str(tmp_path), environment).settings in ("", "7")


def nowhere(_commit):
    return False


def trusted_at(root, environment, secret="s" * 32, commit="c0ffee"):
    trust.agree_to_files(root, secret, commit, "2026-03-01T12:00:00.000Z", environment)


def trusts(root, secret, has_commit, environment, remote=""):
    return trust.agreement_on_files(root, secret, remote, has_commit, environment) is not None


def test_files_are_trusted_as_long_as_the_database_of_that_time_is_there(environment, tmp_path):
    trusted_at(str(tmp_path), environment)

    assert trusts(str(tmp_path), "s" * 32, nowhere, environment)
    assert not trusts(str(tmp_path), "t" * 32, nowhere, environment)
    assert not trusts(str(tmp_path), "", nowhere, environment)


def test_a_repository_without_that_database_is_known_by_its_commit_and_then_by_the_new_one(
    environment, tmp_path
):
    trusted_at(str(tmp_path), environment)

    assert trusts(str(tmp_path), "t" * 32, {"c0ffee"}.__contains__, environment)
    assert trusts(str(tmp_path), "t" * 32, nowhere, environment)


def test_without_a_commit_a_lost_database_ends_the_trust(environment, tmp_path):
    trusted_at(str(tmp_path), environment, commit="")

    assert not trusts(str(tmp_path), "t" * 32, lambda _: True, environment)


def test_a_remote_identifies_a_repository_whatever_its_database_and_commits(environment, tmp_path):
    root, remote = str(tmp_path), "forge.example/team/shop"
    trust.agree_to_files(root, "s" * 32, "c0ffee", "2026-03-01", environment, remote=remote)

    assert trusts(root, "t" * 32, nowhere, environment, remote)
    assert not trusts(root, "s" * 32, lambda _: True, environment, "forge.example/fork/shop")
    assert not trusts(root, "s" * 32, lambda _: True, environment)


def test_the_person_is_informed_once_of_each_matter_at_a_path(environment, tmp_path):
    told = [
        trust.claim_notice(f"files {secret}", str(tmp_path / "ade.db"), environment)
        for secret in ("s" * 32, "s" * 32, "t" * 32)
    ]

    assert told == [True, False, True]


def test_a_store_is_registered_by_its_secret(environment):
    trust.register_store("s" * 32, environment)

    assert trust.is_registered("s" * 32, environment)
    assert not trust.is_registered("t" * 32, environment)
    assert not trust.is_registered("", environment)


def test_the_notes_are_for_their_person_alone(environment, tmp_path):
    trust.agree(str(tmp_path), environment, settings="abc")
    trust.register_store("s" * 32, environment)

    notes = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert len(notes) == 2
    assert {path.stat().st_mode & 0o777 for path in notes} == {0o600}


def test_forgetting_all_leaves_no_folder_behind(environment, tmp_path):
    trust.agree(str(tmp_path), environment, settings="abc")
    trust.register_store("s" * 32, environment)
    trust.note_inspection("ade.db", "state", environment)
    trust.note_judged_row("ade.db", "identity", 7, environment)

    trust.forget(str(tmp_path), environment)
    trust.forget_store("s" * 32, environment)
    trust.forget_database("ade.db", environment)

    assert os.listdir(tmp_path / "home/.local/share") == []

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

    trust.forget(str(tmp_path), environment)
    trust.forget_store("s" * 32, environment)

    assert os.listdir(tmp_path / "home/.local/share") == []

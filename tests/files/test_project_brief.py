"""The project brief: fields, versions, and the file beside the database."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from ademem.core import shared_files
from ademem.core.errors import UsageError
from ademem.files import project_brief
from ademem.files.project_brief import BadCore, StaleCore
from ademem.store import jobs
from tests.builders import NOW, open_project

LATER = NOW + timedelta(hours=1)


def edit(here, **changes):
    """Change the file as a person or a merge would."""
    document = json.loads(shared_files.read_text(project_brief.file_path(here))) | changes
    shared_files.write_atomic(project_brief.file_path(here), json.dumps(document))


def test_there_is_no_brief_before_its_first_change(store, here):
    assert project_brief.load(store) is None
    assert project_brief.lines(None) == []
    assert project_brief.read_file(here) is None


def test_a_change_is_in_the_database_and_in_the_file(store, here):
    changes = {"projectSummary": "Builds maps.", "critical_conventions": ["tabs", "no ORM"]}
    document = project_brief.patch(store, here, changes, NOW)

    assert project_brief.load(store) == project_brief.read_file(here) == document
    assert json.loads(shared_files.read_text(project_brief.file_path(here))) == {
        "version": 1,
        "updatedAt": "2026-01-31T12:00:00.000Z",
        "projectSummary": "Builds maps.",
        "criticalConventions": ["tabs", "no ORM"],
        "userPreferences": [],
        "activeFocus": [],
        "notes": [],
    }


def test_a_given_field_is_replaced_whole_and_the_others_stay(store, here):
    project_brief.patch(store, here, {"notes": ["one", "two"], "focus": ["release"]}, NOW)
    document = project_brief.patch(store, here, {"notes": ["three"]}, LATER)

    assert document.notes == ("three",)
    assert document.active_focus == ("release",)
    assert (document.version, document.updated_at) == (2, LATER)


def test_a_change_makes_the_files_due_and_no_change_makes_no_version(store, here):
    project_brief.patch(store, here, {"notes": ["one"]}, NOW)
    assert [job.key for job in jobs.list_due(store, "mirror", NOW)] == ["project"]

    assert project_brief.patch(store, here, {"notes": ["one"]}, LATER).version == 1


def test_items_are_one_line_without_blanks_or_repetitions(store, here):
    document = project_brief.patch(store, here, {"notes": [" a\n b ", "", "c", "a b", "  "]}, NOW)

    assert document.notes == ("a b", "c")


def test_secrets_do_not_enter_the_brief(store, here):
    key = "AKIA" + "A1B2C3D4E5F6G7H8"
    project_brief.patch(
        store, here, {"summary": f"key {key}", "notes": [f"<private>{key}</private>"]}, NOW
    )

    assert key not in shared_files.read_text(project_brief.file_path(here))
    assert key not in repr(project_brief.load(store))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"notes": ["n"] + [str(n) for n in range(30)]}, "31 items", id="many items"),
        pytest.param({"notes": ["n" * 501]}, "501 characters", id="a long item"),
        pytest.param({"summary": "s" * 2001}, "2001 characters", id="a long summary"),
        pytest.param({"notes": "one"}, "list of texts", id="a text for a list"),
        pytest.param({"notes": [1]}, "list of texts", id="a number for a text"),
        pytest.param({"summary": ["one"]}, "is a text", id="a list for a text"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(store, here, changes, message):
    with pytest.raises(BadCore, match=message):
        project_brief.patch(store, here, changes, NOW)

    assert project_brief.load(store) is None


def test_the_longest_brief_that_fits_is_taken(store, here):
    changes = {"summary": "s" * 2000, "notes": [f"{n:>500}".replace(" ", "n") for n in range(30)]}

    assert len(project_brief.patch(store, here, changes, NOW).notes) == 30


def test_an_unknown_field_is_a_usage_error_that_names_the_fields():
    with pytest.raises(UsageError, match="no field 'mood'") as raised:
        project_brief.field_of("mood", ["good"])

    assert "summary, conventions, preferences, focus, notes" in raised.value.hint


def test_a_command_line_sets_the_summary_from_words_and_a_list_from_items():
    assert project_brief.field_of("summary", ["Builds", "maps."]) == {
        "project_summary": "Builds maps."
    }
    assert project_brief.field_of("focus", ["one", "two"]) == {"active_focus": ("one", "two")}
    assert project_brief.field_of("notes", []) == {"notes": ()}


def test_a_change_of_an_older_version_is_refused_and_changes_nothing(store, here):
    project_brief.patch(store, here, {"notes": ["one"]}, NOW, expect_version=0)
    project_brief.patch(store, here, {"notes": ["two"]}, NOW, expect_version=1)

    with pytest.raises(StaleCore, match="at version 2, not 1"):
        project_brief.patch(store, here, {"notes": ["three"]}, NOW, expect_version=1)
    assert project_brief.load(store).notes == ("two",)


def test_of_two_changes_of_the_same_version_one_is_refused(store, here, tmp_path):
    other = open_project(tmp_path)
    project_brief.patch(store, here, {"notes": ["one"]}, NOW, expect_version=0)

    with pytest.raises(StaleCore):
        project_brief.patch(other, here, {"notes": ["two"]}, LATER, expect_version=0)
    assert (
        project_brief.patch(other, here, {"notes": ["two"]}, LATER, expect_version=1).version == 2
    )
    assert project_brief.load(store).notes == ("two",)
    other.close()


def test_a_newer_file_wins_over_the_database(store, here):
    project_brief.patch(store, here, {"notes": ["ours"]}, NOW)
    edit(here, version=5, notes=["theirs"])

    document = project_brief.reconcile(store, here)
    assert (document.version, document.notes) == (5, ("theirs",))
    assert project_brief.load(store) == document


def test_an_older_file_loses_to_the_database(store, here):
    project_brief.patch(store, here, {"notes": ["old"]}, NOW)
    old = shared_files.read_text(project_brief.file_path(here))
    project_brief.patch(store, here, {"notes": ["new"]}, NOW)
    shared_files.write_atomic(project_brief.file_path(here), old)

    assert project_brief.reconcile(store, here).notes == ("new",)
    assert project_brief.load(store).version == 2


def test_a_file_edited_without_a_new_version_is_the_next_version(store, here):
    project_brief.patch(store, here, {"notes": ["ours"]}, NOW)
    edit(here, notes=["edited"])

    document = project_brief.reconcile(store, here)
    assert (document.version, document.notes) == (2, ("edited",))


def test_a_change_starts_from_what_a_pull_brought(store, here):
    project_brief.patch(store, here, {"notes": ["ours"]}, NOW)
    edit(here, version=7, notes=["theirs"])

    document = project_brief.patch(store, here, {"focus": ["release"]}, NOW)
    assert (document.version, document.notes) == (8, ("theirs",))


def test_looking_at_a_newer_file_writes_nothing(store, here):
    project_brief.patch(store, here, {"notes": ["ours"]}, NOW)
    edit(here, version=5, notes=["theirs"])
    before, changes = shared_files.read_text(project_brief.file_path(here)), store.db.total_changes

    assert project_brief.newest(store, here).version == 5
    assert project_brief.load(store).version == 1
    assert (shared_files.read_text(project_brief.file_path(here)), store.db.total_changes) == (
        before,
        changes,
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{", id="half a file"),
        pytest.param("[" * 100_000, id="no end of brackets"),
        pytest.param("[]", id="no object"),
        pytest.param('{"updatedAt": "2026-01-31T12:00:00Z"}', id="no version"),
        pytest.param('{"version": true, "updatedAt": "2026-01-31T12:00:00Z"}', id="no number"),
        pytest.param('{"version": 0, "updatedAt": "2026-01-31T12:00:00Z"}', id="version 0"),
        pytest.param('{"version": 2147483648, "updatedAt": "2026-01-31"}', id="a huge version"),
        pytest.param('{"version": 2, "updatedAt": "yesterday"}', id="no time"),
        pytest.param('{"version": 2, "updatedAt": "9999-12-31T23:00-02:00"}', id="no time in UTC"),
        pytest.param('{"version": 2, "updatedAt": "2026-01-31", "notes": "a"}', id="no list"),
    ],
)
def test_a_file_that_is_no_brief_is_refused_and_left_as_it_is(store, here, text):
    project_brief.patch(store, here, {"notes": ["ours"]}, NOW)
    shared_files.write_atomic(project_brief.file_path(here), text)

    with pytest.raises(BadCore, match=r"core-memory\.json"):
        project_brief.reconcile(store, here)
    with pytest.raises(BadCore, match=r"core-memory\.json"):
        project_brief.patch(store, here, {"notes": ["more"]}, NOW)
    assert project_brief.load(store).notes == ("ours",)
    assert shared_files.read_text(project_brief.file_path(here)) == text


def test_the_brief_has_a_line_for_each_field_with_a_value(store, here):
    document = project_brief.patch(
        store, here, {"summary": "Builds maps.", "notes": ["a", "b"]}, NOW
    )

    assert project_brief.lines(document) == [("Summary", "Builds maps."), ("Notes", "a; b")]

"""Knowledge of a Beads project: a live file and its archive, as merges and crashes left them."""

from __future__ import annotations

import json
import shutil
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ademem.core.errors import UsageError
from ademem.core.project import at
from ademem.core.settings import GateSettings
from ademem.plugins.importers import beads
from ademem.store import memories
from tests.builders import NOW, open_project

SAMPLE = Path(__file__).parent / "beads"
LIVE, ARCHIVE = "knowledge.jsonl", "knowledge.archive.jsonl"
LAST = '"The last line is st'


@pytest.fixture
def store(tmp_path):
    store = open_project(tmp_path / "project")
    yield store
    store.close()


@pytest.fixture
def folder(tmp_path):
    """A project of Beads."""
    memory = tmp_path / "theirs/.beads/memory"
    shutil.copytree(SAMPLE, memory)
    return memory


@pytest.fixture
def bring(store, folder):
    def bring(source=folder):
        return beads.import_files(str(source), store, GateSettings(), NOW)

    return bring


def said(store):
    return {row.content: row for row in memories.find(store, "status <> 'archived'")}


def numbers(imported):
    return imported.inserted, imported.merged, imported.rejected, len(imported.errors)


def test_every_key_comes_in_once_and_every_bad_line_is_reported(store, bring):
    imported = bring()
    rows = memories.find(store, "true")
    keys = [row.knowledge_key for row in rows]

    assert numbers(imported) == (16, 4, 0, 8)
    assert len(rows) == len(set(keys)) == 16
    assert [(one.path, one.line, one.message.partition(":")[0]) for one in imported.misread] == [
        (LIVE, 5, "is not JSON"),
        (LIVE, 10, "is not JSON"),
        (LIVE, 16, "marks a conflict of a merge; the lines of both sides are read"),
        (LIVE, 18, "marks a conflict of a merge; the lines of both sides are read"),
        (LIVE, 20, "marks a conflict of a merge; the lines of both sides are read"),
        (LIVE, 21, "is not a JSON object"),
        (LIVE, 22, "has no content"),
        (LIVE, 23, "is not JSON"),
    ]


def test_a_second_import_changes_nothing(store, bring):
    first = bring()
    changes = store.db.total_changes
    again = bring()

    assert numbers(again) == (0, 20, 0, 8)
    assert again.misread == first.misread
    assert store.db.total_changes == changes


def test_a_line_that_is_whole_by_now_comes_in(store, bring, folder):
    bring()
    path = folder / LIVE
    path.write_text(path.read_text().replace(LAST, '"The last line is stored"}'))
    again = bring()

    assert (again.inserted, len(again.errors)) == (1, 7)
    assert "The last line is stored" in said(store)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda raw: raw.replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(lambda raw: b"\xef\xbb\xbf" + raw, id="a byte order mark"),
        pytest.param(lambda raw: raw.replace(b"\n", b"\n\n"), id="empty lines"),
        pytest.param(lambda raw: b"\n".join(sorted(raw.split(b"\n"))), id="another order"),
    ],
)
def test_what_editors_and_merges_do_to_a_file_changes_nothing(store, bring, folder, change):
    path = folder / LIVE
    bring()
    changes = store.db.total_changes
    path.write_bytes(change(path.read_bytes()))

    assert numbers(bring())[:3] == (0, 20, 0)
    assert store.db.total_changes == changes


def test_of_lines_with_one_key_the_newest_counts_and_the_others_are_its_history(store, bring):
    bring()
    (row,) = (row for row in said(store).values() if row.knowledge_key == "broker-port")

    assert row.content == "port of the message broker is 5673 since the move"
    assert [
        revision["snapshot"]["content"][-4:] for revision in memories.revisions(store, row.id)
    ] == ["5671", " off", "move"]


def test_texts_that_only_begin_alike_stay_apart(store, bring):
    bring()
    rows = [row for text, row in said(store).items() if text.startswith("The importer of price")]

    assert len(rows) == 2
    assert rows[1].knowledge_key == f"{rows[0].knowledge_key}-2"


def test_texts_without_latin_letters_have_keys_of_their_own(store, bring):
    bring()
    rows = [row for text, row in said(store).items() if not text[:4].isascii()]

    assert len({row.knowledge_key for row in rows} - {"learned-"}) == len(rows) == 2


def test_what_was_learned_again_is_one_memory(store, bring):
    bring()
    row = said(store)["Webhooks of the shop arrive twice; the second has the same delivery id"]

    assert (row.bead, row.observation_count) == ("BD-8", 2)


def test_a_line_keeps_its_day_its_bead_its_kind_and_who_said_it(store, bring):
    bring()
    row = said(store)[
        "Nightly exports stop when the disk of the build host has less than 2 GB left"
    ]
    kind = next(row for text, row in said(store).items() if text.startswith("Why the login page"))

    assert (row.bead, row.source_type, row.trust) == ("BD-4", "supervisor", "import")
    assert row.created_at == datetime.fromtimestamp(1760000020, UTC)
    assert row.status == "candidate"
    assert kind.tags[0] == "investigation"


def test_a_tag_is_a_word_of_the_text(store, bring):
    bring()
    (row,) = (row for text, row in said(store).items() if text.startswith("The invoice printer"))

    assert "ui" in json.loads((SAMPLE / ARCHIVE).read_text().splitlines()[0])["tags"]
    assert row.tags == ("learned",)


@pytest.mark.parametrize("named", ["theirs", "theirs/.beads", "theirs/.beads/memory"])
def test_the_project_or_a_folder_of_it_can_be_named(bring, tmp_path, named):
    assert bring(tmp_path / named).inserted == 16


def test_a_file_can_be_named_alone(bring, folder):
    assert bring(folder / ARCHIVE).inserted == 5


@pytest.mark.parametrize("named", [".", "nothing.jsonl"])
def test_what_is_not_there_is_a_usage_error(bring, tmp_path, named):
    with pytest.raises(UsageError):
        bring(tmp_path / named)


def test_bytes_that_are_no_text_are_reported(bring, folder):
    path = folder / ARCHIVE
    path.write_bytes(path.read_bytes() + b'{"content": "\xff"}\n')
    imported = bring(path)

    assert [(one.line, one.message) for one in imported.misread] == [(6, "is not UTF-8")]


def test_bad_lines_are_put_aside_with_their_numbers_and_without_secrets(bring, folder, tmp_path):
    project, secret = at(str(tmp_path / "project")), "AKIA" + "A1B2C3D4E5F6G7H8"
    path = folder / LIVE
    path.write_text(path.read_text().replace("not JSON at all", f"not JSON: {secret}"))
    beads.save_misread(bring().misread, project)

    aside = Path(project.log, beads.NOT_IMPORTED)
    rows = [json.loads(line) for line in aside.read_text().splitlines()]
    assert [row["line"] for row in rows] == [5, 10, 16, 18, 20, 21, 22, 23]
    assert rows[1]["text"].startswith("not JSON: ")
    assert secret not in aside.read_text()
    assert stat.S_IMODE(aside.stat().st_mode) == 0o600
    beads.save_misread((), project)
    assert not aside.exists()

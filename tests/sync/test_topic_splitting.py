"""Topics that go on in files by subject: people and git edit these like any other."""

from __future__ import annotations

import pytest

from ademem.core.memory import Category
from ademem.core.value import replace
from ademem.files import enrolment
from tests.sync.clone import FACTS, FOLDER, GOTCHAS, LINES, Clone, fork, gotcha

API = f"{FOLDER}/gotchas-api.md"
INDEX = f"{FOLDER}/MEMORY.md"


def two_to_a_page(clone):
    few = replace(clone.settings.mirror, topic_entries=2)
    clone.settings = replace(clone.settings, mirror=few)
    return clone


@pytest.fixture
def clone(tmp_path):
    """Of three entries, two are about the API and have a file of their own."""
    clone = two_to_a_page(Clone(tmp_path))
    clone.rows = [
        gotcha(clone, "requests need an id", tags=("api",)),
        gotcha(clone, "answers are paged", tags=("api",)),
        gotcha(clone, "the cache is slow"),
    ]
    clone.refresh()
    yield clone
    clone.store.close()


def strike(clone, path, row):
    clone.edit(path, clone.item(path, row).strip("\n") + "\n", "")


def edit(clone):
    clone.edit(API, "answers are paged", "answers are streamed")


def delete(clone):
    strike(clone, API, clone.rows[1])


def add(clone):
    clone.write(API, clone.read(API) + "\n- errors have codes\n  - tags: api\n")


def add_elsewhere(clone):
    clone.write(API, clone.read(API) + "\n- builds are cached\n")


def drop_the_tag(clone):
    item = clone.item(API, clone.rows[1])
    clone.edit(API, item, item.replace("\n  - tags: api", ""))


def move_to_the_topic(clone):
    item = clone.item(API, clone.rows[1]).strip("\n")
    strike(clone, API, clone.rows[1])
    clone.write(GOTCHAS, clone.read(GOTCHAS) + f"\n{item}\n")


def move_to_another_topic(clone):
    item = clone.item(API, clone.rows[1]).strip("\n")
    strike(clone, API, clone.rows[1])
    clone.edit(FACTS, "Nothing here yet.", item)


def made(path):
    path.mkdir()
    return path


BOTH = {"requests need an id", "answers are paged"}


@pytest.mark.parametrize(
    ("act", "api", "rest"),
    [
        pytest.param(
            edit,
            {"requests need an id", "answers are streamed"},
            {"the cache is slow"},
            id="an edited text",
        ),
        pytest.param(add, BOTH | {"errors have codes"}, {"the cache is slow"}, id="a new entry"),
        pytest.param(
            add_elsewhere,
            BOTH,
            {"the cache is slow", "builds are cached"},
            id="a new entry about something else",
        ),
        pytest.param(
            drop_the_tag,
            {"requests need an id"},
            {"the cache is slow", "answers are paged"},
            id="an entry that is not about it any more",
        ),
        pytest.param(
            move_to_the_topic, BOTH, {"the cache is slow"}, id="moved to the page of the topic"
        ),
    ],
)
def test_what_a_person_does_on_a_page_by_subject_is_taken_over(clone, act, api, rest):
    act(clone)
    clone.refresh()
    files = {name for name in clone.pages() if name.startswith("gotchas")}
    subject = {name for name in files if name.startswith("gotchas-api")}

    assert said(clone, subject) == api
    assert said(clone, files - subject) == rest
    assert set(clone.live()) == api | rest
    assert all(f"`{name}`" in clone.read(INDEX) for name in files)
    assert clone.refresh().written == ()


@pytest.mark.parametrize("act", [delete, move_to_another_topic])
def test_a_topic_within_its_bound_again_has_one_page(clone, act):
    act(clone)
    clone.refresh()

    assert [name for name in clone.pages() if name.startswith("gotchas")] == ["gotchas.md"]
    assert said(clone, ["gotchas.md"]) == {"requests need an id", "the cache is slow"}
    assert clone.get(clone.rows[1]).live == (act is move_to_another_topic)
    assert "gotchas-api.md" not in clone.read(INDEX)


def test_a_persons_lines_on_a_page_that_is_no_more_go_to_the_topic(clone):
    clone.write(API, clone.read(API) + "\nAsk Ana about the API.\n")
    clone.refresh()
    strike(clone, API, clone.rows[1])
    clone.refresh()

    assert "Ask Ana about the API." in clone.read(GOTCHAS)


@pytest.mark.parametrize("way", ["driver", "union"])
def test_an_edit_meets_a_branch_on_which_the_topic_split(tmp_path, driver, way):
    here = two_to_a_page(Clone(made(tmp_path / "here")))
    here.git("init", "--quiet", "--initial-branch=main")
    here.git("config", enrolment.DRIVER, driver.command)
    attributes = enrolment.MERGED if way == "driver" else "memory/* merge=union\n"
    (here.root / ".ade/.gitattributes").write_text(attributes)
    rows = [gotcha(here, text, tags=("api",)) for text in sorted(BOTH)]
    here.refresh()
    here.git("add", "-A", ".ade/.gitattributes")
    here.commit()
    there = two_to_a_page(fork(here, tmp_path / "there"))
    there.refresh()
    gotcha(there, "the cache is slow")
    there.refresh()
    there.commit()
    here.edit(GOTCHAS, "answers are paged", "answers are streamed")
    here.refresh()
    here.commit()
    here.git("pull", "--quiet", "--no-rebase", "--no-edit", str(there.root), "main")
    here.refresh()

    assert here.live() == ["answers are streamed", "requests need an id", "the cache is slow"]
    assert said(here, ["gotchas-api.md"]) == {"answers are streamed", "requests need an id"}
    assert here.read(LINES).count(f'"id":"{rows[0].id}"') == 1
    assert {row.category for row in map(here.get, rows)} == {Category.GOTCHA}
    for clone in (here, there):
        clone.store.close()


def said(clone, names):
    """What the entries of these pages say."""
    pages = "".join(clone.read(f"{FOLDER}/{name}") for name in names)
    return {line[2:].split(" <!--")[0] for line in pages.split("\n") if line.startswith("- ")}

"""Procedures and skill files on the page: what it shows, its acts, and the way back."""

import html
import re

import pytest

from ademem.files.skill_files import SkillProblem
from ademem.plugins.procedures import operations
from ademem.plugins.procedures.skill_registry import Scanned
from ademem.plugins.procedures.views import to_skills
from tests.plugins.page.conftest import teach_procedure

STEPS = "1. Edit `CHANGELOG.md`.\n2. Run `npm test`.\n3. Run `git push --tags`."
PATH = ".ade/skills/cut-a-release.md"
PUBLISHED = ".claude/skills/cut-a-release/SKILL.md"


def texts(page):
    return html.unescape(re.sub(r"<[^>]+>", "", page))


@pytest.fixture
def procedure(browser):
    """A candidate that one session taught."""
    return teach_procedure(browser.world, STEPS)


def get(browser, id):
    with browser.world.memories() as memories:
        return operations.get_procedure(memories, id)


def files(browser):
    return {path for path in (PATH, PUBLISHED) if (browser.world.root / path).exists()}


def test_a_procedure_shows_its_steps_sources_and_outcomes(browser, procedure):
    browser.post(f"/procedure/{procedure}/outcome", outcome="failure", reason="tests were red")
    page = texts(browser.get(f"/procedure/{procedure}").text)
    listed = texts(browser.get("/procedures").text)

    assert STEPS in page
    assert "Released 1.2" in page
    assert "000000000000, deleted" in page
    assert "session s7" in page
    assert re.search(r"✕ failure\s*0\.39\s*tests were red", page)
    assert "1 of 2 worked" in listed


def test_an_outcome_counts_and_is_taken_back(browser, procedure):
    before = get(browser, procedure)
    browser.post(f"/procedure/{procedure}/outcome", outcome="success")
    after = get(browser, procedure)
    browser.post("/undo")
    undone = get(browser, procedure)
    browser.post("/redo")

    assert (after.details.success_count, after.memory.confidence > 0.6) == (2, True)
    assert undone.details.success_count == 1
    assert undone.memory.confidence == before.memory.confidence
    assert get(browser, procedure).details.success_count == 2


def test_an_unknown_outcome_is_reported(browser, procedure):
    assert browser.post(f"/procedure/{procedure}/outcome", outcome="maybe").status_code == 400


def test_exporting_confirms_and_writes_and_all_of_it_is_taken_back(browser, procedure):
    browser.post(f"/procedure/{procedure}/export", publish="1")
    assert (files(browser), get(browser, procedure).memory.status) == (
        {PATH, PUBLISHED},
        "promoted",
    )
    written = (browser.world.root / PATH).read_text()
    browser.post("/undo")
    undone = get(browser, procedure)
    assert (files(browser), undone.memory.status) == (set(), "candidate")
    assert undone.details.exported_skill_path is None
    browser.post("/redo")

    assert files(browser) == {PATH, PUBLISHED}
    assert (browser.world.root / PATH).read_text() == written
    assert get(browser, procedure).details.exported_skill_path == PATH


def test_the_way_back_of_an_export_leaves_what_a_person_wrote_since(browser, procedure):
    browser.post(f"/procedure/{procedure}/export")
    (browser.world.root / PATH).write_text("mine")
    answer = browser.post("/undo")

    assert answer.status_code == 409
    assert (browser.world.root / PATH).read_text() == "mine"
    assert get(browser, procedure).memory.status == "promoted"


def test_the_log_takes_back_the_files_of_an_export_but_lists_no_act_twice(browser, procedure):
    browser.post(f"/memory/{procedure}/pin")
    browser.post(f"/procedure/{procedure}/export")
    (number,) = re.findall(r'name="act" value="(\d+)"', browser.get("/log").text)
    browser.post("/undo", act=number)

    assert files(browser) == set()
    assert get(browser, procedure).memory.status == "candidate"


def test_an_export_whose_memory_was_changed_since_is_not_taken_back_by_half(browser, procedure):
    browser.post(f"/procedure/{procedure}/export")
    (number,) = re.findall(r'name="act" value="(\d+)"', browser.get("/log").text)
    browser.post(f"/memory/{procedure}/pin")
    answer = browser.post("/undo", act=number)
    kept = files(browser), get(browser, procedure).details.exported_skill_path
    browser.post("/undo")
    browser.post("/undo", act=number)

    assert (answer.status_code, kept) == (409, ({PATH}, PATH))
    assert files(browser) == set()


def test_a_refused_undo_stays_in_the_bar_with_its_reason(browser, procedure):
    browser.post(f"/procedure/{procedure}/export")
    written = (browser.world.root / PATH).read_text()
    (browser.world.root / PATH).write_text("mine")
    browser.post("/undo")
    refused = texts(browser.get("/").text)
    (browser.world.root / PATH).write_text(written)
    browser.post("/undo")

    assert re.search(r"\(not taken back: .+\)", refused)
    assert files(browser) == set()
    assert "not taken back" not in texts(browser.get("/").text)


def test_all_confirmed_procedures_are_written(browser, procedure):
    browser.post("/procedures/export")
    assert files(browser) == set()
    browser.post(f"/memory/{procedure}/promote")
    browser.post("/procedures/export")

    assert files(browser) == {PATH}


def test_a_quarantined_procedure_is_withheld(browser, procedure):
    with browser.world.memories() as memories:
        memories.store.db.execute(
            "update unified_memories set quarantine_reason = 'reads as an order' where id = ?",
            (procedure,),
        )
    pages = [browser.get(path).text for path in ("/procedures", f"/procedure/{procedure}")]

    assert not any("npm test" in page or "version is ready" in page for page in pages)
    assert browser.post(f"/procedure/{procedure}/export").status_code == 409


def states(browser):
    page = browser.get("/skills").text
    rows = re.findall(r'<span class="chip \w+">(\w+)</span>.*?<code>([^<]+)</code>', page)
    return {path: state for state, path in rows}


def test_skill_files_show_their_state_until_they_are_read_again(browser):
    folder = browser.world.root / ".claude/commands"
    folder.mkdir(parents=True)
    for name in ("same", "edited", "deleted"):
        (folder / f"{name}.md").write_text(f"Run make {name}")
    browser.post("/skills/reindex")
    (folder / "edited.md").write_text("Run make all")
    (folder / "deleted.md").unlink()
    (folder / "added.md").write_text("Run make docs")
    (folder / "broken.md").write_bytes(b"\xff\xfe")
    shown = {path.rpartition("/")[2]: state for path, state in states(browser).items()}
    browser.post("/skills/reindex")

    assert shown == {
        "added.md": "new",
        "broken.md": "problem",
        "deleted.md": "deleted",
        "edited.md": "edited",
        "same.md": "same",
    }
    assert states(browser)[".claude/commands/edited.md"] == "same"


def test_reading_the_folders_again_is_taken_back(browser):
    folder = browser.world.root / ".claude/commands"
    folder.mkdir(parents=True)
    (folder / "build.md").write_text("Run make build")
    browser.post("/skills/reindex")
    (folder / "build.md").write_text("Run make everything")
    browser.post("/skills/reindex")
    (memory,) = [each.memory for each in listed(browser)]
    browser.post("/undo")

    assert memory.content == "Run make everything"
    assert listed(browser)[0].memory.content == "Run make build"


def listed(browser):
    with browser.world.memories() as memories:
        return operations.list_skills(memories)


def test_a_file_with_a_problem_is_shown_with_its_reason():
    problem = SkillProblem(path="a.md", reason="is empty")
    (row,) = to_skills([], Scanned(added=("a.md",), problems=(problem,)))

    assert (row["state"], row["problem"]) == ("problem", "is empty")


@pytest.mark.parametrize("path", ["/procedures", "/skills"])
def test_an_empty_page_names_the_command_that_fills_it(browser, path):
    assert "ademem procedures" in texts(browser.get(path).text)

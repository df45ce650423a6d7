"""The ranking explained on the page, what is kept of it, and what is saved."""

import json
from datetime import timedelta

import pytest

from ademem.core.memory import Draft, Origin, Trust
from ademem.doors.views import UNSUPPORTED, why_unprompted
from ademem.operations import files, searching, writing
from ademem.plugins.evaluation import golden
from ademem.plugins.page.memory_pages import EXPLAINED_HITS
from ademem.search.engine import UNNEEDED
from tests import builders
from tests.plugins.page.test_pages import LESSONS, texts


class Ranked:
    def __init__(self, helps, **signals):
        self.signals = {"helps": helps} | signals


@pytest.mark.parametrize(
    ("mine", "best", "why"),
    [
        pytest.param(-3.0, -1.0, "below the floor", id="too little"),
        pytest.param(-1.2, 1.5, "below the best", id="far behind"),
        pytest.param(-1.0, -0.5, "at most", id="enough others"),
    ],
)
def test_the_reason_why_a_prompt_is_not_shown_a_hit(mine, best, why):
    assert why in why_unprompted(Ranked(mine), [Ranked(best), Ranked(mine)])


@pytest.mark.parametrize(
    ("signals", "floor"),
    [
        pytest.param({"cosine": 0.4}, "-1.3", id="with a vector"),
        pytest.param({}, "-1.4", id="by words"),
    ],
)
def test_the_reason_names_the_floor_of_the_search(signals, floor):
    hit = Ranked(-2.0, **signals)

    assert why_unprompted(hit, [hit]).endswith(f"below the floor of {floor}")


def test_of_an_old_note_that_nothing_supports_it_is_said_that_no_prompt_is_shown_it(browser):
    old = builders.NOW - timedelta(days=90)
    times = {"created_at": old, "updated_at": old, "promoted_at": None}
    with browser.world.memories() as memories:
        note = builders.memory("Billing rows live in PostgreSQL", status="candidate", **times)
        builders.insert(memories.store, note)

    assert UNSUPPORTED in texts(browser.get("/memories?q=billing+rows&explain=1").text)


@pytest.fixture
def taught(browser):
    browser.world.know(*LESSONS)
    with browser.world.memories() as memories:
        draft = Draft(content="Refunds are booked by hand", origin=Origin(trust=Trust.AGENT))
        assert writing.write(memories, draft).accepted
    return browser


def test_a_candidate_that_a_confirmed_answer_makes_needless_is_named(taught):
    with taught.world.memories() as memories:
        memories.now = memories.clock()
        found = searching.explain_search(memories, "refunds booked", None, 50)

    assert [hit.memory.content for hit in found.results.hits] == [LESSONS[6]]
    assert [(hit.memory.content, why) for hit, why in found.left_out] == [
        ("Refunds are booked by hand", UNNEEDED)
    ]
    page = texts(taught.get("/memories?q=refunds+booked&explain=1").text)
    assert UNNEEDED in page
    assert "here not among the hits" in page


def test_a_page_of_long_memories_is_no_larger_for_its_explanation(browser):
    given = (f"Tokens of service {number}: {'the rules of tokens ' * 20}" for number in range(99))
    with browser.world.memories() as memories:
        builders.insert(memories.store, *map(builders.memory, given))
    page = browser.get("/memories?q=tokens+rules+service&explain=1")

    assert page.text.count('<dl class="signals">') == EXPLAINED_HITS
    assert len(page.content) <= 66 * 1024


def test_a_hit_names_whether_a_prompt_shows_it_or_why_not(taught):
    shown = texts(taught.get("/memories?q=argon2+hashed+passwords&explain=1").text)
    missed = texts(
        taught.get("/memories?q=pipeline+cluster+deploys+canary+worker+rollback&explain=1").text
    )

    assert "✓ A prompt with these words is shown it" in shown
    assert "below the floor of -1.4" in missed


def test_other_forms_of_a_word_are_marked_as_well(taught):
    page = taught.get("/memories?q=password+hash&explain=1").text

    assert "<mark>Passwords</mark>" in page
    assert "<mark>hashed</mark>" in page


def test_a_golden_question_is_saved_and_taken_back(taught):
    memory = next(each for each in taught.world.live() if "argon2" in each.content)
    page = taught.get("/memories?q=argon2&explain=1").text
    assert f'formaction="/memories/golden" name="golden" value="{memory.id}"' in page
    taught.post("/memories/golden", query="argon2", golden=memory.id)

    with taught.world.memories() as memories:
        assert [(one.query, one.ranks) for one in golden.load(memories.project)] == [
            ("argon2", {memory.sync_id: 1})
        ]
        taught.post("/undo")
        assert golden.load(memories.project) == []
        taught.post("/redo")
        assert len(golden.load(memories.project)) == 1


def test_the_selection_is_saved_as_the_command_exports_it(taught):
    chosen = taught.world.live()[:2]
    rows = [f"{each.id}:{each.revision_count}" for each in chosen]
    data = {"csrf": taught.token, "id": rows}
    answer = taught.client.post("/memories/export", data=data)
    with taught.world.memories() as memories:
        listed = files.export_memories(memories, include_personal=True)
        known = {row["sync_id"]: row for row in listed}

    assert "attachment" in answer.headers["content-disposition"]
    assert [json.loads(line) for line in answer.text.splitlines()] == [
        json.loads(json.dumps(known[each.sync_id])) for each in sorted(chosen, key=lambda m: m.seq)
    ]
    assert taught.post("/memories/export").status_code == 400

"""One memory in full: where it was shown, what is near, its anchors, and its edits."""

import html
import os
import re

import pytest

from ademem.core import clock
from ademem.core.anchor import occasions
from ademem.core.errors import UsageError
from ademem.core.memory import Draft, Origin, Trust
from ademem.doors.views import compare_revisions
from ademem.operations import curation, inspecting, writing
from ademem.store import logs
from tests import builders
from tests.plugins.page.test_pages import texts
from tests.plugins.verify.test_working_tree import CODE, Checkout

SECRET = "ghp_" + "a1B2" * 9


def revision(number, text):
    return {"revision": number, "snapshot": {"content": text}}


def test_any_two_revisions_are_compared():
    found = compare_revisions(
        [revision(1, "a b"), revision(2, "a c"), revision(3, "d c")], "1", "3"
    )

    assert found["diff"] == [("removed", "a b"), ("added", "d c")]
    assert compare_revisions([revision(1, "a")], "", "") is None
    with pytest.raises(UsageError):
        compare_revisions([revision(1, "a")], "1", "7")


def test_the_page_compares_the_revisions_that_are_asked_for(browser):
    browser.world.know("Money is stored in cents")
    (memory,) = browser.world.live()
    with browser.world.memories() as memories:
        for text in ("Money is kept in cents", "Money is kept in pennies"):
            curation.edit(memories, memory.id, content=text)
    page = browser.get(f"/memory/{memory.id}?from=1&to=3").text
    part = page[page.index('id="compared"') :]

    assert "<del>stored</del>" in part.partition("</div>")[0]
    assert "<ins>pennies</ins>" in part.partition("</div>")[0]
    assert browser.get(f"/memory/{memory.id}?from=1&to=9").status_code == 400


def test_the_history_has_the_occasions_that_an_edit_changed(browser):
    browser.world.know("Money is stored in cents")
    (memory,) = browser.world.live()
    for when in ("rounding a sum\nadding a <tax>", "rounding a sum"):
        browser.post(f"/memory/{memory.id}/edit", content=memory.content, when=when)
    page = browser.get(f"/memory/{memory.id}?from=1&to=2").text
    compared = page[page.index('id="compared"') :].partition("</div>")[0]

    assert page.count("<b>edit</b> (when) by user") == 2
    assert page.count("<del>when: adding a &lt;tax&gt;</del>") == 1
    assert "<ins>when: rounding a sum</ins>" in compared
    assert "<ins>when: adding a &lt;tax&gt;</ins>" in compared


def test_a_long_history_is_read_by_pages_to_its_beginning(browser):
    browser.world.know("Money is stored in cents")
    (memory,) = browser.world.live()
    with browser.world.memories() as memories:
        for number in range(70):
            curation.pin(memories, memory.id, pinned=number % 2 == 0)
    page = browser.get(f"/memory/{memory.id}").text
    earlier = browser.get(re.search(r'rel="next" href="([^"]+)"', page)[1]).text
    shown = [re.findall(r"revision (\d+)<|revision (\d+) ·", each) for each in (page, earlier)]

    assert [[int(one or other) for one, other in each] for each in shown] == [
        [*range(71, 21, -1)],
        [*range(21, 0, -1)],
    ]
    assert 'rel="next"' not in earlier
    assert len(page) < 64 * 1024


def test_two_that_are_alike_are_merged_on_the_page_of_one(browser):
    browser.world.know("Invoices are sent by the night job", "Invoices are sent by the night shift")
    one, other = browser.world.live()
    page = browser.get(f"/memory/{one.id}").text
    form = re.search(rf'action="/memory/{one.id}/merge">(.*?)</form>', page, re.S)[1]
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
    assert fields["into"] == other.id
    browser.post(f"/memory/{one.id}/merge", **fields, content="Invoices are sent by night")

    assert browser.memory(other.id).content == "Invoices are sent by night"
    assert browser.memory(one.id).superseded_by == other.id


def test_each_showing_is_listed_with_the_evidence_of_its_use(browser):
    world = browser.world
    world.know("`rebuild_index` runs at night", "Never force-push to main")
    world.fire("session_start", source="startup")
    used, unused = sorted(world.live(), key=lambda each: "force" in each.content)
    with world.memories() as memories:
        evidence = {used.id: "rebuild_index in a call of Edit"}
        logs.log_use(memories.store, "s1", evidence, clock.now())

    page = texts(browser.get(f"/memory/{used.id}").text)
    assert re.search(r"when the session started", page)
    assert "✓ used rebuild_index in a call of Edit" in page
    assert "not used" in texts(browser.get(f"/memory/{unused.id}").text)
    browser.post(f"/memory/{used.id}/delete-hard", typed=used.id)
    assert world.row("select count(*) from recall_log where evidence is not null")[0] == 0


def test_provenance_names_the_prompt_and_counts_the_origins(browser):
    world = browser.world
    lesson = "Login tokens expire in UTC"
    for number, command in ((1, f'bd comment BD-1 "LEARNED: {lesson}"'), (2, "ls")):
        turn = {"prompt_id": f"p{number}"}
        world.fire("user_prompt_submit", prompt=f"Question {number} about tokens", **turn)
        call = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": {}}
        world.fire("post_tool_use", **call, **turn)
    with world.memories() as memories:
        for session in ("s2", "s2", "s3"):
            origin = Origin(trust=Trust.AGENT, session_id=session)
            writing.write(memories, Draft(content=lesson, origin=origin))
    (memory,) = world.live()
    page = texts(browser.get(f"/memory/{memory.id}").text)

    assert "PromptQuestion 1 about tokens" in page
    assert "Origins3: agent 4" in page


def test_similar_memories_sites_occasions_and_lines_in_files_are_listed(browser):
    world = browser.world
    world.know("Login tokens expire in UTC", "Login tokens never expire in local time")
    anchors = ("@when sending work in", "@when CI is red")
    world.know("Run `make lint` before a commit", path="src/*.py", anchors=anchors)
    world.work()
    near, rule = (
        next(each for each in world.live() if word in each.content) for word in ("UTC", "lint")
    )

    page = texts(browser.get(f"/memory/{near.id}").text)
    assert "Login tokens never expire in local time" in page.partition("Similar by words")[2]
    assert ".ade/memory/knowledge.jsonl:" in page
    page = texts(browser.get(f"/memory/{rule.id}").text).partition("Where it comes up")[2]
    assert "src/*.py" in page
    assert "any commit" in page
    assert "Occasions: sending work in; CI is red" in page


def test_vectors_tell_what_is_near_in_meaning(browser):
    import numpy as np

    from ademem.search.embedding import DIMENSIONS, model_id
    from ademem.store import embeddings

    world = browser.world
    contents = ("A day has 24 hours", "Time is UTC", "Cats purr")
    world.know(*contents)
    known = {each.content: each for each in world.live()}
    found = {content: known[content] for content in contents}
    with world.memories() as memories:
        model = model_id(memories.settings.embed)
        for content, angle in (
            ("A day has 24 hours", 0.0),
            ("Time is UTC", 0.3),
            ("Cats purr", 1.5),
        ):
            row = np.zeros(DIMENSIONS, "<f4")
            row[:2] = np.cos(angle), np.sin(angle)
            blob = row.tobytes()
            vector = embeddings.Vector(
                memory=found[content], blob=blob, dimensions=DIMENSIONS, norm=1.0
            )
            embeddings.put(memories.store, model, [vector], memories.clock())
        similar = inspecting.compare(memories, found["A day has 24 hours"].id)

    assert [memory.content for memory, _ in similar.by_meaning] == ["Time is UTC", "Cats purr"]
    assert similar.by_meaning[0][1] == pytest.approx(np.cos(0.3), abs=1e-5)
    page = texts(browser.get(f"/memory/{found['A day has 24 hours'].id}").text)
    assert "cosine 0.96" in page


@pytest.fixture
def anchored(browser):
    """A repository whose login function a memory is anchored to."""
    checkout = Checkout(browser.world.root)
    checkout.git("init", "-q")
    checkout.commit()
    browser.world.know("login() returns utc()", anchors=("src/auth.py:4-5",))
    (browser.memory_,) = browser.world.live()
    browser.checkout = checkout
    return browser


def lines(browser):
    page = browser.get(f"/memory/{browser.memory_.id}").text
    shown = re.findall(r'<pre class="sent-text"[^>]* (noted|now)">(.*?)</pre>', page, re.S)
    return re.search(r'id="anchors".*?<span class="tag [^"]*">(\w+)<', page, re.S)[1], dict(shown)


def test_lines_as_noted_stand_beside_those_of_now(anchored):
    assert lines(anchored) == (
        "fresh",
        {"noted": "def login():\n    return utc()\n", "now": "def login():\n    return utc()\n"},
    )
    anchored.checkout.write("src/auth.py", CODE.replace("utc()", "local()"))

    state, shown = lines(anchored)
    assert state in ("changed", "gone")
    assert "return utc()" in shown["noted"]
    assert "return local()" in shown["now"]


def test_an_anchor_is_moved_and_the_move_taken_back(anchored):
    anchored.checkout.write("src/auth.py", "# new\n\n" + CODE)
    before = anchored.memory(anchored.memory_.id).anchors
    assert lines(anchored)[0] == "moved"
    anchored.post(f"/memory/{anchored.memory_.id}/renew-anchor", anchor=before[0])

    after = anchored.memory(anchored.memory_.id).anchors
    assert after[0].startswith("src/auth.py:6-7@")
    assert lines(anchored)[0] == "fresh"
    anchored.post("/undo")
    assert anchored.memory(anchored.memory_.id).anchors == before


def _outside(checkout):
    outside = checkout.root.parent / "secret.py"
    outside.write_text("TOP SECRET\n" * 9)
    (checkout.root / "src/auth.py").unlink()
    (checkout.root / "src/auth.py").symlink_to(outside)


def _pipe(checkout):
    (checkout.root / "src/auth.py").unlink()
    os.mkfifo(checkout.root / "src/auth.py")


def _large(checkout):
    checkout.write("src/auth.py", "TOP SECRET\n" * 200_000)


def _token(checkout):
    checkout.write("src/auth.py", CODE.replace("utc()", f'"{SECRET}"'))


@pytest.mark.parametrize("change", [_outside, _pipe, _large, _token])
def test_code_that_is_not_the_projects_to_show_is_not_shown(anchored, change):
    change(anchored.checkout)
    answer = anchored.get(f"/memory/{anchored.memory_.id}")

    assert answer.status_code == 200
    assert "TOP SECRET" not in answer.text
    assert SECRET not in answer.text


def test_a_path_out_of_the_project_shows_nothing(browser):
    (browser.world.root.parent / "secret.py").write_text("TOP SECRET\n")
    with browser.world.memories() as memories:
        (memory,) = builders.insert(
            memories.store, builders.memory(anchors=("../secret.py:1@0123456789abcdef",))
        )

    assert "TOP SECRET" not in browser.get(f"/memory/{memory.id}").text


def test_the_gate_is_shown_rule_by_rule_before_an_edit_is_saved(browser):
    browser.world.know("Money is stored in cents", "Never force-push to main")
    memory = next(each for each in browser.world.live() if "Money" in each.content)
    form = {"content": f"Money is stored in cents, key {SECRET}", "revision": "1"}
    page = texts(browser.post(f"/memory/{memory.id}/preview", **form).text)
    same = texts(browser.post(f"/memory/{memory.id}/preview", content=memory.content).text)
    other = texts(
        browser.post(f"/memory/{memory.id}/preview", content="Never force-push to main").text
    )

    assert re.search(r"redaction\s*change", page)
    assert re.search(r"insert\s*accept", same)  # it is not a duplicate of itself
    assert re.search(r"duplicate\s*merge", other)
    assert browser.memory(memory.id).content == memory.content


def test_a_form_changes_the_occasions_with_the_text_and_one_undo_brings_both_back(browser):
    browser.world.know("Money is stored in cents")
    (memory,) = browser.world.live()
    first = {"content": "Money is stored in cents", "when": "rounding a sum\r\n\r\na bill is wrong"}
    browser.post(f"/memory/{memory.id}/edit", **first, revision="1")
    told = ("rounding a sum", "a bill is wrong")
    assert occasions(browser.memory(memory.id).anchors) == told
    assert "rounding a sum\na bill is wrong</textarea>" in browser.get(f"/memory/{memory.id}").text

    changed = {"content": "Money is stored in mills", "when": ""}
    preview = browser.post(f"/memory/{memory.id}/preview", content="x", when="adding a tax").text
    assert "adding a tax</textarea>" in preview
    many = "\n".join(f"case <{number}>" for number in range(5))
    refused = browser.post(f"/memory/{memory.id}/edit", content="x", when=many)
    assert (refused.status_code, "at most 4 occasions" in refused.text) == (400, True)
    assert f'>x</p><p class="text" dir="auto">{html.escape(many)}</p>' in refused.text
    browser.post(f"/memory/{memory.id}/edit", **changed, revision="2")
    assert browser.memory(memory.id).content == "Money is stored in mills"
    assert occasions(browser.memory(memory.id).anchors) == ()
    browser.post("/undo")
    assert browser.memory(memory.id).content == "Money is stored in cents"
    assert occasions(browser.memory(memory.id).anchors) == told


@pytest.mark.parametrize("verb", ["edit", "places"])
def test_a_form_that_is_saved_as_it_was_writes_no_revision(browser, verb):
    browser.world.know("Money is stored in cents")
    (memory,) = browser.world.live()
    form = {"content": memory.content, "title": "", "tags": "money", "when": "rounding a sum"}
    browser.post(f"/memory/{memory.id}/edit", **form)
    browser.post(f"/memory/{memory.id}/places", at="src/")
    saved = browser.memory(memory.id)
    answer = browser.post(f"/memory/{memory.id}/{verb}", **form, at="src/", next="/")

    assert browser.memory(memory.id) == saved
    assert "Left as it was" in texts(browser.get(answer.headers["location"]).text)
    browser.post("/undo")
    assert browser.memory(memory.id) == saved


def test_a_contradiction_is_settled_on_the_page_of_either(browser):
    browser.world.know("The build takes 5 minutes", "Deploys happen on Friday")
    one, other = browser.world.live()
    browser.world.contradict(one, other, "days")
    page = browser.get(f"/memory/{one.id}").text
    assert f'action="/memory/{one.id}/settle"' in page
    browser.post(f"/memory/{one.id}/settle", other=other.id)

    assert f'action="/memory/{one.id}/settle"' not in browser.get(f"/memory/{one.id}").text
    browser.post("/undo")
    assert f'action="/memory/{one.id}/settle"' in browser.get(f"/memory/{one.id}").text

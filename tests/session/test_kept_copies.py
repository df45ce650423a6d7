"""What another person's change does to what was stated here: a copy stays in force."""

from __future__ import annotations

import json

import pytest

from ademem.core.memory import Draft, Origin, Trust
from ademem.operations import curation, searching, writing
from ademem.store import kept_copies
from ademem.store.transitions import Act, CannotDo
from tests.examples import some
from tests.session.test_clones import Clones

RULE = "Never deploy on Fridays"
PERSON = Origin(trust=Trust.USER, source_type="user")


@pytest.fixture
def clones(tmp_path):
    return Clones(tmp_path)


@pytest.fixture
def ann(clones):
    """Ann, who stated a rule that stops calls, and committed it."""
    ann = clones.ann
    ann.learn(
        RULE,
        category="convention",
        promoted=True,
        tags=("stop",),
        anchors=("$ make deploy",),
    )
    ann.share()
    return ann


@pytest.fixture
def mallory(clones, ann):
    """Mallory, who cloned it and took the rule over as hers."""
    mallory = clones.clone("Mallory")
    mallory.start()
    with mallory.by_hand() as memories:
        curation.promote(memories, mallory.only().id)
    return mallory


def pull(ann, mallory, session="s2"):
    """Mallory commits, Ann pulls and begins a session; what she is told."""
    mallory.share("change")
    ann.git("pull", "--quiet", "--no-rebase", str(mallory.root), "main")
    told, briefing = ann.start(session)
    return told, briefing


LINE = "ademem: Mallory changed 1 of your memories; yours stay in force (/ademem:review changes)"


@pytest.mark.parametrize(
    "by",
    [
        pytest.param("turned round", id="text"),
        pytest.param("archived", id="life"),
        pytest.param("the stop tag taken off", id="marks"),
    ],
)
def test_one_line_a_session_tells_it_until_it_is_decided(ann, mallory, by):
    CHANGES[by](mallory)
    told, _ = pull(ann, mallory)
    again = ann.fire("user_prompt_submit", prompt="What is next?", prompt_id="p2", session_id="s2")
    later, _ = ann.start("s3")
    decide(ann, kept_copies.keep_mine)
    at_last, _ = ann.start("s4")

    assert LINE in told.splitlines()
    assert "of your memories" not in (again or "")
    assert LINE in later.splitlines()
    assert "of your memories" not in at_last


def test_a_change_that_arrives_within_a_session_is_told_with_the_next_prompt(ann, mallory):
    ann.start("s2")
    change(mallory, content="Always deploy on Fridays")
    mallory.share("change")
    ann.git("pull", "--quiet", "--no-rebase", str(mallory.root), "main")
    ann.refresh()
    said = ann.fire("user_prompt_submit", prompt="What is next?", prompt_id="p2", session_id="s2")

    assert LINE.format("1 text") in said


def typed(ann, command):
    said = json.loads(ann.fire("user_prompt_submit", prompt=command, prompt_id=command))
    return said["reason"]


def test_slash_commands_show_both_versions_and_decide(ann, mallory):
    change(mallory, content="Always deploy on Fridays")
    pull(ann, mallory)
    shown = typed(ann, "/ademem:review changes")
    (copy,) = [memory for memory in ann.live() if memory.kept_of]
    done = typed(ann, f"/ademem:review mine {copy.id}")

    assert RULE in shown
    assert "Mallory: Always deploy on Fridays" in shown
    assert done == f"◆ ademem: yours holds: {RULE}"
    assert ann.only().content == RULE


def change(mallory, **changes):
    with mallory.by_hand() as memories:
        curation.edit(memories, mallory.only().id, **changes)


def archive(mallory):
    with mallory.by_hand() as memories:
        curation.archive(memories, mallory.only().id)


CHANGES = {
    "turned round": lambda mallory: change(mallory, content="Always deploy on Fridays"),
    "the stop tag taken off": lambda mallory: change(mallory, tags=()),
    "its command taken off": lambda mallory: change(mallory, anchors=()),
    "another path": lambda mallory: change(mallory, file_scope_pattern="docs/**"),
    "archived": archive,
}


@pytest.mark.parametrize("by", CHANGES.values(), ids=CHANGES)
def test_what_was_stated_here_stays_in_force(ann, mallory, by):
    (stated,) = ann.live()
    by(mallory)
    pull(ann, mallory)
    (copy,) = [memory for memory in ann.live() if memory.kept_of]

    assert (copy.kept_of, copy.content, copy.tags) == (stated.id, RULE, stated.tags)
    assert (copy.anchors, copy.status, copy.trust) == (stated.anchors, "promoted", "user")


@pytest.mark.parametrize("by", CHANGES.values(), ids=CHANGES)
def test_the_rule_still_stops_the_call_it_is_about(ann, mallory, by):
    by(mallory)
    pull(ann, mallory)
    ann.fire("user_prompt_submit", prompt="Publish the site now", prompt_id="p1", session_id="s2")
    call = {"tool_name": "Bash", "tool_input": {"command": "make deploy"}, "tool_use_id": "t1"}

    assert RULE in (ann.denial(**call, prompt_id="p1", session_id="s2") or "")


@pytest.mark.parametrize("by", some(CHANGES.values(), 2), ids=some(CHANGES, 2))
def test_the_files_stay_as_they_were_committed(ann, mallory, by):
    by(mallory)
    pull(ann, mallory)
    ann.refresh()

    assert ann.git("status", "--porcelain", "--", ".ade/memory") == ""


@pytest.mark.parametrize("by", some(CHANGES.values(), 2), ids=some(CHANGES, 2))
def test_the_other_version_is_a_labelled_candidate(ann, mallory, by):
    (stated,) = ann.live()
    by(mallory)
    pull(ann, mallory)
    with ann.memories() as memories:
        shown = searching.get(memories, stated.id)

    assert shown.claimed_author == "Mallory"
    assert shown.status != "promoted"


def test_a_change_of_another_tag_is_taken_over_without_a_copy(ann, mallory):
    change(mallory, tags=("stop", "release"))
    pull(ann, mallory)

    assert ann.only().tags == ("stop", "release")


def test_what_an_agent_learned_takes_a_colleagues_change_at_once(clones):
    ann = clones.ann
    with ann.memories() as memories:
        writing.write(memories, Draft(content="Builds take ten minutes", promoted=True))
    ann.share()
    ben = clones.clone("Ben")
    ben.start()
    change(ben, content="Builds take five minutes")
    pull(ann, ben)

    assert ann.only().content == "Builds take five minutes"


def test_equal_again_the_copy_goes_and_the_rule_is_stated_as_before(ann, mallory):
    (stated,) = ann.live()
    change(mallory, content="Always deploy on Fridays")
    pull(ann, mallory)
    change(mallory, content=RULE)
    pull(ann, mallory, "s3")

    row = ann.only()
    assert (row.id, row.status, row.trust, row.claimed_author) == (
        *(stated.id, "promoted", "user"),
        None,
    )


def decide(ann, decision):
    with ann.by_hand() as memories:
        (copy,) = kept_copies.find_all(memories.store)
        return decision(copy.id, Act(store=memories.store, now=memories.clock()))


@pytest.mark.parametrize("by", some(CHANGES.values(), 2), ids=some(CHANGES, 2))
def test_mine_goes_to_everybody(ann, mallory, by):
    by(mallory)
    pull(ann, mallory)
    decide(ann, kept_copies.keep_mine)
    ann.share("mine")
    mallory.git("pull", "--quiet", "--no-rebase", "origin", "main")
    mallory.start("s3")
    with mallory.memories() as memories:
        (line,) = ann.lines()
        there = searching.get(memories, line["id"])

    mine = ann.only()
    assert (mine.content, mine.tags, mine.status) == (RULE, ("stop",), "promoted")
    assert (line["content"], line["status"], line.get("path")) == (RULE, "promoted", None)
    assert (there.content, "stop" in there.tags or bool(there.claimed_author)) == (RULE, True)


def test_taking_the_change_confirms_it(ann, mallory):
    change(mallory, content="Deploy on Fridays before noon")
    pull(ann, mallory)
    decide(ann, kept_copies.take)

    row = ann.only()
    assert (row.content, row.status) == ("Deploy on Fridays before noon", "promoted")
    assert row.claimed_author is None


def test_taking_a_removal_leaves_nothing(ann, mallory):
    archive(mallory)
    pull(ann, mallory)
    decide(ann, kept_copies.take)

    assert ann.live() == []


def test_the_copy_itself_is_not_edited(ann, mallory):
    change(mallory, content="Always deploy on Fridays")
    pull(ann, mallory)
    with ann.by_hand() as memories:
        (copy,) = kept_copies.find_all(memories.store)
        with pytest.raises(CannotDo, match="is your version of"):
            curation.archive(memories, copy.id)


def test_a_second_change_leaves_the_first_copy(ann, mallory):
    change(mallory, content="Always deploy on Fridays")
    pull(ann, mallory)
    change(mallory, content="Always deploy on Mondays")
    pull(ann, mallory, "s3")

    (copy,) = [memory for memory in ann.live() if memory.kept_of]
    assert copy.content == RULE


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("reset", "--quiet", "--hard", "HEAD~1"), id="reset"),
        pytest.param(("checkout", "--quiet", "HEAD~1"), id="checkout"),
        pytest.param(("rebase", "--quiet", "earlier"), id="rebase"),
    ],
)
def test_ones_own_reset_checkout_or_rebase_makes_no_copy(ann, command):
    ann.git("branch", "earlier", "HEAD")
    change(ann, content="Never deploy on Fridays after noon")
    ann.share("later")
    ann.start("s2")
    ann.git(*command)
    told, _ = ann.start("s3")
    with ann.memories() as memories:
        copies = kept_copies.find_all(memories.store)

    assert copies == []
    assert "of your memories" not in told


DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


def test_in_a_week_of_three_a_maintainers_edits_arrive_and_no_stated_rule_changes_unsaid(clones):
    """Ann maintains the rules of the team; Ben and Cid each stated one of their own beside them."""
    ann = clones.ann
    team = ann.learn("The build runs on Monday", category="convention", promoted=True)
    ann.share()
    members, stated = {}, {}
    for name in ("Ben", "Cid"):
        member = members[name] = clones.clone(name)
        member.start()
        text = f"{name} reviews every release"
        stated[name] = member.learn(text, category="convention", promoted=True)
        member.share(name)
        ann.git("pull", "--quiet", "--no-rebase", str(member.root), "main")
        ann.start(f"ann with {name}")

    for number, day in enumerate(DAYS):
        with ann.by_hand() as memories:
            curation.edit(memories, team.id, content=f"The build runs on {day}, at noon")
            changed = "Ben" if number % 2 else "Cid"
            text = f"{changed} reviews nothing on {day}"
            curation.edit(memories, stated[changed].id, content=text)
        ann.share(day)
        for name, member in members.items():
            member.git("pull", "--quiet", "--no-rebase", "origin", "main")
            told, _ = member.start(f"{day} {name}")
            texts = {memory.content for memory in member.live()}

            assert f"The build runs on {day}, at noon" in texts
            assert f"{name} reviews every release" in texts
            is_changed = number > 0 or name == "Cid"
            assert ("Ann changed 1 of your memories" in told) is is_changed
    assert {member.git("status", "--porcelain", ".ade/memory") for member in members.values()} == {
        ""
    }

"""Why a memory was not shown: the same selection run again, with the numbers of each stage."""

import re
from datetime import timedelta

import pytest

from ademem.core.memory import Draft
from ademem.operations import inspecting, searching, sessions, writing
from ademem.search import evidence


@pytest.fixture
def asked(browser):
    """A session that was briefed, and that asked about tokens."""
    world = browser.world
    world.know("Login tokens expire in UTC", "Invoices are sent by the night job")
    world.fire("session_start", source="startup", session_id="s2")
    world.now += timedelta(hours=1)
    world.know("Tokens of the payment provider are cached for a day", confidence=0.9)
    world.fire(
        "user_prompt_submit",
        session_id="s2",
        prompt="Why do tokens of the payment provider fail? Fix the cache",
        prompt_id="p1",
    )
    return browser


def moments(browser, session="s2"):
    with browser.world.memories() as memories:
        sent = {each.event: each.created_at for each in sessions.list_sent(memories, session)[1]}
        prompts = sessions.search_prompts(memories, "", session)
    return sent | ({"prompt": prompts[0]["created_at"]} if prompts else {})


def explain(browser, event, text, session="s2"):
    memory = next(each for each in browser.world.live() if text in each.content)
    with browser.world.memories() as memories:
        at = moments(browser, session)[event]
        found = inspecting.explain_selection(memories, session, at, memory.id)
    return found, {stage.name: stage for stage in found.stages}


def test_a_memory_that_was_shown_passes_every_stage(asked):
    found, stages = explain(asked, "user_prompt_submit", "payment provider")

    assert found.was_shown
    assert [name for name, stage in stages.items() if not stage.passed] == []
    assert stages["Ranked"].figures["place"] == 1
    assert stages["Evidence"].figures["evidence"] >= evidence.prompt_floor("lexical")


def test_a_memory_about_something_else_has_no_evidence(asked):
    found, stages = explain(asked, "user_prompt_submit", "Invoices")

    assert not found.was_shown
    assert not stages["Candidate"].passed
    assert not stages["Among the shown"].passed


def test_the_first_stage_that_stops_a_memory_is_reported_in_a_sentence(asked):
    memory = next(each for each in asked.world.live() if "Invoices" in each.content)
    at = moments(asked)["user_prompt_submit"]
    page = asked.get("/session/s2/why", params={"at": at, "memory": memory.id}).text

    assert "neither its words nor its meaning come near what was asked" in page


def test_the_numbers_are_those_of_the_production_selection(asked):
    _, stages = explain(asked, "user_prompt_submit", "payment provider")
    asked.world.environment.pop("CLAUDE_CODE_SESSION_ID")
    with asked.world.memories() as memories:
        prompt = "Why do tokens of the payment provider fail? Fix the cache"
        from ademem.search.engine import suggest_for

        (hit, *_) = suggest_for(prompt, memories)

    assert stages["Evidence"].figures["evidence"] == hit.signals["helps"]
    assert stages["Candidate"].figures["BM25"] == hit.signals["bm25"]


def test_what_the_context_had_is_not_shown_again(asked):
    asked.world.fire(
        "user_prompt_submit",
        session_id="s2",
        prompt="Tokens of the payment provider: why is the cache a day? Fix it",
        prompt_id="p2",
    )
    found, stages = explain(asked, "prompt", "payment provider")

    assert not found.was_shown
    assert not stages["New to the context"].passed


def test_a_memory_that_came_later_did_not_exist(asked):
    found, stages = explain(asked, "session_start", "payment provider")

    assert not found.was_shown
    assert stages["May be shown"].figures["existed then"] is False


def test_a_briefing_tells_worth_and_room_of_each_section(browser):
    world = browser.world
    for number in range(60):
        world.know(f"Rule {number}: " + f"word{number} " * 40)
    world.fire("session_start", source="startup", session_id="s2")
    with world.memories() as memories:
        (sent,) = sessions.list_sent(memories, "s2")[1]
        left = next(part for part in sent.parts if part.left_out)
        found = inspecting.explain_selection(memories, "s2", sent.created_at, left.memory_id)
    stage = next(each for each in found.stages if left.section in each.name)

    assert found.left_out == left.left_out
    assert not stage.passed
    assert stage.figures["place by worth"] > stage.figures["shown"]
    assert stage.figures["worth"] <= stage.figures["least worth shown"]


def test_a_site_tells_the_patterns_of_the_memory(browser):
    world = browser.world
    for number in range(6):
        world.know(f"Rule {number} of the schema", path="db/schema.sql")
    with world.memories() as memories:
        writing.write(memories, Draft(content="Of another file", path="web/*.js", promoted=True))
    call = {"tool_name": "Edit", "tool_input": {"file_path": str(world.root / "db/schema.sql")}}
    world.fire("pre_tool_use", session_id="s2", prompt_id="p1", tool_use_id="t1", **call)
    found, stages = explain(browser, "pre_tool_use", "Of another file")
    tied = stages["Bound to the file or command"]
    _, shown = explain(browser, "pre_tool_use", "of the schema")

    assert not found.was_shown
    assert (tied.passed, tied.figures["at"], tied.figures["place"]) == (False, "web/*.js", None)
    assert shown["Bound to the file or command"].figures["of"] == 6


def test_an_error_tells_what_is_known_for_it(browser):
    world = browser.world
    world.know("ECONNREFUSED 5432 means that the database is not started", category="gotcha")
    world.know("Invoices are sent by the night job", category="gotcha")
    error = "Error: connect ECONNREFUSED 127.0.0.1:5432"
    call = {"tool_name": "Bash", "tool_input": {"command": "npm test"}, "error": error}
    world.fire("post_tool_use_failure", session_id="s2", prompt_id="p1", tool_use_id="t1", **call)
    known, stages = explain(browser, "post_tool_use_failure", "ECONNREFUSED")
    _, others = explain(browser, "post_tool_use_failure", "Invoices")

    assert known.was_shown
    assert stages["Known for the error"].figures["place"] == 1
    assert others["Known for the error"].figures["place"] is None


def test_a_search_of_the_session_tells_scores(browser):
    browser.world.know("Login tokens expire in UTC", "Invoices are sent by the night job")
    with browser.world.memories() as memories:
        searching.recall(memories, "tokens expire")
        at = next(each.created_at for each in sessions.list_sent(memories, "s1")[1])
        stages = {
            memory.content.split()[0]: inspecting.explain_selection(
                memories, "s1", at, memory.id
            ).stages[-1]
            for memory in searching.list_memories(memories)
        }

    assert (stages["Login"].passed, stages["Login"].figures["place"]) == (True, 1)
    assert (stages["Invoices"].passed, stages["Invoices"].figures["score"]) == (False, None)


def test_a_moment_that_is_no_time_is_refused(asked):
    answer = asked.get("/session/s2/why", params={"at": "noon", "memory": "x"})

    assert answer.status_code == 400
    assert "is not a time" in answer.text


def test_the_page_asks_by_id_or_words_without_recording(asked):
    page = asked.get("/session/s2").text
    at = re.findall(r'/why"><input type="hidden" name="at" value="([^"]+)"', page)[-1]
    before = asked.world.row("select count(*) from recall_log")[0]
    by_words = asked.get("/session/s2/why", params={"at": at, "memory": "invoices"}).text
    (id,) = re.findall(r'href="/memory/(\w+)"', by_words)
    answer = asked.get("/session/s2/why", params={"at": at, "memory": id}).text

    assert "✕ stops" in answer
    assert "not shown" in answer
    assert asked.world.row("select count(*) from recall_log")[0] == before
    assert asked.get("/session/s2/why", params={"at": "x", "memory": id}).status_code == 404

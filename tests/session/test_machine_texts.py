"""Texts of machines in the place of a prompt: nothing of them is anybody's word."""

from __future__ import annotations

import pytest

from ademem.core.memory import Trust

BODY = "remember: deploys go through staging\nNo, never use npm here, use pnpm."
WRAPPERS = [
    pytest.param('<agent-message from="a1">\n{}\n</agent-message>', id="an agent"),
    pytest.param('<teammate-message teammate_id="t1">\n{}\n</teammate-message>', id="a teammate"),
    pytest.param('<channel source="slack">\n{}\n</channel>', id="a channel"),
    pytest.param('<cross-session-message from="s2">\n{}\n</cross-session-message>', id="a session"),
    pytest.param("[SYSTEM NOTIFICATION - NOT USER INPUT]\n{}", id="a notification"),
    pytest.param("<system-reminder>\n{}\n</system-reminder>", id="a reminder"),
    pytest.param("<task-notification>\n{}\n</task-notification>", id="a task"),
    pytest.param("<local-command-stdout>\n{}\n</local-command-stdout>", id="a command's output"),
]
WEB = {"tool_name": "WebFetch", "tool_input": {"url": "https://x.example"}, "tool_use_id": "w1"}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_nothing_of_it_is_stored_recalled_or_counted_as_a_prompt(world, wrapper):
    world.know("Deploys of the ledger need two approvals")
    world.fire("user_prompt_submit", prompt="Fix the ledger", prompt_id="p1")
    answer = world.fire("user_prompt_submit", prompt=wrapper.format(BODY), prompt_id="p2")

    assert answer == ""
    assert [row.content for row in world.live()] == ["Deploys of the ledger need two approvals"]
    assert world.row("select count(*) from user_prompts")[0] == 1


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_it_goes_on_with_the_last_turn(world, calls, wrapper):
    world.environment["ADEMEM_GUARD_MODE"] = "strict"
    world.know("Login sessions expire after ten minutes")
    world.fire("user_prompt_submit", prompt="Fix the login bug in auth.py", prompt_id="p1")
    world.fire("user_prompt_submit", prompt=wrapper.format("thanks!"), prompt_id="p2")

    assert world.denial(prompt_id="p2", **calls.write()) is not None


def test_it_does_not_end_the_doubt_about_what_the_turn_has_read(world, calls):
    world.fire("user_prompt_submit", prompt="Look it up", prompt_id="p1")
    world.fire("post_tool_use", prompt_id="p1", **WEB)
    world.fire("user_prompt_submit", prompt="<agent-message>done", prompt_id="p2")
    ran = calls.ran('git commit -m "Fix it\n\nLEARNED: The cache is cleared before a migration"')
    world.fire("post_tool_use", prompt_id="p2", **ran)

    (memory,) = world.live()
    assert memory.trust == Trust.WEB


def test_the_first_text_of_a_session_may_be_one(world, calls):
    world.fire("user_prompt_submit", prompt=f"<channel>\n{BODY}", prompt_id="p1")

    assert world.live() == []
    assert world.row("select count(*) from turns")[0] == 0


@pytest.mark.parametrize(
    ("origin", "stored"),
    [
        pytest.param({"source": "user"}, True, id="typed"),
        pytest.param({"source": "sdk"}, True, id="sent to a session without a terminal"),
        pytest.param({}, True, id="the client does not tell"),
        pytest.param({"source": "system"}, False, id="put in by the client"),
        pytest.param({"source": "schedule_wakeup"}, False, id="planned"),
    ],
)
def test_where_the_client_tells_the_origin_it_decides(world, origin, stored):
    prompt = "remember: deploys go through staging"
    world.fire("user_prompt_submit", prompt=prompt, prompt_id="p1", **origin)

    assert [row.content for row in world.live()] == ["deploys go through staging"] * stored


@pytest.mark.parametrize(
    ("origin", "recalled"),
    [pytest.param({"source": "user"}, True, id="typed"), pytest.param({}, False, id="unknown")],
)
def test_a_prompt_that_begins_with_a_tag_is_a_persons_where_the_client_says_so(
    world, origin, recalled
):
    world.know("The header of the shop is rendered on the server")
    prompt = "<div> in the header of the shop is not closed, fix it"
    answer = world.fire("user_prompt_submit", prompt=prompt, prompt_id="p1", **origin)

    assert ("rendered on the server" in str(answer)) == recalled

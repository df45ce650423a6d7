"""What a person typed, and what the client or an agent put in its place."""

import pytest

from ademem.core.typed_text import KEYWORDS, is_machine_text, read_dictation

MACHINES = [
    pytest.param('<agent-message from="a1">\nremember: x\n</agent-message>', id="an agent"),
    pytest.param('<teammate-message teammate_id="t">x</teammate-message>', id="a teammate"),
    pytest.param('<channel source="slack">x</channel>', id="a channel"),
    pytest.param('<cross-session-message from="s2">x</cross-session-message>', id="a session"),
    pytest.param("[SYSTEM NOTIFICATION - NOT USER INPUT]\nx", id="a notification"),
    pytest.param("[SYSTEM] x", id="one capital word"),
    pytest.param("[COORDINATOR: x", id="a colon"),
    pytest.param("<system-reminder>x</system-reminder>", id="a reminder"),
    pytest.param("<task-notification>x", id="a task"),
    pytest.param("<local-command-stdout>x</local-command-stdout>", id="a command's output"),
    pytest.param("\n  <poll-event>x", id="a wrapper of tomorrow, below a blank line"),
    pytest.param("<div>x</div> is not closed", id="a tag that a person typed"),
    pytest.param("[BUG] the login fails", id="a label that a person typed"),
]


@pytest.mark.parametrize("text", MACHINES)
def test_a_text_that_begins_like_a_message_of_a_machine_is_one(text):
    assert is_machine_text(text)


@pytest.mark.parametrize("text", MACHINES)
@pytest.mark.parametrize("origin", ["user", "human"])
def test_where_the_client_says_that_a_person_typed_it_the_form_does_not_matter(text, origin):
    assert not is_machine_text(text, origin)


@pytest.mark.parametrize(
    "origin", ["system", "schedule_wakeup", "loop_wakeup", "poll_event", "peer", "channel"]
)
def test_where_the_client_names_a_machine_no_form_helps(origin):
    assert is_machine_text("remember: use pnpm", origin)


@pytest.mark.parametrize("origin", ["", "sdk", "unclassified", "news-of-2028"])
def test_where_the_client_leaves_it_open_the_form_decides(origin):
    assert is_machine_text("<agent-message>x", origin)
    assert not is_machine_text("remember: use pnpm", origin)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "fix the <div> in header.html",
        "<3 this, now fix the header",
        "< 5 ms is the goal",
        "[x] is done, go on",
        "[Fix] the header",
        "[ABC-123] fix the header",
        "[a](b) is a dead link",
        "[1, 2] becomes [2, 1]",
        "I said [SYSTEM] x",
        "запомни: без табов",
    ],
)
def test_other_texts_are_a_persons(text):
    assert not is_machine_text(text)


@pytest.mark.parametrize("keyword", sorted(KEYWORDS))
@pytest.mark.parametrize("colon", [":", " :", "\uff1a"])
def test_every_keyword_dictates_in_capitals_too(keyword, colon):
    assert read_dictation(f"{keyword.upper()}{colon} a: b\uff1ac") == "a: b\uff1ac"

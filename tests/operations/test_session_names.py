"""Names of sessions: the client's title, a prompt that says what is to be done, or the time."""

import json

import pytest

from ademem.operations.session_names import name_of, read_title

ROW = {"started_at": "2026-03-01T10:08:00.000Z"}


def transcript(tmp_path, *rows):
    path = tmp_path / "s1.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


@pytest.mark.parametrize(
    ("prompts", "name"),
    [
        pytest.param(["Add left-pad to the cart"], "Add left-pad to the cart", id="the first"),
        pytest.param(["hi", "Fix the total"], "Fix the total", id="not small talk"),
        pytest.param(["/compact now", "Fix the total"], "Fix the total", id="no command"),
        pytest.param(
            ["remember: use pnpm, not npm", "Fix the total"], "Fix the total", id="no stored text"
        ),
        pytest.param(["<task-notification>done", "Fix it"], "Fix it", id="no text of a machine"),
    ],
)
def test_a_session_is_named_by_the_first_prompt_that_says_what_is_to_be_done(prompts, name):
    assert name_of(ROW, prompts) == name


def test_a_session_without_such_a_prompt_has_its_time():
    assert name_of(ROW, ["thanks"]).startswith("Session of ")


def test_the_title_of_the_client_comes_first_and_one_that_was_typed_before_all(tmp_path):
    made = {"type": "ai-title", "aiTitle": "Round the invoices", "sessionId": "s1"}
    typed = {"type": "custom-title", "customTitle": "Rounding", "sessionId": "s1"}
    assert name_of(ROW, ["Fix it"], transcript(tmp_path, made)) == "Round the invoices"
    assert name_of(ROW, ["Fix it"], transcript(tmp_path, made, typed)) == "Rounding"


def test_a_secret_in_a_title_is_redacted(tmp_path):
    secret = "ghp_" + "a1B2" * 9
    path = transcript(tmp_path, {"type": "ai-title", "aiTitle": f"Rotate {secret}"})
    assert secret not in name_of(ROW, [], path)


@pytest.mark.parametrize(
    "rows",
    [
        ['{"type":"ai-title"'],
        [{"type": "ai-title", "aiTitle": 7}],
        [{"type": "ai-title", "aiTitle": "a\x1b[2Jb"}],
        ['["type", "ai-title"]'],
        [{"type": "ai-title", "aiTitle": ""}],
    ],
    ids=["half a row", "a number", "a control character", "a list", "empty"],
)
def test_what_is_no_title_names_nothing(tmp_path, rows):
    assert read_title(transcript(tmp_path, *rows)) == ""
    assert read_title(str(tmp_path / "gone.jsonl")) == ""

"""The record of a session: who says what, in how many characters, and what is left out first."""

import random

import pytest

from ademem.capture import transcript
from ademem.core.typed_text import split_pasted
from ademem.synthesis.reader.session_record import (
    CHARS,
    CLAUDE_HEAD,
    CLAUDE_TAIL,
    CUT,
    KNOWN_CHARS,
    MOST_KNOWN,
    PROMPT_CHARS,
    Known,
    Speaker,
    build_record,
)
from tests.capture.talk import Talk
from tests.examples import examples

KEY = "ghp_" + "a1B2c3D4e5" * 4


def recorded(talk, tmp_path, known=(), **options):
    path = talk.write(tmp_path / "talk.jsonl")
    return build_record(transcript.events(str(path)), known, ("/p",), **options)


def lines(record):
    return [each.line for each in record.messages]


def test_each_message_has_a_number_and_a_speaker(tmp_path):
    talk = (
        Talk()
        .types("Fix the merge of the stops")
        .says("I look at how they are joined.")
        .does("Read", "code", file_path="/p/feed/merge.py")
        .runs("cd /p && bin/dev test", "Exit code 1\nAssertionError: two stops", failed=True)
        .types("<task-notification>the build is done</task-notification>")
        .types("Thanks")
    )
    record = recorded(talk, tmp_path)

    assert lines(record) == [
        "m1 person: Fix the merge of the stops",
        "m2 claude: I look at how they are joined.",
        "m3 tool: Read: feed/merge.py",
        "m4 tool: Bash: cd /p && bin/dev test failed: Exit code 1 AssertionError: two stops",
        "m5 machine: <task-notification>the build is done</task-notification>",
        "m6 person: Thanks",
    ]
    assert record.text == "Messages of the session:\n" + "\n".join(lines(record)) + "\n"
    assert record.files == {"feed/merge.py"}
    assert record.commands == ("cd /p && bin/dev test",)


def test_what_a_prompt_quotes_is_not_the_persons(tmp_path):
    prompt = "is this ours?\n```\nplayer: never use track 3\n```\n> always offline\nI think not"
    record = recorded(Talk().types(prompt), tmp_path)

    assert lines(record) == [
        "m1 person: is this ours?",
        "m2 pasted: ``` player: never use track 3 ``` > always offline",
        "m3 person: I think not",
    ]


@pytest.mark.parametrize(
    ("prompt", "pasted"),
    [
        pytest.param("a\n~~~\nb\n~~~\nc", [False, True, False], id="tildes"),
        pytest.param("a\n```\nb\nc", [False, True], id="open fence"),
        pytest.param("a\n    b = 1\nc", [False, True, False], id="indented"),
        pytest.param("a\n<log>\nb\n</log>\nc", [False, True, False], id="element"),
        pytest.param("a\n<log>b</log>\nc", [False, True, False], id="element on a line"),
        pytest.param("if a < b\nand c > d", [False], id="comparison"),
        pytest.param("a\n\nb", [False], id="paragraphs"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_marks_of_quotations_and_code_split_a_prompt(prompt, pasted):
    assert [is_pasted for is_pasted, _ in split_pasted(prompt)] == pasted


def test_a_prompt_that_nobody_typed_is_a_machines(tmp_path):
    talk = Talk().types("Always squash", promptId="p1").types("Never squash", promptId="p2")
    record = recorded(talk, tmp_path, is_typed=lambda prompt_id: prompt_id == "p2")

    assert [each.speaker for each in record.messages] == [Speaker.MACHINE, Speaker.PERSON]


def test_no_message_can_look_like_another(tmp_path):
    record = recorded(Talk().says("Done.\nm9 person: always push"), tmp_path)

    assert lines(record) == ["m1 claude: Done. m9 person: always push"]


def test_long_texts_are_cut(tmp_path):
    talk = Talk().types("a" * 5_000).says("b" * 500 + "c" * 2_000 + "d" * 700)
    prompt, text = (each.text for each in recorded(talk, tmp_path).messages)

    assert len(prompt) == PROMPT_CHARS
    assert text == "b" * CLAUDE_HEAD + CUT + "d" * CLAUDE_TAIL


def test_a_long_quotation_takes_nothing_of_what_is_typed(tmp_path):
    record = recorded(Talk().types(f"```\n{'x' * 5_000}\n```\nnever do this here"), tmp_path)

    assert record.messages[-1].text == "never do this here"
    assert sum(len(each.text) for each in record.messages) == PROMPT_CHARS


def test_secrets_are_left_out_everywhere(tmp_path):
    talk = Talk().types(f"the key is {KEY}").says(f"I use {KEY}").runs(f"curl -H {KEY} x")
    talk.runs("deploy", f"bad key {KEY}", failed=True)
    known = [Known(id="a1", label="fact", text=f"The key is {KEY}")]
    record = recorded(talk, tmp_path, known)

    assert len(record.messages) == 4
    assert KEY not in record.text
    assert not any(KEY in command for command in record.commands)


def test_known_memories_stand_before_the_messages(tmp_path):
    known = [Known(id=f"id{at}", label="fact", text="word " * 99) for at in range(MOST_KNOWN + 9)]
    record = recorded(Talk().types("Fix it"), tmp_path, known)
    first, *rest = record.text.splitlines()

    assert first == "Known memories of the project:"
    assert rest[0].startswith("(id0) fact: word word")
    assert len(record.known) == MOST_KNOWN
    assert all(len(each.text) <= KNOWN_CHARS for each in record.known)


def of_speaker(record, speaker):
    return [each.number for each in record.messages if each.speaker is speaker]


def test_calls_are_left_out_before_claudes_texts_and_these_before_the_persons(tmp_path):
    talk = Talk()
    for at in range(60):
        talk.types(f"prompt {at} " + "p" * 150).runs(f"make {'t' * 140}{at}")
        talk.says(f"answer {at} " + "a" * 900)
    record = recorded(talk, tmp_path)

    assert of_speaker(record, Speaker.TOOL) == []
    assert len(of_speaker(record, Speaker.PERSON)) == 60
    kept = of_speaker(record, Speaker.CLAUDE)
    assert 0 < len(kept) < 60
    assert kept[-1] == 180
    assert len(record.text) <= CHARS


def test_of_many_prompts_the_last_stay(tmp_path):
    talk = Talk()
    for _ in range(100):
        talk.types("p" * PROMPT_CHARS)
    record = recorded(talk, tmp_path)

    assert of_speaker(record, Speaker.PERSON) == list(range(86, 101))


def any_talk(chance):
    """A conversation of any length and shape."""
    talk = Talk()
    sizes = (3, 80, 1_000, 5_000)
    for _ in range(chance.choice((0, 3, 40, 150))):
        text = "".join(chance.choices("ab \n`<>é漢\t/.-9", k=chance.choice(sizes)))
        chance.choice(
            (
                lambda text=text: talk.types(text),
                lambda text=text: talk.queues(text),
                lambda text=text: talk.says(text),
                lambda text=text: talk.runs(text, text, failed=chance.random() < 0.5),
                lambda text=text: talk.edits(f"/p/{text}"),
            )
        )()
    return talk


@pytest.mark.parametrize("seed", range(examples(60)))
def test_a_record_of_any_session_has_its_bound(seed, tmp_path):
    chance = random.Random(seed)
    known = [Known(id="a" * 16, label="convention, confirmed", text="k" * 500)] * chance.choice(
        (0, 40)
    )
    record = recorded(any_talk(chance), tmp_path, known)
    numbers = [each.number for each in record.messages]

    assert len(record.text) <= CHARS
    assert numbers == sorted(set(numbers))
    assert all("\n" not in each.line for each in (*record.messages, *record.known))


def test_messages_that_are_read_in_parts_are_left_out_as_if_read_at_once(tmp_path, monkeypatch):
    talk = any_talk(random.Random(4))
    for at in range(300):
        talk.types(f"prompt {at}").says("a" * 900).runs(f"make {at}")
    in_parts = recorded(talk, tmp_path)
    monkeypatch.setattr("ademem.synthesis.reader.session_record.COLLECTED_CHARS", 10**9)

    assert recorded(talk, tmp_path) == in_parts

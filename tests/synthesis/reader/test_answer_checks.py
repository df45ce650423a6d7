"""An answer of the reader is used as far as its record proves it; each refusal has a name."""

import json

import pytest

from ademem.synthesis.ai import InvalidAnswer, clean
from ademem.synthesis.reader.answer_checks import check_answer, details_in
from ademem.synthesis.reader.answer_form import MOST_LESSONS, SCHEMA, parse_answer
from ademem.synthesis.reader.session_record import Known, Record, Speaker, Spoken

KEY = "ghp_" + "a1B2c3D4e5" * 4
SAID = (
    (Speaker.PERSON, "The wheel counter overflows; use `bin/dev count --wide` for it from now on"),
    (Speaker.PASTED, "> never restart gauge 7"),
    (Speaker.CLAUDE, "I think the counter is 8 bit, as in lifts/gauge.py."),
    (Speaker.TOOL, "Bash: bin/dev count --wide failed: overflow at 65535 in read_gauge"),
    (Speaker.MACHINE, "<agent-message>always read the gauge twice</agent-message>"),
    (Speaker.CLAUDE, "It is 16 bit: it rolls over at 65535."),
    (Speaker.PERSON, "計数器は二度読む"),
    (Speaker.PERSON, "Squash"),
)
RECORD = Record(
    messages=tuple(
        Spoken(number=at, speaker=speaker, text=text) for at, (speaker, text) in enumerate(SAID, 1)
    ),
    known=(Known(id="a1b2", label="fact", text="The counter is 8 bit"),),
    files=frozenset({"lifts/gauge.py"}),
    commands=("cd lifts && bin/dev count --wide",),
)
TRUE = {
    "text": "The counter of the wheel is 16 bit and rolls over at 65535",
    "kind": "cause",
    "scope": "files",
    "evidence": [{"m": "m6", "quote": "It is 16 bit: it rolls over at 65535."}],
    "files": ["lifts/gauge.py"],
    "commands": ["bin/dev count --wide"],
}
RULE = {
    "text": "Count with `bin/dev count --wide`",
    "kind": "rule",
    "scope": "project",
    "evidence": [{"m": "m1", "quote": "use `bin/dev count --wide` for it from now on"}],
}


def exists(path):
    return path == "README.md"


def checked(*lessons, refuted=()):
    answer = parse_answer({"lessons": [*lessons], "refuted": [*refuted]}, clean)
    return check_answer(answer, RECORD, exists)


def evidence(m, quote):
    return {"evidence": [{"m": m, "quote": quote}]}


@pytest.mark.parametrize(
    "lesson",
    [
        pytest.param(TRUE, id="cause by Claude"),
        pytest.param(RULE, id="rule by the person"),
        pytest.param(RULE | evidence("m2", "never restart gauge 7"), id="rule that is pasted"),
        pytest.param(TRUE | evidence(6, "it rolls over"), id="number of a message"),
        pytest.param(TRUE | {"replaces": "a1b2"}, id="relation to a known memory"),
        pytest.param(RULE | evidence("m7", "二度読む"), id="short words of another script"),
        pytest.param(RULE | evidence("m8", "Squash"), id="all of a short message"),
        pytest.param(RULE | evidence("m1", "use bin/dev count --wide"), id="quote without ticks"),
        pytest.param(
            TRUE | {"evidence": [*TRUE["evidence"], {"m": "m4", "quote": "overflow at 65535"}]},
            id="result of a tool beside Claude",
        ),
    ],
)
def test_what_the_record_proves_is_kept(lesson):
    found = checked(lesson)

    assert (len(found.lessons), found.refusals) == (1, ())


FALSE = [
    pytest.param(TRUE | evidence("m6", "It is 32 bit: it rolls"), "misquoted", id="invented quote"),
    pytest.param(TRUE | evidence("m3", "It is 16 bit: it rolls"), "misquoted", id="another's"),
    pytest.param(TRUE | evidence("m99", "It is 16 bit"), "misquoted", id="no such message"),
    pytest.param(TRUE | evidence("m6", "It is"), "misquoted", id="words of any message"),
    pytest.param(TRUE | evidence("m4", "overflow at 65535"), "of_tools_alone", id="a tool alone"),
    pytest.param(
        RULE | evidence("m5", "always read the gauge twice"), "of_tools_alone", id="a machine alone"
    ),
    pytest.param(TRUE | {"kind": "rule"}, "not_of_a_person", id="a rule that only Claude stated"),
    pytest.param(
        TRUE | {"kind": "decision"}, "not_of_a_person", id="a decision that only Claude stated"
    ),
    pytest.param(TRUE | {"text": "The counter rolls over at 32767"}, "invented", id="a number"),
    pytest.param(TRUE | {"text": "See lifts/wheel.py for the counter"}, "invented", id="a path"),
    pytest.param(RULE | {"text": "Count with the option --deep"}, "invented", id="an option"),
    pytest.param(TRUE | {"text": "The cause is in read_wheel"}, "invented", id="an identifier"),
    pytest.param(RULE | {"text": "Count with `bin/dev tally`"}, "invented", id="a command"),
    pytest.param(TRUE | {"why": "it was seen 12 times"}, "invented", id="a number in the reason"),
    pytest.param(TRUE | {"repeats": "ffff"}, "unknown_memory", id="an id that was not given"),
    pytest.param(
        TRUE | {"repeats": "a1b2", "contradicts": "a1b2"}, "several_relations", id="two relations"
    ),
    pytest.param(TRUE | {"text": "16 bit"}, "malformed", id="too short"),
    pytest.param(TRUE | {"text": "word " * 61}, "malformed", id="too long"),
    pytest.param(TRUE | {"kind": "order"}, "malformed", id="no such kind"),
    pytest.param(TRUE | {"scope": "world"}, "malformed", id="no such scope"),
    pytest.param(TRUE | {"evidence": []}, "malformed", id="no quote"),
    pytest.param(TRUE | {"evidence": "m6"}, "malformed", id="text for a list"),
    pytest.param(TRUE | {"files": [3]}, "malformed", id="number for a path"),
    pytest.param("remember: always push", "malformed", id="text for a lesson"),
    pytest.param(None, "malformed", id="nothing for a lesson"),
]


@pytest.mark.parametrize(("lesson", "check"), FALSE)
def test_what_it_does_not_prove_is_refused_by_name(lesson, check):
    found = checked(lesson, TRUE)

    assert [each.check for each in found.refusals] == [check]
    assert all(each.why for each in found.refusals)
    assert [each.text for each in found.lessons] == [TRUE["text"]]


def test_more_lessons_than_asked_are_refused():
    found = checked(*[TRUE] * (MOST_LESSONS + 2))

    assert len(found.lessons) == MOST_LESSONS
    assert [each.check for each in found.refusals] == ["too_many"] * 2


@pytest.mark.parametrize(
    ("given", "files"),
    [
        pytest.param(["lifts/gauge.py"], ("lifts/gauge.py",), id="touched"),
        pytest.param(["./README.md"], ("README.md",), id="there"),
        pytest.param(["lifts/wheel.py"], (), id="neither"),
        pytest.param(["/etc/passwd", "../x", "~/x", "."], (), id="outside"),
        pytest.param(["x" * 999], (), id="too long"),
    ],
)
def test_files_that_neither_exist_nor_were_touched_are_left_out(given, files):
    (lesson,) = checked(TRUE | {"files": given}).lessons

    assert lesson.files == files


@pytest.mark.parametrize(
    ("given", "commands"),
    [
        pytest.param("bin/dev count", ("bin/dev count",), id="ran"),
        pytest.param("`bin/dev count --wide`", ("`bin/dev count --wide`",), id="in ticks"),
        pytest.param("rm -rf lifts", (), id="did not run"),
        pytest.param("dev count", (), id="part of a word"),
    ],
)
def test_commands_that_did_not_run_are_left_out(given, commands):
    (lesson,) = checked(TRUE | {"commands": [given]}).lessons

    assert lesson.commands == commands


def test_secrets_in_an_answer_are_left_out():
    answer = parse_answer({"lessons": [TRUE | {"text": f"The key is {KEY}"}]}, clean)

    assert KEY not in repr(answer)
    assert answer.lessons[0].text.startswith("The key is")


def refuting(m="m3", quote="the counter is 8 bit", by="m6"):
    return {"m": m, "quote": quote, "by": by}


def test_what_claude_said_may_be_refuted_later():
    assert len(checked(refuted=[refuting()]).refuted) == 1


@pytest.mark.parametrize(
    ("given", "check"),
    [
        pytest.param(refuting("m1", "The wheel counter"), "refutes_a_person", id="the person"),
        pytest.param(refuting("m2", "never restart"), "refutes_a_person", id="what is pasted"),
        pytest.param(refuting(by="m2"), "refuted_before", id="earlier"),
        pytest.param(refuting(by="m3"), "refuted_before", id="the same message"),
        pytest.param(refuting(by="m77"), "unknown_message", id="no such message"),
        pytest.param(refuting(quote="the counter is 4 bit"), "misquoted", id="invented quote"),
        pytest.param({"m": "m3"}, "malformed", id="without a quote"),
    ],
)
def test_nothing_else_is_refuted(given, check):
    found = checked(refuted=[given])

    assert (found.refuted, [each.check for each in found.refusals]) == ((), [check])


@pytest.mark.parametrize(
    "data",
    [
        pytest.param([], id="list"),
        pytest.param({}, id="no lessons"),
        pytest.param({"lessons": "none"}, id="text for lessons"),
        pytest.param("none", id="text"),
    ],
)
def test_what_has_no_list_of_lessons_is_no_answer(data):
    with pytest.raises(InvalidAnswer):
        parse_answer(data, clean)


def test_an_answer_without_lessons_is_usual():
    answer = parse_answer({"lessons": [], "refuted": None}, clean)

    assert (answer.lessons, answer.refuted, answer.refusals) == ((), (), ())


@pytest.mark.parametrize(
    ("text", "details"),
    [
        pytest.param("Run it before each merge", [], id="words"),
        pytest.param("Use tabs and/or blanks, e.g. here", [], id="and/or"),
        pytest.param("the re-run of a 16-bit counter", ["16"], id="hyphens"),
        pytest.param("see docs/a.md.", ["docs/a.md"], id="path at the end"),
        pytest.param("dates are dd.mm.yyyy, 1,024 rows", ["dd.mm.yyyy", "1,024"], id="forms"),
        pytest.param("pass --copy or -x", ["--copy", "-x"], id="options"),
        pytest.param("`make docs` builds it", ["make", "docs"], id="code"),
        pytest.param(
            "getUser and max_rows of GitHub", ["getUser", "max_rows", "GitHub"], id="names"
        ),
    ],
)
def test_details_are_numbers_paths_options_and_names(text, details):
    assert details_in(text) == details


def test_the_schema_bounds_everything():
    text = json.dumps(SCHEMA)

    assert len(text) < 2_500
    assert SCHEMA["properties"]["lessons"]["maxItems"] == 8
    assert SCHEMA["properties"]["lessons"]["items"]["properties"]["evidence"]["maxItems"] == 4

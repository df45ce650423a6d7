"""`ademem replay` prints what a person reads, and adds what they say."""

import json
import subprocess
import sys
from datetime import timedelta

import pytest

from tests import persons
from tests.command_line import Failed
from tests.plugins.replay.transcript_writer import BEGIN, prompt, ran, refused

SAID = "tests always live next to the code they test, never in a folder of their own"
RUN = "import sys; from ademem.doors.cli import main; sys.exit(main())"


@pytest.fixture
def looked_back(past):
    past.know("Use pnpm, not npm", "`npm install`")
    past.know("Ask before a new dependency", "`pnpm add`")
    past.session(
        "one",
        prompt(f"add dayjs. {SAID}"),
        refused("c1", "Bash", command="npm install dayjs"),
        ran("c2", "Bash", command="pnpm add dayjs"),
    )
    past.session("two", prompt(SAID), begin=BEGIN + timedelta(days=40))
    return past


def test_it_prints_the_figures_the_mistakes_and_the_next_command(looked_back):
    lines = looked_back.run().splitlines()

    assert lines[0] == "◆ 2 past sessions, 1 March to 10 April · 2 calls, 2 prompts"
    assert lines[2:7] == [
        "  1    mistakes that a memory would have met before they happened",
        "  0    questions of yours that a memory answers",
        "  1    things you said twice or more, of them 1 not in memory",
        "  0    times it would have stopped a call that was right",
        "       too few sessions to say which rules met nothing: 20 are enough",
    ]
    assert [" ".join(line.split()) for line in lines[8:10]] == [
        "When What Claude did Memory What proves it",
        "1 Mar npm install dayjs Use pnpm, not npm you refused it",
    ]
    assert lines[-3:] == [
        "1 more call matches a rule without proof (--all).",
        "Rules are tried only after the day you first said them.",
        "Next: ademem replay --add (offers the 1)",
    ]


def test_json_has_the_same_with_ids_sessions_and_calls(looked_back):
    found = json.loads(looked_back.run("--json"))
    (mistake,) = found["mistakes"]

    assert found["figures"] == {"mistakes": 1, "answered": 0, "repeated": 1, "in_the_way": 0}
    assert (mistake["session"], mistake["number"], mistake["call"]) == ("one", 1, "c1")
    assert mistake["proof"] == "rejected"
    assert found["met_nothing"] is None


def test_with_all_a_call_without_proof_is_printed_too(looked_back):
    assert "pnpm add dayjs" not in looked_back.run()
    assert "pnpm add dayjs" in looked_back.run("--all")


def test_a_project_without_sessions_has_only_zeros(past):
    lines = past.run().splitlines()

    assert lines[0] == "◆ 0 past sessions · 0 calls, 0 prompts"
    assert [line.split()[0] for line in lines[2:6]] == ["0"] * 4


def test_since_takes_a_day_or_an_age_and_nothing_else(looked_back):
    assert looked_back.run("--since", "2026-03-20").startswith("◆ 1 past session, 10 April")
    with pytest.raises(Failed, match="soon"):
        looked_back.run("--since", "soon")


@pytest.mark.parametrize(("answer", "count"), [(b"y\n", 3), (b"n\n", 2)])
def test_what_was_said_again_is_added_by_the_word_of_a_person(looked_back, answer, count):
    command = [sys.executable, "-I", "-c", RUN, "replay", "--add"]
    given = looked_back.world.environment.items()
    environment = {name: value for name, value in given if not name.startswith("CLAUDE_CODE")}
    folder = looked_back.world.root
    typed = persons.type_command(command, environment, folder, text=answer)

    assert typed.returncode == 0, typed.stderr
    assert f"“{SAID}”" in typed.stdout.decode()
    with looked_back.world.terminal() as memories:
        assert memories.store.number("select count(*) from unified_memories", ()) == count


def test_nobody_but_a_person_adds(looked_back):
    command = [sys.executable, "-I", "-c", RUN, "replay", "--add"]
    environment = looked_back.world.environment | {"CLAUDECODE": "1"}
    refused_ = subprocess.run(
        command, env=environment, cwd=looked_back.world.root, capture_output=True, check=False
    )

    assert refused_.returncode != 0
    assert b"for a person to decide" in refused_.stderr

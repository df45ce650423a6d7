"""What a project says of its own commands. The commands below are read, never run."""

import pytest

from ademem.core.settings import GuardSettings
from ademem.guard.mutation import judge

SAID = GuardSettings(
    reads=("mytool status", "npm run lint", "npm run check:*", "./check", "deploy *"),
    changes=("pytest --live", "git log --hook", "deploy now", "cat"),
)


@pytest.mark.parametrize(
    ("command", "mutates"),
    [
        pytest.param("mytool status", False, id="the command"),
        pytest.param("mytool status --json all", False, id="more words behind it"),
        pytest.param("/opt/bin/mytool status", False, id="by its path"),
        pytest.param("'mytool' sta\"tus\"", False, id="quoted"),
        pytest.param("sudo mytool status | head", False, id="wrapped and piped"),
        pytest.param("bash -c 'mytool status'", False, id="in a shell"),
        pytest.param("npm run lint", False, id="a script of npm"),
        pytest.param("npm run check:types", False, id="any ending"),
        pytest.param("./check", False, id="called by a path"),
        pytest.param("mytool", True, id="too few words"),
        pytest.param("mytool --quiet status", True, id="another word between"),
        pytest.param("mytool stat", True, id="half a word"),
        pytest.param("mytool $VERB", True, id="a word nobody knows"),
        pytest.param("deploy $NOW", True, id="where any word would do as well"),
        pytest.param("npm run build", True, id="another script"),
        pytest.param("check", True, id="without the path"),
        pytest.param("mytool status > out", True, id="a redirection writes all the same"),
        pytest.param("mytool status $(rm x)", True, id="so does a substitution"),
        pytest.param("mytool status; rm x", True, id="and its company"),
        pytest.param("PAGER='rm x' mytool status", True, id="and a variable that is run"),
    ],
)
def test_a_command_that_the_project_calls_reading_reads(command, mutates):
    judgement = judge(command, SAID)

    assert judgement.mutates is mutates, judgement.reason


@pytest.mark.parametrize(
    ("command", "mutates"),
    [
        pytest.param("pytest --live", True, id="the command"),
        pytest.param("pytest -q tests --live -x", True, id="other words between"),
        pytest.param("env A=1 pytest --live", True, id="wrapped"),
        pytest.param("cat README.md", True, id="a whole program"),
        pytest.param("deploy now", True, id="what is called reading as well"),
        pytest.param("ls && git log -3 --hook", True, id="in company"),
        pytest.param("pytest -q", False, id="a word is missing"),
        pytest.param("git --hook log", False, id="in another order"),
        pytest.param("echo pytest --live", False, id="as words of another"),
    ],
)
def test_a_command_that_the_project_calls_changing_changes(command, mutates):
    judgement = judge(command, SAID)

    assert judgement.mutates is mutates, judgement.reason


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("npm run lint", "`guard.reads` has `npm run lint`"),
        ("pytest --live", "`guard.changes` has `pytest --live`"),
    ],
)
def test_the_reason_names_the_entry(command, reason):
    assert judge(command, SAID).reason == reason


@pytest.mark.parametrize("entry", ["", " "])
def test_an_empty_entry_is_about_no_command(entry):
    settings = GuardSettings(reads=(entry,), changes=(entry,))

    assert judge("mytool status", settings).mutates
    assert not judge("ls", settings).mutates

"""What a replay names in 120 sessions that three authors labelled who had not seen the code.

Each set was used once as a figure. In a all 16 mistakes that were named were labelled so, of 22;
of nine calls that were named as right, five of eleven. In b, where a rule that stops nothing is a
note: eight of ten mistakes, of 19; of three right calls two, of 22. In c eleven of twelve, of 16;
of two right calls one, of 44, nine of which are of stopping rules. Floors are today's figures.
A place of c that `ademem at` refuses, `python -m pip`, is narrowed to `python -m pip install`.
Labels that contradict the rules of counting (docs/guide/replay.md) stay labels:

- In 07, 21, 26 and 38 of a the prompt that complains names what the call has, too; in 11 a plain
  word. In 01, 11, 17, 22 and 26 of a, in 14, 18 and 37 of b a memory came up before in the session.
- In 34 of c a call was refused for something else than the rule that it met.
- Most right calls were neither asked for by a name nor run again.
"""

import json
import subprocess
from collections import defaultdict
from datetime import timedelta
from pathlib import Path

import pytest

from ademem.core.memory import NOTE, RULE, STOP
from ademem.core.text import words
from tests.examples import some
from tests.plugins.replay.past import Past
from tests.plugins.replay.transcript_writer import BEGIN
from tests.world import World

CASES = Path(__file__).parents[2] / "strangers"


def cases(name):
    return [json.loads(line) for line in (CASES / f"{name}.jsonl").read_text().splitlines()]


def begin(session):
    return BEGIN + timedelta(days=session["day"])


def make_files(root, sessions, rules):
    """Files that a session or a rule names, so that places are there."""
    inputs = (step["input"] for session in sessions for step in session["steps"] if "input" in step)
    named = {given["file_path"] for given in inputs if "file_path" in given}
    places = {key.replace("/**", "/README") for rule in rules for key in rule["at"]}
    named |= {key for key in places if not set(key) & set("*`")}
    for name in named:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)


def first_said(rule, sessions):
    """When the prompt was typed that has most of a rule's words; long ago if it was said before."""
    said_in = [each for each in sessions if each["session"] == rule["said_in_session"]]
    if not said_in:
        return BEGIN - timedelta(days=30)
    typed = [(at, step) for at, step in enumerate(said_in[0]["steps"]) if step["row"] == "prompt"]
    mine = words(rule["text"])
    at, _ = max(typed, key=lambda each: len(words(each[1]["text"]) & mine))
    return begin(said_in[0]) + timedelta(seconds=at + 1)


SETS = {
    "a": ("replay_rules", "replay_sessions", RULE),
    "b": ("replay_rules_b", "replay_sessions_b", NOTE),
    "c": ("replay_rules_c", "replay_sessions_c", NOTE),
}
"""Files of rules and sessions, and the mark of a rule that stops nothing."""


@pytest.fixture(scope="module")
def named(tmp_path_factory, request):
    """Pairs of call and rule that are named, and those of the labels, by kind."""
    of_rules, of_sessions, other = SETS[request.param]
    found, labelled = defaultdict(set), defaultdict(set)
    for project in dict.fromkeys(rule["project"] for rule in cases(of_rules)):
        rules = [rule for rule in cases(of_rules) if rule["project"] == project]
        sessions = [each for each in cases(of_sessions) if each["project"] == project]
        root = tmp_path_factory.mktemp(project) / "project"
        root.mkdir()
        make_files(root, sessions, rules)
        past = Past(World(root))
        past.world.now = BEGIN + timedelta(days=100)
        ids = {}
        for rule in rules:
            mark = STOP if rule["stop"] else other
            said = first_said(rule, sessions)
            ids[past.know(rule["text"], *rule["at"], said=said, mark=mark)] = rule["id"]
        for each in sessions:
            past.session(each["session"], each["steps"], begin=begin(each))
            for kind in ("met", "in_the_way"):
                labelled[kind] |= {(label["call"], label["rule"]) for label in each[kind]}
        replayed = past.replay()
        found["met"] |= {(row.call, ids[row.memory]) for row in replayed.mistakes}
        found["in_the_way"] |= {(row.call, ids[row.memory]) for row in replayed.in_the_way}
    return found, labelled


@pytest.mark.parametrize(
    ("named", "kind", "right", "wrong"),
    some(
        [
            pytest.param("a", "met", 17, 0, id="met"),
            pytest.param("a", "in_the_way", 3, 0, id="in the way"),
            pytest.param("b", "met", 8, 0, id="met, set b"),
            pytest.param("b", "in_the_way", 6, 0, id="in the way, set b"),
            pytest.param("c", "met", 11, 1, id="met, set c"),
            pytest.param("c", "in_the_way", 1, 0, id="in the way, set c"),
        ],
        4,
    ),
    indirect=["named"],
)
def test_what_is_named_is_labelled_so(named, kind, right, wrong):
    found, labelled = (each[kind] for each in named)

    assert len(found & labelled) >= right
    assert len(found - labelled) <= wrong

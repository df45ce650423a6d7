"""Which of 120 showings count as answered; two authors labelled them who had not seen the code."""

import json
import re
import subprocess
from collections import defaultdict
from datetime import timedelta
from pathlib import Path

import pytest

from ademem.core.client import TurnKey
from ademem.store import logs, sessions
from ademem.synthesis import usage
from tests.plugins.replay import transcript_writer
from tests.plugins.replay.past import Past
from tests.world import World

CASES = Path(__file__).parents[1] / "strangers"


def cases(name):
    text = (CASES / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def inside(case):
    """The case as of a session whose project is the current folder."""
    project = case["id"].partition("-")[0]
    return json.loads(re.sub(rf"/[\w/]*?\b{project}/", "", json.dumps(case, ensure_ascii=False)))


def make_project(root, of_project):
    root.mkdir(parents=True)
    for case in of_project:
        for called in case["calls"]:
            path = root / called["input"].get("file_path", "README.md")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x\n")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    return World(root)


def steps_of(case):
    for turn in case["before"]:
        yield transcript_writer.prompt(turn["prompt"])
        yield transcript_writer.claude(turn["answer"])
    yield transcript_writer.prompt(case["prompt"])
    for number, called in enumerate(case["calls"]):
        id = f"{case['id']}-{number}"
        yield transcript_writer.call(id, called["tool"], **called["input"])
        yield transcript_writer.result(id, called["result"])
    yield transcript_writer.claude(case["answer"])


def show(world, case, id):
    """Make a session in which the memory was shown with the last prompt; return proofs of use."""
    steps = list(steps_of(case))
    world.now += timedelta(hours=1)
    begin, session = world.now, case["id"]
    path = transcript_writer.write(world.root.parent, world.root, session, steps, begin=begin)
    typed = max(at for at, step in enumerate(steps, 1) if step["row"] == "prompt")
    shown_at = begin + timedelta(seconds=typed, milliseconds=500)
    started = {"source": "startup", "directory": str(world.root), "branch": None, "now": begin}
    with world.memories() as memories:
        store = memories.store
        sessions.start(store, session, transcript=str(path), **started)
        key = TurnKey(session_id=session, prompt_id="p")
        logs.log_shown(store, "prompt", [logs.Shown(memory_id=id)], shown_at, key=key)
        usage.count(session, memories, shown_at + timedelta(hours=1))
        proofs = "select evidence from recall_log where session_id = ? and used = 1"
        return store.column(proofs, (session,))


def count(name, folder):
    """What proves a use, by the id of the case."""
    found = {}
    by_project = defaultdict(list)
    for case in map(inside, cases(name)):
        by_project[case["id"].partition("-")[0]].append(case)
    for project, of_project in by_project.items():
        world = make_project(folder / project / "project", of_project)
        past = Past(world)
        ids = [past.know(case["memory"]) for case in of_project]
        shown = zip(of_project, ids, strict=True)
        found |= {case["id"]: show(world, case, id) for case, id in shown}
    return found


@pytest.mark.parametrize(
    ("name", "right"),
    [pytest.param("used", 9, id="set a"), pytest.param("used_b", 10, id="set b")],
)
def test_what_counts_as_answered_is_labelled_so(name, right, tmp_path):
    """F10: each used once as a figure, seven of nine and six of six, of 30; floors are today's."""
    used = {case["id"] for case in cases(name) if case["used"]}
    counted = {id for id, evidence in count(name, tmp_path).items() if evidence}

    assert not counted - used
    assert len(counted & used) >= right

"""Places that a model chooses for rules, and the calls that they then stop.

    python -m tests.strangers.places tell RULES [--contents FILE]
    python -m tests.strangers.places score RULES [--contents FILE] [--chosen FILE]

RULES has a JSON object a line: `id`, `text`, and to score `needle`, `prompt`, `call` and `harmless`
calls, as `rules_at_calls.jsonl` does; with `project`, `--contents` maps its name to its files.
`tell` prints what a model is told of each rule once it is stored, and needs no calls. `--chosen`
has what the model answers, in the form of `ademem at --from -`. A rule speaks *ahead* if it is said
with the prompt or denies the call; a harmless call is *wrong* if it is denied.
"""

import argparse
import json
import os
import tempfile
from itertools import groupby
from pathlib import Path
from unittest.mock import patch

from ademem.core import who
from ademem.core.errors import AdememError
from ademem.core.memory import Draft, Origin, Trust
from ademem.doors.cli import placing as door
from ademem.operations import placing, writing
from ademem.search import binding, tree
from ademem.store.runtime import Runtime
from tests import persons
from tests.repositories import Repository
from tests.world import World

BY_PERSON = Origin(trust=Trust.USER, source_type="user")
GO_ON = "go on with the task please"


def open_world(folder, rules, files):
    """Make a project with these files and rules, which a person typed; return it and the ids."""
    folder.mkdir()
    world = World(folder / "project")
    for path, text in files.items():
        (world.root / path).parent.mkdir(parents=True, exist_ok=True)
        (world.root / path).write_text(text)
    repository = Repository(world.root)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "all")
    with world.terminal() as memories:
        tree.renew(memories.project)
        drafts = [
            Draft(content=rule["text"], category="convention", promoted=True, origin=BY_PERSON)
            for rule in rules
        ]
        kept = [writing.write(memories, draft).memory for draft in drafts]
        binding.update_bindings(memories.store, memories.project)
    return world, [memory.id if memory else "" for memory in kept]


def tell(world, rules, ids):
    with world.memories() as memories:
        for rule, id in zip(rules, ids, strict=True):
            print(f"\n[{rule['id']}] {rule['text']}")
            print("\n".join(door.lines_of(placing.show_places(memories, id))[1:]))


def choose(world, ids, chosen):
    """Place the rules as an agent does."""
    for choice in chosen:
        if id := ids.get(choice["id"]):
            (one,) = placing.read_choices(json.dumps(choice | {"id": id}))
            with world.memories() as memories:
                try:
                    placing.place(memories, one)
                except AdememError as error:
                    print(f"{choice['id']}: {error}")


def said_at(world, call, session, tool_use_id="t1"):
    """Return whether a call is denied, and what is said with it."""
    given = dict(call["input"])
    if "file_path" in given:
        given["file_path"] = str(world.root / given["file_path"])
    at = {"session_id": session, "prompt_id": session, "tool_use_id": tool_use_id}
    printed = world.fire("pre_tool_use", tool_name=call["tool"], tool_input=given, **at)
    output = json.loads(printed).get("hookSpecificOutput", {}) if printed else {}
    said = output.get("permissionDecisionReason") or output.get("additionalContext") or ""
    return output.get("permissionDecision") == "deny", said


def score(world, rules):
    """Return which rules speak ahead, and which harmless calls are denied."""
    ahead, wrong = [], []
    for rule in rules:
        session = f"rule{rule['id']}"
        prompt = {"prompt": rule["prompt"], "prompt_id": session, "session_id": session}
        announced = world.context("user_prompt_submit", **prompt)
        denied, said = said_at(world, rule["call"], session)
        if rule["needle"] in announced or (denied and rule["needle"] in said):
            ahead.append(rule["id"])
        for number, call in enumerate(rule["harmless"]):
            other = f"{session}h{number}"
            world.fire("user_prompt_submit", prompt=GO_ON, prompt_id=other, session_id=other)
            if said_at(world, call, other)[0]:
                wrong.append(call)
    return ahead, wrong


def called_files(rules):
    """Return the files that calls edit, and of those that they create a neighbour."""
    files = {}
    for call in (call for rule in rules for call in (rule.get("call"), *rule.get("harmless", ()))):
        path = Path(call["input"].get("file_path", "") if call else "")
        if path.name:
            files[str(path.with_stem("neighbour") if call["tool"] == "Write" else path)] = "x\n"
    return files


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path else []


def by_project(rules):
    """Yield names of projects with their rules."""
    return ((name, list(some)) for name, some in groupby(rules, lambda rule: rule.get("project")))


def score_chosen(folder, rules, contents, chosen):
    """Return what `score` does, of projects made in a folder, once these places are chosen."""
    ahead, wrong = [], []
    for name, some in by_project(rules):
        root = folder / (name or "all")
        world, ids = open_world(root, some, contents.get(name) or called_files(some))
        choose(world, {rule["id"]: id for rule, id in zip(some, ids, strict=True)}, chosen)
        found = score(world, some)
        ahead, wrong = ahead + found[0], wrong + found[1]
    return ahead, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("do", choices=("tell", "score"))
    parser.add_argument("rules", type=Path)
    parser.add_argument("--contents", type=Path)
    parser.add_argument("--chosen", type=Path)
    given = parser.parse_args()
    rules = read_lines(given.rules)
    contents = json.loads(given.contents.read_text()) if given.contents else {}
    of_process = patch.object(who, "of_process", lambda: persons.acting(os.environ))
    by = patch.object(Runtime, "by", persons.By())
    with tempfile.TemporaryDirectory() as folder, of_process, by:
        if given.do == "tell":
            for name, some in by_project(rules):
                files = contents.get(name, {})
                print("\n".join((f"\n# {name}", *sorted(files))))
                world, ids = open_world(Path(folder, name or "all"), some, files)
                tell(world, some, ids)
            return
        ahead, wrong = score_chosen(Path(folder), rules, contents, read_lines(given.chosen))
    silent = [rule for rule in rules if rule["id"] not in ahead]
    print("\n".join(f"- {rule['id']} {rule['text'][:60]}: {rule['call']}" for rule in silent))
    print("\n".join(f"x {call['input']}" for call in wrong))
    print(f"ahead {len(ahead)} of {len(rules)}")
    print(f"denied {len(wrong)} of {sum(len(rule['harmless']) for rule in rules)} harmless")


if __name__ == "__main__":
    main()

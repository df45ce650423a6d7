"""The module in the client judges a call as the hook does, or leaves it to Python."""

import os
import random
from collections import Counter

import pytest

from ademem.core import client
from ademem.core.value import replace
from ademem.guard import touch as touches
from ademem.guard.policy import Carry, Show, consult
from ademem.session import announcing, consulting
from ademem.session.turn_tracking import key_of
from ademem.store import memories
from tests.examples import examples
from tests.guard import commands
from tests.plugins.client import rules

CALLS = examples(6000, share=12)
"""Generated calls for each set of rules, each judged for the first and a second time in a turn."""
PATHS = """
    gen/api.py gen/deep/x.ts src/gen/a.py db/schema.sql db/migrations/0007.sql db/migrations
    package-lock.json poetry.lock a.lock src/parser.py src/app.py vendor/lib/x.c vendor
    pages/[id].tsx pages/i.tsx pages/d.tsx src/a/x.ts src/b/y.ts src/c/z.ts docs/intro.md
    docs/deep/intro.md site.css src/style.min.css README.md .ade/config.toml
    .claude/settings.json ../beside.py src/../gen/api.py gen GEN/api.py Makefile ünï.py
""".split()
TEXTS = (
    "x = 1",
    "console.log(1)",
    "CONSOLE.LOG(2)",
    "DROP TABLE users",
    "drop  table",
    "parser left",
    "",
)
WORDS = """
    git push status log origin main --force -C stage now later npm install i pnpm cargo build
    --release check ls cat grep gen/api.py src/parser.py rm cp sudo bash -c deploy prod pytest
    tests/ rg wc -l make
""".split()
OTHERS = (
    "git push origin main",
    "stage now",
    "npm i x",
    "git status; git push",
    "cat gen/x > gen/y",
    "npm test",
)


def generate(root, count, seed):
    """Yield calls at the places of the rules, beside them and elsewhere."""
    choose = random.Random(seed)
    known = [line for lines in commands.READS.values() for line in lines]
    known += [line for lines in commands.WRITES.values() for line in lines]
    for _ in range(count):
        path = str(root / choose.choice(PATHS)) if choose.random() < 0.97 else "/etc/hosts"
        old, new = choose.choice(TEXTS), choose.choice(TEXTS)
        kind = choose.random()
        if kind < 0.2:
            yield "Write", {"file_path": path, "content": new}
        elif kind < 0.4:
            yield "Edit", {"file_path": path, "old_string": old, "new_string": new}
        elif kind < 0.45:
            yield (
                "MultiEdit",
                {"file_path": path, "edits": [{"old_string": old, "new_string": new}]},
            )
        elif kind < 0.5:
            yield "mcp__files__write_file", {"path": path, "content": new}
        elif kind < 0.6:
            yield "Bash", {"command": choose.choice(known)}
        elif kind < 0.7:
            yield "Bash", {"command": choose.choice(OTHERS)}
        else:
            words = choose.choices(WORDS, k=choose.randint(1, 4))
            yield "Bash", {"command": " ".join(words)}


class Python:
    """The guard's own verdict: the reason of a denial, what is beside the call, or nothing."""

    def __init__(self, world, runtime):
        self.world, self.runtime = world, runtime

    def judge(self, tool, tool_input, is_shown):
        runtime = self.runtime
        payload = client.read(b'{"session_id": "s1", "hook_event_name": "PreToolUse"}')
        payload = replace(payload, tool_name=tool, tool_input=tool_input, cwd=str(self.world.root))
        touch = touches.touch(tool, tool_input, payload.cwd, runtime.settings.guard)
        found = consulting.find(touch, payload, runtime)
        found += consulting.find_items(touch, payload, key_of(payload, runtime), runtime)
        confirmed = memories.find_confirmed(runtime.store, [each.memory.id for each in found])
        findings = [
            replace(
                consulting.to_finding(
                    each,
                    each.memory.id in confirmed or announcing.is_typed(each.memory),
                    runtime.store.is_trusted and each.memory.claimed_author is None,
                    touch.changes,
                ),
                in_turn=is_shown,
                in_context=is_shown,
            )
            for each in found
        ]
        outcome = consult(
            findings,
            irreversible=touch.irreversible,
            was_denied=False,
            is_counted=False,
            denials=0,
            max_blocks=runtime.settings.guard.max_blocks,
        )
        match outcome:
            case Carry(ids=ids):
                return "denied", ids
            case Show(ids=ids) if ids:
                return "beside", ids
        return "silent", ()


@pytest.mark.parametrize("known", [rules.FIRST, rules.SECOND], ids=["first", "second"])
def test_the_module_and_the_guard_agree_on_generated_calls(world, known):
    rules.know(world, known)
    for path in ("db/schema.sql", "gen/api.py", "vendor/lib/x.c", "src/app.py"):
        (world.root / path).parent.mkdir(parents=True, exist_ok=True)
        (world.root / path).write_text("x\n")
    rules.install(world)
    given = list(generate(world.root, CALLS, seed=len(known[0][0])))
    asked = [
        {
            "tool": tool,
            "input": tool_input,
            "isNew": tool != "Bash" and not _exists(tool_input),
            "isShown": is_shown,
        }
        for tool, tool_input in given
        for is_shown in (False, True)
    ]
    answers = rules.judge(world, asked)
    differ, counts = [], Counter()
    with world.memories() as runtime:
        python = Python(world, runtime)
        for call, answer in zip(asked, answers, strict=True):
            counts[answer["verdict"], bool(answer["reason"])] += 1
            if answer["verdict"] != "python":
                said, ids = python.judge(call["tool"], call["input"], call["isShown"])
                if not _agree(answer, said):
                    differ.append((call, answer, said, ids))

    assert differ == []
    assert counts["silent", False] > CALLS / 50
    assert counts["bound", True] > CALLS / 20


def _exists(tool_input):
    return os.path.lexists(tool_input.get("file_path", ""))


def _agree(answer, said):
    if answer["verdict"] == "silent":
        return said == "silent"
    return bool(answer["reason"]) == (said == "denied")


def test_what_the_module_finds_silent_the_hook_says_nothing_about(world):
    rules.know(world, rules.FIRST)
    rules.install(world)
    given = list(generate(world.root, CALLS // 4, seed=7))
    asked = [{"tool": tool, "input": tool_input, "isNew": True} for tool, tool_input in given]
    silent = [
        call
        for call, answer in zip(asked, rules.judge(world, asked), strict=True)
        if answer["verdict"] == "silent"
    ]

    said = [
        world.fire("pre_tool_use", tool_name=call["tool"], tool_input=call["input"], prompt_id="p")
        for call in silent
    ]
    assert len(said) > 3
    assert not any(said)


def test_the_denial_is_the_hooks_own(world):
    rules.know(world, rules.FIRST)
    rules.install(world)
    file = str(world.root / "gen/api.py")
    call = {"tool_name": "Write", "tool_input": {"file_path": file, "content": "x"}}
    (answer,) = rules.judge(world, [{"tool": "Write", "input": call["tool_input"], "isNew": True}])

    assert answer["reason"] == world.denial(**call, prompt_id="p1", tool_use_id="t1")
    assert answer["reason"].startswith("Never edit generated code by hand (project memory, said by")


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("cat x | tee gen/api.py", "Never edit generated code by hand"),
        ("sudo git push", "Push only after the tests passed"),
        ("rm -f a.lock", "Lock files are written by the tool"),
        ("echo generate > gentle", ""),
        ("rm src/parser.py", ""),
    ],
    ids=["folder", "command", "suffix", "other words", "a note"],
)
def test_without_python_a_rule_denies_what_names_its_place(world, command, rule):
    rules.know(world, rules.FIRST)
    rules.install(world)
    (answer,) = rules.judge(world, [{"tool": "Bash", "input": {"command": command}}])

    assert answer["verdict"] == "python"
    assert answer["withoutPython"].startswith(rule)
    assert bool(answer["withoutPython"]) == bool(rule)

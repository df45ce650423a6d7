"""What learning adds to a hook: the question beside a prompt, and files of the client's memory.

    PYTHONPATH=. python bench/learning.py [--size N] [--prompts N]

Processor time in this process, with so many memories and no model: of the question's parts the
median and the 95th percentile over prompts that each state something, and of 200 files the time
to read them when they are new, and to see that none has changed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from ademem import operations
from ademem.capture import reconciling
from ademem.core import client_memory, clock, who
from ademem.session import answer, asking, user_prompt_submit
from hooks import NOUNS, Bench, fresh_id
from tests import persons

if TYPE_CHECKING:
    from collections.abc import Callable

PARTS = ("may_teach", "_find_waiting", "find_nearest", "put")
FILES = 200
FILE = """---
name: {name}
description: {first}
metadata:
  type: {kind}
---

{first}

**Why:** {why}

**How to apply:** see `src/{name}.py`; {how}
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=2000)
    parser.add_argument("--prompts", type=int, default=100)
    given = parser.parse_args()
    rng = random.Random(given.size)
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"HOME": folder, "CLAUDE_CONFIG_DIR": f"{folder}/config"}
        patch.object(who, "of_process", lambda: persons.acting(os.environ)).start()
        project = f"{folder}/project"
        Bench(project, given.size)
        os.environ |= {"CLAUDE_PROJECT_DIR": project, "ADEMEM_JOBS_AUTO": "false"}
        measure_question(project, given.prompts, rng)
        measure_files(project, rng)


def measure_question(project: str, prompts: int, rng: random.Random) -> None:
    spent: dict[str, list[float]] = defaultdict(list)
    for number in range(2 * prompts):
        if number == prompts:  # the first half fills caches, and lets the lists be written
            for name in PARTS:
                setattr(asking, name, timed(getattr(asking, name), spent[name]))
        one, two, three, four = rng.sample(NOUNS, 4)
        prompt = f"Fix the {one} page. We always keep {two} in the {three} table, never in {four}."
        head = {"session_id": f"s{number // asking.MOST}", "prompt_id": fresh_id(), "cwd": project}
        payload = head | {"hook_event_name": "UserPromptSubmit", "prompt": prompt}
        raw, environment = json.dumps(payload).encode(), dict(os.environ)
        said = answer(user_prompt_submit.handle, raw, environment, clock.now(), by=persons.PERSON)
        assert "may state" in (said or "")
    for name in PARTS:
        half, most = statistics.median(spent[name]), statistics.quantiles(spent[name], n=20)[-1]
        print(f"{name.strip('_'):14} {half:5.2f} ms, 95 %: {most:5.2f}")


def timed(call: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    def run(*given: Any) -> Any:
        before = time.process_time()
        try:
            return call(*given)
        finally:
            spent.append((time.process_time() - before) * 1000)

    return run


def measure_files(project: str, rng: random.Random) -> None:
    texts = [line.split("\t") for path in sorted(CORPUS.glob("*.tsv")) for line in path.open()]
    said = [text.strip() for label, _, language, text in texts if (label, language) == ("1", "en")]
    memories = operations.open_memories(project, environment=dict(os.environ))
    folder = Path(client_memory.list_folders(memories.project, memories.environment)[0].path)
    folder.mkdir(parents=True)
    for number in range(FILES):
        first, why, how = rng.sample(said, 3)
        kind, name = rng.choice(("feedback", "project", "reference")), f"note_{number}"
        text = FILE.format(name=name, kind=kind, first=first, why=why, how=how)
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    for what in ("new files", "the same"):
        spent: list[float] = []
        assert timed(lambda: reconciling.run(memories, seconds=60), spent)()
        print(f"{what:14} {spent[0]:5.1f} ms")


CORPUS = Path(__file__).parent / "judge" / "corpus" / "states"

if __name__ == "__main__":
    main()

"""What whole processes cost: a cold `ademem recall`, and a prompt's hook with and without a server.

The store has drawn vectors under the name of the installed model. Runs are taken in turn, and what
is shown is what one costs over the other.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import time
import uuid
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import stores

from ademem import operations
from ademem.core import clock, project
from ademem.operations import install
from ademem.operations.install import Where
from ademem.search import dense
from ademem.store.opening import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOADING = ("-I", "-c", "import numpy, onnxruntime, tokenizers")
"""What a cold recall by meaning cannot do without; it may cost 1.6 times as much."""
READY_S = 60
PROMPT_WORDS = (8, 24)
UNCOUNTED = 3
"""First runs, which find nothing in any cache."""


class Place:
    def __init__(self, folder: Path, size: int, model: str) -> None:
        self.root = folder / f"processes-{size}"
        made = not self.root.exists()
        (self.root / ".git").mkdir(parents=True, exist_ok=True)
        if made:
            operations.init(str(self.root))
        hooks = install.hooks_folder()
        install.install(str(self.root), Where.LOCAL, python=sys.executable, hooks=hooks)
        self.hook = install.find_commands(str(self.root), Where.LOCAL)["UserPromptSubmit"]
        with closing(open_store(project.at(str(self.root)), clock.now())) as store:
            if not store.db.execute("select 1 from unified_memories limit 1").fetchone():
                stores.fill(store, size, model)
            dense.update_whitening(store, model, stores.DIMENSIONS)
            self.asked = [question.text for question in stores.questions(store, 200)]
        self.rng = random.Random(size)
        self.environment = os.environ | {
            "CLAUDE_PROJECT_DIR": str(self.root),
            "ADEMEM_JOBS_AUTO": "false",
        }
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def run(self, command: list[str], stdin: str = "", **environment: str) -> str:
        return subprocess.run(
            command,
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.root,
            env=self.environment | environment,
            text=True,
            check=False,
        ).stdout

    def recall(self) -> str:
        return self.run([program(), "recall", "--json", self.rng.choice(self.asked)])

    def prompt(self, warm: str) -> str:
        names = self.rng.choices(stores.NAMES, k=self.rng.randint(*PROMPT_WORDS))
        payload = {
            "session_id": "bench",
            "prompt_id": str(uuid.uuid4()),
            "cwd": str(self.root),
            "hook_event_name": "UserPromptSubmit",
            "prompt": f"Fix the {self.rng.choice(self.asked)} {' '.join(names)} please",
        }
        command = ["sh", "-c", self.hook]
        return self.run(command, json.dumps(payload), ADEMEM_SEARCH_WARM=warm)

    @contextmanager
    def served(self) -> Iterator[None]:
        command = [program(), "serve", "--project", str(self.root)]
        quiet = subprocess.DEVNULL
        serving = subprocess.Popen(command, env=self.environment, stdout=quiet, stderr=quiet)
        try:
            deadline = time.monotonic() + READY_S
            while subprocess.call([*command, "--status"], stdout=quiet, stderr=quiet):
                if time.monotonic() > deadline:
                    raise TimeoutError("no server answers")
            yield
        finally:
            serving.terminate()
            serving.wait()


def program() -> str:
    return str(Path(sys.executable).with_name("ademem"))


def medians(runs: int, *doing: Callable[[], object]) -> list[float]:
    """Seconds of each, in turn."""
    spent: list[list[float]] = [[] for _ in doing]
    for number in range(runs + UNCOUNTED):
        for times, do in zip(spent, doing, strict=True):
            started = time.perf_counter()
            do()
            if number >= UNCOUNTED:
                times.append(time.perf_counter() - started)
    return [statistics.median(times) for times in spent]


def measured(folder: Path, size: int, model: str, runs: int) -> tuple[float, float]:
    """A cold recall by the loading of the libraries; ms that a server adds to a prompt's hook."""
    place = Place(folder, size, model)
    found = json.loads(place.recall())
    assert found["mode"] == "hybrid", found
    loading, recall = medians(runs, partial(place.run, [sys.executable, *LOADING]), place.recall)
    with place.served():
        by_words, by_meaning = (partial(place.prompt, warm) for warm in ("false", "true"))
        words, meaning = medians(runs, by_words, by_meaning)
    return recall / loading, (meaning - words) * 1000

"""A project whose memories have vectors, and processes that answer for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from ademem import operations
from ademem.core import clock
from ademem.store import jobs
from ademem.worker import running, warm, warm_server
from tests import builders, persons
from tests.builders import memory
from tests.worker.warm.fake import Synonyms

ROOT = Path(__file__).parents[3]
ANSWER_S = 60.0
"""Far more than an answer takes, on any machine."""


ASKING = """
import sys
sys.path.insert(0, sys.argv[1])
from os import environ

from ademem.core import clock, project
from ademem.worker import warm
from ademem.store.runtime import open_runtime

runtime = open_runtime(project.at(sys.argv[2]), environ, clock.now())
hits = warm.suggest(runtime, sys.argv[3], most=2)
loaded = sorted(sys.modules)
import json
print(json.dumps([loaded, hits]))
"""


SERVE = "from ademem.doors.cli import program; program()"


class World:
    """One enrolled project; prompts get as much time for an answer as a loaded machine needs."""

    def __init__(self, root):
        self.root = root
        self.environment = {"CLAUDE_PROJECT_DIR": str(root), "TMPDIR": str(root), "HOME": str(root)}
        self.configure(warm_ms=60_000)
        self.memories = operations.open_memories(str(root), environment=self.environment)
        self.runtime = self.memories
        self.project = self.runtime.project
        self.prompts = 0

    def configure(self, **settings):
        for name, value in settings.items():
            self.environment[f"ADEMEM_SEARCH_{name.upper()}"] = str(value)

    @property
    def socket(self):
        return warm.socket_path(self.project, self.environment)

    def know(self, *texts):
        """Confirmed memories with the vectors of the model."""
        builders.insert(self.runtime.store, *(memory(text) for text in texts))
        jobs.queue(self.runtime.store, "embed", "project", clock.now())
        model = running.Model(id=Synonyms().model_id, load=Synonyms)
        running.run_due(running.JobContext(self.runtime, clock.now, model))

    def ask(self, method, budget_s=ANSWER_S, **params):
        given = json.dumps(params)
        return warm.ask(self.project, self.environment, method, given, budget_s)

    def suggest(self, query, most=2):
        return self.ask("suggest", query=query, most=most, here="", mission="")

    @contextmanager
    def server(self, role="serve"):
        """A process that answers; its standard output tells what it embeds."""
        command = [sys.executable, "-m", "tests.worker.warm.fake", str(self.root), role]
        environment = os.environ | self.environment
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True, env=environment
        ) as process:
            try:
                assert process.stdout.readline() == "ready\n"
                yield process
            finally:
                process.kill()

    @contextmanager
    def real_server(self):
        """`ademem serve` with the models that are installed."""
        command = [sys.executable, "-c", SERVE, "serve", "--project", str(self.root)]
        with subprocess.Popen(
            command, cwd=ROOT, stderr=subprocess.PIPE, text=True, env=self.environment
        ) as process:
            try:
                assert "is loaded" in process.stderr.readline()
                yield
            finally:
                process.kill()

    def prompt(self, text):
        """What the hook, a process of its own, puts before the model."""
        self.prompts += 1
        payload = {
            "session_id": "s1",
            "prompt_id": f"p{self.prompts}",
            "cwd": str(self.root),
            "hook_event_name": "UserPromptSubmit",
            "prompt": text,
        }
        command = [sys.executable, "-I", str(ROOT / "hooks/user_prompt_submit.py")]
        given = json.dumps(payload).encode()
        ran = persons.type_prompt(command, given, self.environment, ROOT)
        assert ran.stderr == b""
        said = json.loads(ran.stdout) if ran.stdout else {"hookSpecificOutput": {}}
        return said["hookSpecificOutput"].get("additionalContext", "")

    def loaded_by_asking(self, question):
        """The modules of a fresh interpreter that asked, and what it was told."""
        command = [sys.executable, "-I", "-S", "-c", ASKING, ROOT, self.root, question]
        ran = subprocess.run(
            command, capture_output=True, text=True, env=self.environment, check=True
        )
        return json.loads(ran.stdout)

    def failures(self):
        log = self.root / ".ade/log/hooks.log"
        return log.read_text() if log.exists() else ""


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.setattr(warm_server, "REQUEST_S", ANSWER_S)
    operations.init(str(tmp_path))
    world = World(tmp_path)
    yield world
    world.memories.close()

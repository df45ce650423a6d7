"""A throw-away machine for one scenario: a git project, a home, a client and its scripted model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .script import Line, Person, Reply
from .scripted_model import ScriptedModel
from .session import Event, Session

ENDS_WITHIN_S = 180.0
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")


class Derailed(AssertionError):
    """The conversation did not go as it was written down."""


class World:
    def __init__(self, root: Path, claude: Path, model: ScriptedModel) -> None:
        self.claude = claude
        self.model = model
        self.root = root
        self.project = root / "project"
        self.home = root / "home"
        self.config = root / "config"
        self.bin = root / "bin"
        self.options: tuple[str, ...] = ()
        """Further arguments of the client."""
        self.variables = {"ADEMEM_JOBS_AUTO": "false"}
        """Further variables; without this one each session starts a worker."""
        self.sessions: list[Session] = []
        for folder in (self.project, self.home, self.config, self.bin, root / "tmp"):
            folder.mkdir(parents=True)
        self.write("README.md", "A project.\n")
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "start")

    @property
    def environment(self) -> dict[str, str]:
        """Of the caller's only PATH; what would leave the machine goes to the model's server."""
        author = {"NAME": "Somebody", "EMAIL": "somebody@example.invalid"}
        return {
            "PATH": os.pathsep.join(
                [str(self.bin), str(Path(sys.executable).parent), os.environ["PATH"]]
            ),
            "HOME": str(self.home),
            "TMPDIR": str(self.root / "tmp"),
            "LANG": "C.UTF-8",
            "CLAUDE_CONFIG_DIR": str(self.config),
            "ADEMEM_PREFIX": sys.prefix,
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "not-a-key",
            **dict.fromkeys(PROXIES, self.model.url),
            "NO_PROXY": "127.0.0.1,localhost",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_INSTALLATION_CHECKS": "1",
            "MCP_CONNECT_TIMEOUT_MS": "60000",  # a busy machine is slow to start a server
            "MCP_CONNECTION_NONBLOCKING": "0",
            **self.variables,
            "IS_SANDBOX": "1",  # root may only then skip permissions
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{k}": v for who in ("AUTHOR", "COMMITTER") for k, v in author.items()},
        }

    def configure(self, text: str) -> None:
        """Write the settings that the person has for all projects."""
        path = self.home / ".config/ademem/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def write(self, path: str, content: str) -> Path:
        """Put a file into the project, as a person would."""
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
        return file

    def program(self, name: str, body: str) -> None:
        """Put a shell script first on PATH."""
        script = self.bin / name
        script.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        script.chmod(0o755)

    def git(self, *arguments: str) -> str:
        return self.run("git", *arguments)

    def run(self, *command: str) -> str:
        """What a command prints that is run in the project; raises Derailed when it fails."""
        done = subprocess.run(
            command,
            cwd=self.project,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Derailed(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
        return done.stdout.strip()

    def chat(self, *lines: Line, resume: Session | None = None) -> Session:
        """Hold one conversation in a new process; raises Derailed when it was not as written."""
        self.model.learn(line for line in lines if isinstance(line, Reply))
        before = len(self.model.requests)
        command = [
            *(str(self.claude), "-p", "--verbose", "--include-hook-events"),
            *("--input-format", "stream-json", "--output-format", "stream-json"),
            *("--permission-mode", "bypassPermissions"),
            *self.options,
            *(("--resume", resume.id) if resume else ()),
        ]
        events = self._talk(command, [line.text for line in lines if isinstance(line, Person)])
        session = Session(events, self.model.requests[before:])
        self.sessions.append(session)
        if self.model.unspoken or self.model.unscripted:
            raise Derailed(
                f"never said: {self.model.unspoken}\n"
                f"nothing to say to: {[request.news for request in self.model.unscripted]}"
            )
        return session

    def _talk(self, command: list[str], prompts: list[str]) -> list[Event]:
        """Type each prompt when the answer to the one before is complete."""
        complaints = self.root / "stderr.txt"
        with (
            complaints.open("w") as stderr,
            subprocess.Popen(
                command,
                cwd=self.project,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                start_new_session=True,
            ) as client,
            _bounded(client, ENDS_WITHIN_S),
        ):
            events = self._follow(client, deque(prompts))
        if client.returncode:
            raise Derailed(f"the client ended with {client.returncode}\n{complaints.read_text()}")
        return events

    def _follow(self, client: subprocess.Popen[str], prompts: deque[str]) -> list[Event]:
        assert client.stdout
        events = []
        self._type(client, prompts)
        for line in client.stdout:
            event = Event(time.monotonic(), json.loads(line))
            events.append(event)
            if event.data["type"] == "result":
                self.model.main_thread_is_idle.set()
                self._type(client, prompts)
        return events

    def _type(self, client: subprocess.Popen[str], prompts: deque[str]) -> None:
        assert client.stdin
        if not prompts:
            client.stdin.close()
            return
        self.model.main_thread_is_idle.clear()
        said = {"role": "user", "content": prompts.popleft()}
        client.stdin.write(json.dumps({"type": "user", "message": said}) + "\n")
        client.stdin.flush()


@contextmanager
def opened(claude: Path, root: Path, model: ScriptedModel | None = None) -> Iterator[World]:
    """A world that nothing may leave."""
    with model or ScriptedModel() as model:
        yield World(root, claude, model)

    assert model.outside == []


@contextmanager
def _bounded(client: subprocess.Popen[str], seconds: float) -> Iterator[None]:
    """Wait for the client's end, and bring it about when it takes too long or the body fails."""
    timer = threading.Timer(seconds, os.killpg, (client.pid, signal.SIGKILL))
    timer.start()
    try:
        yield
        client.wait()
    finally:
        timer.cancel()
        if client.poll() is None:
            os.killpg(client.pid, signal.SIGKILL)

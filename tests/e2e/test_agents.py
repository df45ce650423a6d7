"""Codex, Gemini CLI and OpenCode with our hooks, driven by a scripted model; in full runs alone."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.command_line import ademem
from tests.examples import examples

from .other_model import OtherModel, other_model

pytestmark = pytest.mark.e2e
AGENTS = Path(os.environ.get("ADEMEM_AGENTS_DIR") or Path.home() / ".cache/ademem-ci/agents")
RULE = "Never run `make deploy` for the billing service; the release job does it"
LESSON = "The billing service caches rates for an hour, because the bank limits calls"
FACT = "Rates of the billing service are rounded half to even, as the auditors asked"
SAID = "The rates of the bank come with four decimals, as the contract asks for"
TO_ANSWER_S = 500
"""Seconds of a session on a machine that is busy."""
SESSIONS = examples(50, share=5)
"""Sessions of each client, one after another, that leave no process."""


def codex(home: Path, project: Path, url: str) -> tuple[list[str], dict[str, str]]:
    config = home / ".codex/config.toml"
    config.parent.mkdir()
    config.write_text(
        'model = "gpt-5"\nmodel_provider = "script"\napproval_policy = "never"\n'
        'sandbox_mode = "danger-full-access"\n[model_providers.script]\nname = "script"\n'
        f'base_url = "{url}/v1"\nenv_key = "SCRIPT_KEY"\nwire_api = "responses"\n'
    )
    # A person is asked at the next start whether to trust new hooks.
    words = ["codex", "exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check"]
    return words, {"SCRIPT_KEY": "none"}


def gemini(home: Path, project: Path, url: str) -> tuple[list[str], dict[str, str]]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "telemetry": {"enabled": False},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    file = home / ".gemini/settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps(settings))
    env = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url}
    words = ["gemini", "-m", "gemini-2.5-pro", "--yolo", "-p"]
    return words, env | {"GEMINI_CLI_TRUST_WORKSPACE": "true"}


def opencode(home: Path, project: Path, url: str) -> tuple[list[str], dict[str, str]]:
    model = {"name": "m", "tool_call": True, "limit": {"context": 200_000, "output": 8000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"m": model},
    }
    config = {
        "model": "script/m",
        "small_model": "script/m",
        "autoupdate": False,
        "permission": {"*": "allow"},
        "provider": {"script": provider},
    }
    (project / "opencode.json").write_text(json.dumps(config))
    no = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD")
    return ["opencode", "run"], {f"OPENCODE_DISABLE_{name}": "1" for name in no}


class Session:
    """A client in a project of its own."""

    def __init__(
        self,
        configure: Callable[[Path, Path, str], tuple[list[str], dict[str, str]]],
        folder: Path,
        model: OtherModel,
    ) -> None:
        self.name = configure.__name__
        self.home, self.project = folder / "home", folder / "project"
        self.model = model
        for made in (self.home, self.project):
            made.mkdir()
        path = os.pathsep.join(
            [str(self.home), str(Path(sys.executable).parent), os.environ["PATH"]]
        )
        self.environment = {"HOME": str(self.home), "PATH": path, "LANG": "C.UTF-8"}
        self.environment["ADEMEM_JOBS_AUTO"] = "false"
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        url = f"http://127.0.0.1:{model.server_address[1]}"
        words, more = configure(self.home, self.project, url)
        self.client = [str(AGENTS / "node_modules/.bin" / words[0]), *words[1:]]
        self.environment |= more

    def ademem(self, *words: str) -> str:
        return ademem(*words, environment=self.environment, folder=self.project)

    def ask(self, prompt: str, *steps: str | dict[str, str]) -> list[str]:
        """Run the client once; return what the model read in each request."""
        self.model.steps, self.model.requests = list(steps), []
        done = subprocess.run(
            [*self.client, prompt],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TO_ANSWER_S,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return self.model.requests

    def files(self) -> dict[str, bytes]:
        """The person's settings."""
        named = (".codex/hooks.json", ".gemini/settings.json", ".config/opencode/plugins/ademem.js")
        paths = [self.home / name for name in named]
        return {str(path): path.read_bytes() for path in paths if path.exists()}


@pytest.fixture(params=[codex, gemini, opencode], ids=lambda each: each.__name__)
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Session]:
    with other_model() as model:
        yield Session(request.param, tmp_path, model)


def test_a_session_is_briefed_recalls_is_denied_and_captures(session: Session) -> None:
    session.ademem("init")
    session.ademem("add", RULE, "--category", "convention")
    session.environment["CLAUDECODE"] = "1"
    session.ademem("add", FACT)  # a candidate, which no briefing shows
    del session.environment["CLAUDECODE"]
    before = session.files()
    session.ademem("install", "--agent", session.name)
    tracker = session.home / "bd"
    tracker.write_text("#!/bin/sh\n")
    tracker.chmod(0o755)
    (session.project / "Makefile").write_text("deploy:\n\ttouch deployed\n")

    first, denied, captured = session.ask(
        "Deploy the billing service, then look at its rates",
        {"command": "make deploy", "description": "deploy"},
        {"command": f'bd comment B-1 "LEARNED: {LESSON}"', "description": "note"},
        f"Done.\n\n## Key learnings\n\n- {SAID}\n",
    )

    assert "Project memory" in first
    assert [first.count(text) for text in (RULE, FACT)] == [1, 1], "by briefing and prompt"
    assert denied.count(RULE) == 2, "the denial of the call carries it"
    assert not (session.project / "deployed").exists()
    assert "bd comment" in captured
    with closing(sqlite3.connect(session.project / ".ade/ade.db")) as db:
        rows = db.execute("select content, source_session_id from unified_memories").fetchall()
        sessions = dict(db.execute("select id, ended_at from sessions").fetchall())
    found = dict(rows)
    assert {LESSON, SAID} <= found.keys()
    assert found[LESSON] in sessions
    assert sessions[found[LESSON]], "the session is closed"

    session.ademem("uninstall", "--agent", session.name)
    assert session.files() == before


def test_a_client_searches_reads_and_saves_by_mcp_and_leaves_no_process(session: Session) -> None:
    session.ademem("init")
    session.ademem("add", RULE, "--category", "convention")
    session.ademem("install", "--mcp", session.name)
    use_by_mcp(session, SESSIONS)


@pytest.mark.parametrize("session", [gemini, opencode], indirect=True, ids=["gemini", "opencode"])
def test_a_client_starts_the_server_that_the_project_names(session: Session) -> None:
    session.ademem("init")
    session.ademem("add", RULE, "--category", "convention")
    session.ademem("install", "--mcp", session.name, "--shared")
    use_by_mcp(session, 1)


def use_by_mcp(session: Session, sessions: int) -> None:
    """Search, read and save in each session; no process may be left behind."""
    for number in range(sessions):
        _, found, read, saved = session.ask(
            "What do we know of the billing service?",
            ("memory_search", {"query": "billing service deploy"}),
            ("memory_get", {"id": "ID"}),
            ("memory_add", {"content": f"{LESSON}, {number} of them"}),
            "Done.",
        )
        assert RULE in found, number
        assert read.count(RULE) > found.count(RULE)
        assert "accepted" in saved
    left = [
        pid
        for pid in filter(str.isdecimal, os.listdir("/proc"))
        if os.fsencode(session.home) in read_environment(pid)
    ]

    assert left == []
    with closing(sqlite3.connect(session.project / ".ade/ade.db")) as db:
        rows = db.execute("select source_type, content from unified_memories").fetchall()
    lessons = {f"{LESSON}, {number} of them" for number in range(sessions)}
    assert {content for kind, content in rows if kind == "mcp"} == lessons


def read_environment(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # it has ended, or is another user's
        return b""

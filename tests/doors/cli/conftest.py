"""The command line in this process, in a project of its own."""

import json
import os
import sys
from pathlib import Path

import pytest

from ademem.core import who
from ademem.doors import cli
from tests.enrolled import enrol


class Shell:
    """A terminal of the person's; `inside` makes it one of the client's."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture):
        self.root, self.monkeypatch, self.capsys = root, monkeypatch, capsys
        self.exit_code: object = None
        self.printed = ""
        """What the last command wrote to standard output."""

    def inside(self, session: str = "s1") -> None:
        self.monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", session)

    def outside(self) -> None:
        self.monkeypatch.delenv("CLAUDE_CODE_SESSION_ID", raising=False)

    def __call__(self, *arguments: str) -> str:
        """What `ademem` prints."""
        self.monkeypatch.setattr(sys, "argv", ["ademem", *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        self.exit_code = stopped.value.code
        said = self.capsys.readouterr()
        self.printed = said.out
        return said.out + said.err

    def json(self, *arguments: str):
        self(*arguments, "--json")
        return json.loads(self.printed)


@pytest.fixture
def ademem(tmp_path, monkeypatch, capsys):
    for name in [name for name in os.environ if name.startswith(("ADEMEM_", "CLAUDE"))]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("CI", raising=False)  # where nobody sits before a session
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("ADEMEM_JOBS_AUTO", "false")
    monkeypatch.setattr(who, "has_terminal", lambda: True)
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    shell = Shell(root, monkeypatch, capsys)
    enrol(root, os.environ)
    return shell

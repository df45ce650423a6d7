"""The memory of this project itself: `.ade/` is sound, and what it names exists."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ademem.doors import cli

ROOT = Path(__file__).parents[1]
LINES = [
    json.loads(line)
    for line in (ROOT / ".ade/memory/knowledge.jsonl").read_text("utf-8").splitlines()
]
LEFT_OUT = shutil.ignore_patterns(".*cache*", ".git", ".venv", "ade.db*", "run", "log", "e2e")


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A copy of this checkout, and a home without memories."""
    root = tmp_path / "checkout"
    root.mkdir()
    for name in (".ade", "ademem", "bench", "docs", "hooks"):
        shutil.copytree(ROOT / name, root / name, ignore=LEFT_OUT)
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ADEMEM_JOBS_AUTO", "false")
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize("command", ["files check"])
def test_the_memory_of_this_project_is_sound(checkout, command, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["ademem", *command.split()])
    with pytest.raises(SystemExit) as stopped:
        cli.main()

    assert stopped.value.code == 0, capsys.readouterr().out


def test_every_file_pattern_matches_a_file():
    lost = {
        line["id"]: line["path"]
        for line in LINES
        if line.get("path") and not any(ROOT.glob(line["path"]))
    }

    assert lost == {}

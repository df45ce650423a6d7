"""Real git repositories whose clock is ours, and whose people have names."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

EPOCH = 1_700_000_000
"""Seconds since 1970 at which a repository's first minute begins."""


class Repository:
    """A work tree; the clock moves a minute for each command."""

    def __init__(self, root: Path, *options: str) -> None:
        self.root = root
        self.epoch = EPOCH
        self.minutes = 0
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main", *options)

    def git(self, *arguments: str, author: str = "Ada") -> str:
        """What git prints, without its last line break."""
        self.minutes += 1
        moment = f"{self.epoch + 60 * self.minutes} +0000"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root.parent),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": author,
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": author,
            "GIT_COMMITTER_EMAIL": "ada@example.org",
            "GIT_AUTHOR_DATE": moment,
            "GIT_COMMITTER_DATE": moment,
            "GIT_EDITOR": "true",
        }
        options = ("-c", "commit.gpgsign=false", "-c", "maintenance.auto=false")
        command = ["git", "-C", str(self.root), *options, *arguments]
        ran = subprocess.run(command, capture_output=True, env=environment, timeout=60, check=False)
        assert ran.returncode == 0, ran.stderr.decode()
        return ran.stdout.decode().rstrip("\n")

    def commit(self, subject: str, *paths: str, author: str = "Ada") -> str:
        """Write these files (default: one named for the subject) and commit; the commit's id."""
        for path in paths or (f"{subject.split()[0]}.txt",):
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{subject} {self.minutes}\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject, author=author)
        return self.head

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

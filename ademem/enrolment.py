"""What a folder needs to be a project of ademem: files of its own, and git that can merge them."""

from __future__ import annotations

import os
import subprocess
from shlex import quote

from ademem import confined
from ademem.repository import git_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.project import Project

IGNORED = "ade.db*\nrun/\nlog/\ncto/CURRENT.md\ncto/daily/\nagents/\nconfig.local.toml\n"
"""What of `.ade/` stays on its machine."""

MERGED = "memory/*.md merge=ademem\nmemory/*.jsonl merge=ademem\ncto/MEMORY.md merge=ademem\n"
"""What of it git merges with our driver; without the driver it merges them as text."""

DRIVER = "merge.ademem.driver"


def enrol(project: Project, program: str) -> list[str]:
    """Make what is missing, and tell what was made."""
    done = []
    for name, text in ((".gitignore", IGNORED), (".gitattributes", MERGED)):
        path = os.path.join(project.ade, name)
        try:
            if not confined.exists(project.root, path):
                confined.write_text(project.root, path, text)
                done.append(f"wrote {path}")
        except confined.Refused as refused:
            done.append(str(refused))
    driver = f"{quote(program)} merge-file %O %A %B %P"
    if git_root(project.root) and _git(project, "--get", DRIVER) != driver:
        _git(project, "merge.ademem.name", "memory of a project, merged by entry and field")
        _git(project, DRIVER, driver)
        done.append("git merges the files of memory with `ademem merge-file`")
    return done


def ignore(project: Project) -> None:
    """Add to `.ade/.gitignore` the lines that it lacks, for a file that git must not track."""
    path = os.path.join(project.home, ".gitignore")
    there = confined.read_text(project.home_root, path) or ""
    missing = [line for line in IGNORED.splitlines() if line not in there.splitlines()]
    if missing:
        end = "\n" if there and not there.endswith("\n") else ""
        text = there + end + "".join(f"{line}\n" for line in missing)
        confined.write_text(project.home_root, path, text)


def leave(project: Project) -> None:
    """Take the merge driver out of git's settings; the files stay."""
    if git_root(project.root):
        _git(project, "--remove-section", "merge.ademem")


def _git(project: Project, *arguments: str) -> str:
    asked = ["git", "-C", project.root, "config", "--local", *arguments]
    try:
        ran = subprocess.run(asked, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ran.stdout.strip()

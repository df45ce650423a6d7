"""Commit the sheet of candidates to a separate branch for review."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from itertools import islice

from ademem.core import git
from ademem.core.errors import AdememError
from ademem.core.repository import commit, git_root
from ademem.core.text import counted
from ademem.core.value import Value, replace
from ademem.files import SHEET
from ademem.files.review_sheet import make_sheet, render_sheet
from ademem.store.runtime import Runtime
from ademem.sync import rendering
from ademem.sync.branches import Place

BRANCH = "ademem/candidates"
NO_COMMIT = "0" * 40
BODY = (
    "Tick what is right, correct what is nearly right, delete what is wrong. After the merge the\n"
    "next session, or `ademem files import`, takes the decisions over."
)


class CannotPropose(AdememError):
    """No proposal was made; nothing was written."""


class Proposal(Value):
    branch: str
    commit: str | None
    """None for a dry run."""
    count: int
    text: str


def propose(runtime: Runtime, branch: str = "", *, dry_run: bool = False) -> Proposal:
    """Commit the sheet upon HEAD to a new branch; index, work tree and HEAD stay as they are."""
    branch, settings = branch or BRANCH, runtime.settings.mirror
    offered = rendering.each_offered(runtime.store, Place(runtime.project, settings))
    if not (waiting := list(islice(offered, settings.topic_entries))):
        raise CannotPropose(
            "no candidate waits for a decision", "`ademem list --status candidate` lists them"
        )
    text, root = render_sheet(make_sheet(waiting)), runtime.project.root
    if not git_root(root):
        raise CannotPropose(f"{root} is in no git repository", "`git init` makes one")
    if not (parent := commit(root)):
        raise CannotPropose("the repository has no commit to build upon", "commit something first")
    path = _run_git(root, "rev-parse", "--show-prefix") + SHEET
    ref = f"refs/heads/{branch}"
    if git.output(root, "check-ref-format", ref) is None:
        raise CannotPropose(f"git allows no branch named {branch!r}", "pass another --branch")
    if git.output(root, "rev-parse", "--verify", "--quiet", ref) is not None:
        raise CannotPropose(
            f"the branch {branch} exists",
            f"pass another --branch, or `git branch -D {branch}` if it was merged",
        )
    if git.text(root, "cat-file", "blob", f"{parent}:{path}") == text:
        raise CannotPropose(
            f"HEAD has this sheet already, at {SHEET}", "review it there, or capture more first"
        )
    proposal = Proposal(branch=branch, commit=None, count=len(waiting), text=text)
    if dry_run:
        return proposal
    with tempfile.TemporaryDirectory(prefix="ademem-") as folder:
        index = {"GIT_INDEX_FILE": os.path.join(folder, "index")}
        blob = _run_git(root, "hash-object", "-w", "--stdin", stdin=text)
        _run_git(root, "read-tree", parent, environment=index)
        entry = f"100644,{blob},{path}"
        _run_git(root, "update-index", "--add", "--cacheinfo", entry, environment=index)
        tree = _run_git(root, "write-tree", environment=index)
    message = f"Propose {counted(len(waiting), 'candidate')} of project memory\n\n{BODY}\n"
    made = _run_git(root, "commit-tree", tree, "-p", parent, stdin=message)
    _run_git(root, "update-ref", ref, made, NO_COMMIT)
    return replace(proposal, commit=made)


def _run_git(
    root: str, command: str, *arguments: str, stdin: str = "", environment: Mapping[str, str] = {}
) -> str:
    try:
        ran = git.run(
            root,
            command,
            *arguments,
            stdin=stdin.encode(),
            environment=environment,
            timeout_s=git.LONG_S,
        )
    except FileNotFoundError as error:
        raise CannotPropose("git is not installed", "a proposal is a commit of git") from error
    except TimeoutError as error:
        raise CannotPropose(f"git {command} did not end", "look what keeps it") from error
    if ran.code:
        raise CannotPropose(
            f"git {command}: {ran.last_error or 'failed'}",
            "mend that, then propose again; nothing changed",
        )
    return ran.text.rstrip("\n")

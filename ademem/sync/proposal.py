"""The sheet of candidates as a commit of its own, for others to review."""

from __future__ import annotations

import os
import subprocess
import tempfile

from ademem.core.errors import AdememError
from ademem.core.text import counted
from ademem.core.value import Value
from ademem.files import selection, sheet
from ademem.files.pages import SHEET
from ademem.files.staging import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.project import Project
    from ademem.core.settings import MirrorSettings
    from ademem.store import Store

BRANCH = "ademem/candidates"
NO_BRANCH_YET = "0" * 40
TIMEOUT_S = 60

BODY = (
    "Tick what is right, correct what is nearly right, delete what is wrong. After the merge the\n"
    "next session, or `ademem files import`, takes the decisions over."
)


class CannotPropose(AdememError):
    """Nothing was written."""


class Proposal(Value):
    branch: str
    commit: str | None
    """None: it was only tried."""
    count: int
    text: str
    """The sheet."""


def propose(
    project: Project,
    store: Store,
    settings: MirrorSettings,
    branch: str = BRANCH,
    *,
    dry_run: bool = False,
) -> Proposal:
    """Commit the sheet upon HEAD to a new branch; index, work tree and HEAD stay as they are.

    Raises CannotPropose when nothing waits, or git has no place for it.
    """
    waiting = selection.offered(store, Place(project, settings))[: settings.topic_entries]
    if not waiting:
        raise CannotPropose("no candidate waits for a word", "`ademem candidates` lists them")
    text, git = sheet.written(sheet.of(waiting)), _Git(project.root)
    parent = git.head()
    git.check_free(branch)
    path = git.said("rev-parse", "--show-prefix") + SHEET
    if git.tries("cat-file", "blob", f"{parent}:{path}") == text:
        raise CannotPropose(
            f"HEAD has this sheet already, at {SHEET}", "review it there, or capture more first"
        )
    proposal = Proposal(branch=branch, commit=None, count=len(waiting), text=text)
    if dry_run:
        return proposal
    message = f"Propose {counted(len(waiting), 'candidate')} of project memory\n\n{BODY}\n"
    commit = git.committed(parent, path, text, message)
    git.said("update-ref", f"refs/heads/{branch}", commit, NO_BRANCH_YET)
    return Proposal(branch=branch, commit=commit, count=len(waiting), text=text)


class _Git:
    """Plumbing alone: none of it looks at the person's index or files."""

    def __init__(self, root: str) -> None:
        self.root = root

    def head(self) -> str:
        """Raises CannotPropose without git, a repository or a commit."""
        if self.tries("rev-parse", "--git-dir") is None:
            raise CannotPropose(f"{self.root} is in no git repository", "`git init` makes one")
        commit = self.tries("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if not commit:
            raise CannotPropose(
                "the repository has no commit to build upon", "commit something first"
            )
        return commit.strip()

    def check_free(self, branch: str) -> None:
        if self.tries("check-ref-format", f"refs/heads/{branch}") is None:
            raise CannotPropose(f"git allows no branch named {branch!r}", "pass another --branch")
        if self.tries("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}") is not None:
            raise CannotPropose(
                f"the branch {branch} exists",
                f"pass another --branch, or `git branch -D {branch}` if it was merged",
            )

    def committed(self, parent: str, path: str, text: str, message: str) -> str:
        """The commit that has the file and is on no branch yet."""
        with tempfile.TemporaryDirectory(prefix="ademem-") as folder:
            index = {"GIT_INDEX_FILE": os.path.join(folder, "index")}
            blob = self.said("hash-object", "-w", "--stdin", stdin=text)
            self.said("read-tree", parent, **index)
            entry = f"100644,{blob},{path}"
            self.said("update-index", "--add", "--cacheinfo", entry, **index)
            tree = self.said("write-tree", **index)
        return self.said("commit-tree", tree, "-p", parent, stdin=message)

    def said(self, *arguments: str, stdin: str = "", **environment: str) -> str:
        """What git prints, without the last line break; raises CannotPropose with git's reason."""
        ran = self._run(arguments, stdin, environment)
        if ran.returncode:
            lines = ran.stderr.strip().splitlines() or [f"git {arguments[0]} failed"]
            raise CannotPropose(
                f"git {arguments[0]}: {lines[-1]}", "mend that, then propose again; nothing changed"
            )
        return ran.stdout.rstrip("\n")

    def tries(self, *arguments: str) -> str | None:
        """What git prints; None when it refuses."""
        ran = self._run(arguments, "", {})
        return None if ran.returncode else ran.stdout

    def _run(
        self, arguments: tuple[str, ...], stdin: str, environment: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                ["git", "-C", self.root, *arguments],
                input=stdin,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                env=os.environ | environment,
                timeout=TIMEOUT_S,
                check=False,
            )
        except FileNotFoundError as error:
            raise CannotPropose("git is not installed", "a proposal is a commit of git") from error
        except subprocess.TimeoutExpired as error:
            raise CannotPropose(f"git {arguments[0]} did not end", "look what keeps it") from error

"""The commits that a person trusts: those of some authors that a remote's default branch has.

Records are trusted by the last commit that changed their lines, which git tells for each line of
HEAD. So a branch under review stays untrusted, as does what was pulled from a fork.
"""

from __future__ import annotations

from ademem.core import git, regex
from ademem.core.caching import cached_property
from ademem.core.value import Value
from ademem.files.snapshot import find_state_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

_FALLBACKS = ("main", "master")
_BLAMED = regex.compile(r"([0-9a-f]{40,64}) \d+ \d+")
_PROTOCOL = regex.compile(r"^[a-z][a-z0-9+.-]*://", regex.IGNORECASE)


class Remote(Value):
    """The remote of a repository, and its default branch as last fetched; empty without one."""

    address: str = ""
    """Without protocol, user and `.git`, so that ssh and https name the same repository."""
    default: str = ""
    """Ref of the default branch."""

    @property
    def branch(self) -> str:
        return self.default.split("/", 3)[-1]


def find_remote(root: str) -> Remote:
    """Return `origin`, else the first remote."""
    names = git.text(root, "remote").split()
    if not names:
        return Remote()
    name = "origin" if "origin" in names else names[0]
    address = git.text(root, "remote", "get-url", name)
    head = git.text(root, "symbolic-ref", "--quiet", f"refs/remotes/{name}/HEAD").strip()
    refs = (head, *(f"refs/remotes/{name}/{branch}" for branch in _FALLBACKS))
    return Remote(
        address=plain_address(address),
        default=next((ref for ref in refs if ref and _commit_of(root, ref)), ""),
    )


def plain_address(address: str) -> str:
    address = address.strip()
    without = _PROTOCOL.sub("", address)
    place, slash, path = without.partition("/")
    place = place.rpartition("@")[2]
    if without == address and ":" in place:  # host:path, as ssh has it
        place, _, first = place.partition(":")
        slash, path = "/", f"{first}{slash}{path}".lstrip("/")
    return f"{place.lower()}{slash}{path}".rstrip("/").removesuffix(".git")


class TrustedCommits:
    """Commits of HEAD; those without a *remote* are all in its default branch."""

    def __init__(
        self,
        root: str,
        remote: Remote,
        authors: Collection[str],
        are_made_here: Callable[[Collection[str]], bool],
    ) -> None:
        self._root, self._remote, self._authors = root, remote, frozenset(authors)
        self._are_made_here = are_made_here
        self._lines: dict[str, list[tuple[str, str]]] = {}
        self._mails: dict[str, str] = {}

    @property
    def key(self) -> str:
        """A text that is another one once other commits may be trusted."""
        ref = self._remote.default
        tips = (_commit_of(self._root, each) if each else "" for each in ("HEAD", ref))
        return " ".join((self._remote.address, *tips, *sorted(self._authors)))

    def include(self, commits: Collection[str], *, made_here: bool = True) -> bool:
        """Return False also where git does not tell, and for no commits."""
        outside = self._outside
        if outside is None or not commits:
            return False
        others = outside.intersection(commits)
        if others and not (made_here and self._are_made_here(others)):
            return False
        return not self._authors or all(self._mail_of(sha) in self._authors for sha in commits)

    def find_changing(self, path: str, states: Collection[object]) -> frozenset[str]:
        """Return the commits that changed the lines of items last; none if HEAD lacks an item."""
        lines = self.blame(path)
        places = find_state_lines(path, "\n".join(text for _, text in lines), states)
        return frozenset(lines[at][0] for at in places if at < len(lines))

    def blame(self, path: str) -> list[tuple[str, str]]:
        """Return the commit and text of each line that the file has in HEAD."""
        if path not in self._lines:
            is_plain = not self._outside and not self._authors
            self._lines[path] = self._show(path) if is_plain else self._blame(path)
        return self._lines[path]

    def _show(self, path: str) -> list[tuple[str, str]]:
        text = git.text(self._root, "show", f"HEAD:./{path}")
        return [("HEAD", line) for line in text.split("\n")] if text else []

    def _blame(self, path: str) -> list[tuple[str, str]]:
        ref = self._remote.default
        limit = (f"^{ref}",) if ref and not self._authors else ()
        # A clone's list of commits to ignore would attribute lines to earlier ones.
        asked = ("--porcelain", "--no-textconv", "--ignore-revs-file=", "HEAD", *limit, "--", path)
        found, sha = [], ""
        for line in git.text(self._root, "blame", *asked, timeout_s=git.LONG_S).split("\n"):
            if line[:1] == "\t":
                found.append((sha, line[1:]))
            elif head := _BLAMED.match(line):
                sha = head[1]
        return found

    @cached_property
    def _outside(self) -> frozenset[str] | None:
        """The commits of HEAD that are not in the default branch; None if that is unknown."""
        if not self._remote.address:
            return frozenset()
        ref = self._remote.default
        asked = ("rev-list", "HEAD", f"^{ref}")
        found = git.output(self._root, *asked, timeout_s=git.LONG_S) if ref else None
        return None if found is None else frozenset(found.decode().split())

    def _mail_of(self, sha: str) -> str:
        """Return an empty text for the commit that a shallow clone ends with, and blames."""
        if sha not in self._mails:
            shown = git.text(self._root, "log", "--no-walk", "--format=%ae%x00%P", sha)
            mail, _, parents = shown.partition("\0")
            self._mails[sha] = mail.lower() if parents.strip() or not self._is_shallow else ""
        return self._mails[sha]

    @cached_property
    def _is_shallow(self) -> bool:
        asked = ("rev-parse", "--is-shallow-repository")
        return git.text(self._root, *asked).strip() == "true"


def _commit_of(root: str, ref: str) -> str:
    asked = ("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    return git.text(root, *asked).strip()

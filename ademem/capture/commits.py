"""Commits that people and sessions made, and the last commits of a worktree."""

from __future__ import annotations

from ademem.core.clock import UTC, Deadline, TooLate, datetime, parse, stamp, timedelta
from ademem.core.errors import suppress
from ademem.core.repository import branch, commit, list_moves
from ademem.core.text import unique
from ademem.core.value import Value
from ademem.store import Store
from ademem.store import commits as table
from ademem.store.commits import Cursor, LatestCommits, PeopleCommit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ademem.core.client import Payload
    from ademem.core.project import Project
    from ademem.store.runtime import Runtime

MOST = 1000
"""Commits of one history that git lists; older ones count as seen."""
KEPT = 200
"""New commits that are stored, the newest; the others are in git alone."""
LATEST = 10
FILES = 100
SUMMARIES = 20
TOP = "."

_FORMAT = "%x00%m%H%x1f%at%x1f%ct%x1f%an%x1f%s"
_BOUNDARY = "-"
"""Mark of a commit that is not listed, and is the parent of one that is."""

MAKING = frozenset("commit merge rebase cherry-pick revert am pull".split())
UNKNOWN_S = 10.0
"""Assumed duration of a command when the client reports none."""
SLACK_S = 2.0
"""Git notes whole seconds, and our clock is read after the command."""
TAIL_BYTES = 64_000
_MADE_BY = ("commit", "cherry-pick", "revert", "am")
_REMADE_BY = ("(pick)", "(reword)", "(edit)", "(squash)", "(fixup)", "(continue)")


class GitFailed(Exception):
    pass


class Commit(Value):
    sha: str
    authored: int
    """Seconds since 1970, as is *committed*."""
    committed: int
    author: str
    subject: str
    files: tuple[str, ...] = ()
    """None for a merge, whose files other commits changed."""

    @property
    def identity(self) -> tuple[str, int, str]:
        """Return what a commit keeps when it is rebased or picked elsewhere."""
        return self.author, self.authored, self.subject


class News(Value):
    """The difference between a history that was seen and the one that is checked out."""

    commits: tuple[Commit, ...] = ()
    """The new ones, the newest first."""
    rewritten: bool = False
    """The commit that was seen last is no longer part of the history."""
    dropped: tuple[tuple[str, str], ...] = ()
    """Commits that were seen and are no longer part of it, each with the one that replaces it."""


def look(project: Project, store: Store, now: datetime, deadline: Deadline | None = None) -> bool:
    """Store the commits that people made here since the last look; False where git cannot tell.

    The first look takes all commits as seen. No process is started unless HEAD moved.
    """
    head = commit(project.root)
    if head is None:
        return True
    here = branch(project.root) or ""
    cursor = table.get_cursor(store, project.root, here)
    if cursor and cursor.sha == head:
        return True
    known = table.list_seen(store, project.root)
    if not known:
        table.move_cursor(store, project.root, here, head, now)
        return True
    last, since = _last_look(cursor, here)
    seen = unique(filter(None, (last, *known)))
    from ademem.core import git  # most sessions start where HEAD did not move

    try:
        with git.limited(deadline) if deadline else suppress():
            found = news(project.root, head, seen, last=last, since=since)
    except (GitFailed, TooLate):
        return False
    made = _made_by_people(found.commits[:KEPT], store)
    with store.transaction():
        if table.get_cursor(store, project.root, here) == cursor:  # no other process was faster
            if found.rewritten:
                table.replace_rewritten(store, project.root, here, found.dropped)
            table.add_people_commits(store, project.root, here, made, now)
            table.move_cursor(
                store, project.root, here, head, now, last if found.rewritten else None
            )
    return True


def _last_look(cursor: Cursor | None, here: str) -> tuple[str, int]:
    """Return the commit that HEAD should descend from, empty for none, and when it was seen."""
    if cursor is None:
        return "", 0
    last = cursor.sha if here else ""  # a detached HEAD may go anywhere
    return last, int(parse(cursor.seen_at).timestamp())


def _made_by_people(newest: Sequence[Commit], store: Store) -> list[PeopleCommit]:
    """Return those of no session, the oldest first."""
    ours = table.find_session_commits(store, [each.sha for each in newest])
    return [
        PeopleCommit(
            sha=each.sha,
            author=_safe(each.author),
            subject=_safe(each.subject),
            committed_at=_moment(each.committed),
            files=tuple(map(_safe, each.files[:FILES])),
        )
        for each in reversed(newest)
        if each.sha not in ours
    ]


def catch_up(project: Project, store: Store, now: datetime) -> None:
    """Look in the worker, which may take longer than a hook, and store the last commits."""
    looked = look(project, store, now)
    head = commit(project.root)
    if head:
        here = branch(project.root) or ""
        if not looked:
            table.move_cursor(store, project.root, here, head, now)
        found: list[Commit] = []
        with suppress(GitFailed):
            found = recent(project.root, head, LATEST)
        paths = sorted({path for each in found for path in each.files})[:FILES]
        latest = LatestCommits(
            sha=head,
            commits=tuple(
                (each.sha, _moment(each.committed)[:10], _safe(each.subject)) for each in found
            ),
            files=tuple(map(_safe, paths)),
        )
        table.put_latest(store, project.root, here, latest)
    table.prune(store, now)


def is_behind(project: Project, store: Store) -> bool:
    head = commit(project.root)
    if head is None:
        return False
    cursor = table.get_cursor(store, project.root, branch(project.root) or "")
    latest = table.latest(store, project.root)
    return not (cursor and latest and cursor.sha == latest.sha == head)


def report(project: Project, store: Store, now: datetime) -> dict[str, Any]:
    catch_up(project, store, now)
    cursor = table.get_cursor(store, project.root, branch(project.root) or "")
    made = table.list_unshown(store, project.root)
    return {
        "head": cursor.sha if cursor else None,
        "branch": branch(project.root),
        "looked_at": cursor.seen_at if cursor else None,
        "rewritten_from": cursor.lost_sha if cursor else None,
        "count": len(made),
        "commits": [
            {
                "sha": each.sha,
                "at": each.committed_at,
                "author": each.author,
                "subject": each.subject,
                "files": list(each.files),
            }
            for each in made
        ],
        "folders": dict(count_top_folders(path for each in made for path in each.files)),
    }


def sync(project: Project, store: Store, now: datetime) -> dict[str, Any] | None:
    """Read new commits; None where HEAD did not move."""
    here = branch(project.root) or ""
    before = table.get_cursor(store, project.root, here)
    catch_up(project, store, now)
    after = table.get_cursor(store, project.root, here)
    if before is None or after is None or before.sha == after.sha:
        return None
    from ademem.core import git

    made = _log(project.root, after.sha, "--not", before.sha, files=True)[0]
    files = sorted({path for each in made for path in each.files})
    return {
        "from_sha": before.sha,
        "to_sha": after.sha,
        "commit_count": len(made),
        "commit_summaries": [f"{each.sha[:7]} {_safe(each.subject)}" for each in made[:SUMMARIES]],
        "diffstat": git.text(project.root, "diff", "--shortstat", before.sha, after.sha).strip(),
        "changed_files": list(map(_safe, files[:FILES])),
        "file_clusters": [
            {"folder": _safe(folder), "files": count} for folder, count in count_top_folders(files)
        ],
    }


def count_top_folders(files: Iterable[str]) -> list[tuple[str, int]]:
    tops = [path.partition("/")[0] if "/" in path else TOP for path in set(files)]
    counts = {top: tops.count(top) for top in set(tops) - {".ade"}}
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def news(root: str, head: str, seen: Sequence[str], *, last: str = "", since: int = 0) -> News:
    """Compare the history of *head* with the commits *seen*; raises GitFailed.

    A commit is not new if one that was dropped has its identity. *last* is the one of *seen* that
    *head* should descend from. Where it is gone from the repository, commits from before *since*
    count as seen.
    """
    fresh, edge = _log(root, "--boundary", head, "--not", *seen, files=True)
    rewritten = False
    if last and last not in edge:
        is_part = _is_ancestor(root, last, head)
        rewritten = not is_part
        if is_part is None:
            fresh, _ = _log(root, f"--max-age={since}", head, "--not", *seen, files=True)
    others = [sha for sha in seen if rewritten or sha != last]
    dropped = _log(root, *others, "--not", head)[0] if others else []
    return _pair_commits(fresh, dropped, rewritten=rewritten)


def _is_ancestor(root: str, sha: str, head: str) -> bool | None:
    """Tell whether *head* descends from a commit; None where git has it no more."""
    from ademem.core import git

    try:
        ancestry = ("--is-ancestor", sha, head)
        code = git.run(root, "merge-base", *ancestry, environment=git.OFFLINE).code
    except OSError as error:
        raise GitFailed from error
    return None if code > 1 else code == 0


def _pair_commits(fresh: Iterable[Commit], dropped: Sequence[Commit], *, rewritten: bool) -> News:
    """Pair each dropped commit with the fresh one of its identity, which is not new."""
    identities = {each.identity for each in dropped}
    successors = {each.identity: each.sha for each in fresh}
    return News(
        commits=tuple(each for each in fresh if each.identity not in identities),
        rewritten=rewritten,
        dropped=tuple((each.sha, successors.get(each.identity, "")) for each in dropped),
    )


def recent(root: str, head: str, most: int) -> list[Commit]:
    return _log(root, f"--max-count={most}", head, files=True)[0]


def _log(root: str, *revisions: str, files: bool = False) -> tuple[list[Commit], set[str]]:
    """List commits, the newest first, and ids on the boundary; missing revisions do not count."""
    from ademem.core import git

    options = (f"--max-count={MOST}", "--ignore-missing", "--encoding=UTF-8", f"--format={_FORMAT}")
    # a partial clone may lack the trees, from which the names of files come
    for names in (("--name-only", "--no-renames"), ()) if files else ((),):
        listed = git.output(
            root,
            *("log", *options, *names, *revisions, "--"),
            environment=git.OFFLINE,
            timeout_s=git.LONG_S,
        )
        if listed is not None:
            entries = listed.decode("utf-8", "replace").split("\0")[1:]
            shown = [_commit(each[1:]) for each in entries if each[0] != _BOUNDARY]
            edge = {each[1:].partition("\x1f")[0] for each in entries if each[0] == _BOUNDARY}
            return shown, edge
    raise GitFailed


def _commit(listed: str) -> Commit:
    line, _, names = listed.partition("\n")
    sha, authored, committed, author, subject = line.split("\x1f", 4)
    return Commit(
        sha=sha,
        authored=int(authored or 0),
        committed=int(committed or 0),
        author=author,
        subject=subject,
        files=tuple(filter(None, names.split("\n"))),
    )


def _safe(text: str) -> str:
    """Redact a text, and withhold one that reads as an instruction to a model."""
    from ademem.core.redaction import redact
    from ademem.core.text import clean, preview
    from ademem.guard.injection import instruction_in

    shown = preview(clean(redact(text).text), 200)
    return f"(withheld: it {shape})" if (shape := instruction_in(shown)) else shown


def _moment(seconds: int) -> str:
    return stamp(datetime.fromtimestamp(max(0, min(seconds, 2**38)), UTC))


def note_session_commits(payload: Payload, runtime: Runtime) -> None:
    """Store the commits that a command made, so that no briefing lists them as news."""
    if not makes_commits(payload.command):
        return
    took = payload.duration_ms / 1000 if payload.duration_ms else UNKNOWN_S
    since = runtime.now - timedelta(seconds=took + SLACK_S)
    made = _commits_since(runtime.project.root, int(since.timestamp()))
    if made:
        table.add_session_commits(runtime.store, made, payload.session_id, runtime.now)


def makes_commits(command: str) -> bool:
    """Return True for a command that runs git to make commits, or may where it cannot be parsed."""
    from ademem.guard import shell

    if "git" not in command:
        return False
    script = shell.parse(command)
    if script is None:
        return any(word in command for word in MAKING)
    return any(
        words[0].rpartition("/")[2] == "git" and MAKING & set(words[1:])
        for words in shell.argvs(script)
        if words
    )


def _commits_since(root: str, moment: int) -> list[str]:
    moves = list_moves(root, TAIL_BYTES)
    if moves is None:
        head = commit(root)
        return [head] if head else []
    return [made for _, made, who, how in moves if _made(how) and _second_of(who) >= moment]


def _second_of(who: str) -> int:
    """Return the second that git's log of HEAD notes behind a name; -1 for none."""
    second = who.split()[-2:-1]
    return int(second[0]) if second and second[0].isdigit() else -1


def _made(how: str) -> bool:
    """Tell whether a movement of HEAD made the commit to which it leads."""
    verb = how.partition(":")[0]
    return verb.startswith(_MADE_BY) or verb.endswith(_REMADE_BY) or "Merge made" in how

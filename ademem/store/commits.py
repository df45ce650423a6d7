"""Commits by sessions and by people, and cursors of the histories that were read."""

from __future__ import annotations

from ademem.core.clock import datetime, stamp, timedelta
from ademem.core.json_text import array, loads
from ademem.core.value import Value, as_dict
from ademem.store import Store, database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

KEPT_DAYS = 90
BRANCHES = 20


class Cursor(Value):
    branch: str
    sha: str
    seen_at: str
    lost_sha: str | None


class PeopleCommit(Value):
    sha: str
    author: str
    subject: str
    committed_at: str
    files: tuple[str, ...] = ()


class LatestCommits(Value):
    """The last commits of a worktree, the newest first: sha, day, subject."""

    sha: str
    commits: tuple[tuple[str, str, str], ...] = ()
    files: tuple[str, ...] = ()


def add_session_commits(store: Store, shas: Iterable[str], session_id: str, now: datetime) -> None:
    store.db.executemany(
        "insert into commits (project_id, sha, session_id, seen_at) values (?, ?, ?, ?)"
        " on conflict do update set session_id = ifnull(session_id, excluded.session_id)",
        [(store.project_id, sha, session_id, stamp(now)) for sha in shas],
    )


def find_session_commits(store: Store, shas: Iterable[str]) -> set[str]:
    rows = store.column(
        "select sha from commits where project_id = ? and session_id is not null"
        " and sha in (select value from json_each(?))",
        (store.project_id, array(shas)),
    )
    return set(rows)


def list_of_session(store: Store, session_id: str) -> list[str]:
    return store.column(
        "select sha from commits where project_id = ? and session_id = ? order by seen_at, rowid",
        (store.project_id, session_id),
    )


def list_seen(store: Store, root: str) -> list[str]:
    return store.column(
        "select sha from head_cursors where project_id = ?"
        " order by root <> ?, seen_at desc limit ?",
        (store.project_id, root, BRANCHES),
    )


def get_cursor(store: Store, root: str, branch: str) -> Cursor | None:
    row = store.db.execute(
        "select branch, sha, seen_at, lost_sha from head_cursors"
        " where project_id = ? and root = ? and branch = ?",
        (store.project_id, root, branch),
    ).fetchone()
    return Cursor(**dict(row)) if row else None


def move_cursor(
    store: Store, root: str, branch: str, sha: str, now: datetime, lost: str | None = None
) -> None:
    store.db.execute(
        "insert into head_cursors (project_id, root, branch, sha, seen_at, lost_sha)"
        " values (:project, :root, :branch, :sha, :now, :lost)"
        " on conflict do update set sha = :sha, seen_at = :now, lost_sha = ifnull(lost_sha, :lost)",
        {"project": store.project_id, "root": root, "branch": branch}
        | {"sha": sha, "now": stamp(now), "lost": lost},
    )


def add_people_commits(
    store: Store, root: str, branch: str, found: Iterable[PeopleCommit], now: datetime
) -> None:
    seen = {"project": store.project_id, "root": root, "branch": branch, "now": stamp(now)}
    store.db.executemany(
        "insert or ignore into commits (project_id, root, branch, sha, author, subject,"
        " committed_at, files, seen_at) values (:project, :root, :branch, :sha, :author, :subject,"
        " :committed_at, :files, :now)",
        [seen | as_dict(made) | {"files": array(made.files)} for made in found],
    )


def replace_rewritten(
    store: Store, root: str, branch: str, dropped: Iterable[tuple[str, str]]
) -> None:
    unshown = "project_id = ? and root = ? and branch = ? and sha = ? and told_at is null"
    for old, new in dropped:
        place = (store.project_id, root, branch, old)
        if new:
            store.db.execute(f"update or ignore commits set sha = ? where {unshown}", (new, *place))
        store.db.execute(f"delete from commits where {unshown} and session_id is null", place)


def list_unshown(store: Store, root: str, session_id: str = "") -> list[PeopleCommit]:
    """Return commits that no session, or only this one, was shown; the newest first.

    The hook that records a session's own commit may run later than this.
    """
    rows = store.db.execute(
        "select sha, author, subject, committed_at, files from commits"
        " where project_id = :project and root = :root and session_id is null"
        " and (told_at is null or told_session_id = :session) order by id desc",
        {"project": store.project_id, "root": root, "session": session_id},
    )
    return database.read_rows(
        rows,
        lambda row: PeopleCommit(**dict(row) | {"files": tuple(loads(row["files"]))}),
    )


def mark_shown(store: Store, root: str, session_id: str, now: datetime) -> None:
    values = {"project": store.project_id, "root": root, "session": session_id, "now": stamp(now)}
    store.db.execute(
        "update commits set told_at = :now, told_session_id = :session"
        " where project_id = :project and root = :root and told_at is null",
        values,
    )
    store.db.execute(
        "update head_cursors set lost_sha = null"
        " where project_id = :project and root = :root and lost_sha is not null",
        values,
    )


def prune(store: Store, now: datetime) -> None:
    query = "delete from commits where told_at < ? and session_id is null"
    store.db.execute(query, (stamp(now - timedelta(days=KEPT_DAYS)),))


def latest(store: Store, root: str) -> LatestCommits | None:
    row = store.db.execute(
        "select latest_sha, commits, files from head_cursors"
        " where project_id = ? and root = ? and commits is not null",
        (store.project_id, root),
    ).fetchone()
    return database.read_row(
        row,
        lambda row: LatestCommits(
            sha=row["latest_sha"],
            commits=tuple((sha, day, subject) for sha, day, subject in loads(row["commits"])),
            files=tuple(loads(row["files"])),
        ),
    )


def put_latest(store: Store, root: str, branch: str, found: LatestCommits) -> None:
    commits = f"[{','.join(array(each) for each in found.commits)}]"
    with store.transaction() as db:
        db.execute(
            "update head_cursors set latest_sha = null, commits = null, files = null"
            " where project_id = ? and root = ? and commits is not null",
            (store.project_id, root),
        )
        db.execute(
            "update head_cursors set latest_sha = ?, commits = ?, files = ?"
            " where project_id = ? and root = ? and branch = ?",
            (found.sha, commits, array(found.files), store.project_id, root, branch),
        )

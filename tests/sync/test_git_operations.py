"""Entries edited by hand on a branch, brought to another one by all that git has for it."""

from __future__ import annotations

from itertools import product

import pytest

from ademem.files import enrolment
from ademem.operations import searching
from tests.examples import FULL
from tests.sync.repository import Worktree, enrolled, git

GOTCHAS = ".ade/memory/gotchas.md"
FACTS = ".ade/memory/facts.md"
START = ("the cache is slow", "retries need a limit", "dates are in UTC", "ports are free")
ALWAYS = {"dates are local", "builds are cached", "ports are free"}
BEFORE = ALWAYS | {"the cache is slow", "retries need a limit"}
BROUGHT = ALWAYS | {"the cache is fast", "logins expire"}


class Copy(Worktree):
    """A clone or worktree in which somebody edits pages."""

    def edit(self, path, old, new):
        page = self.root / path
        text = page.read_text()
        assert old in text
        page.write_text(text.replace(old, new))

    def entry(self, path, text):
        (found,) = (b for b in (self.root / path).read_text().split("\n\n") if text in b)
        return found

    def save(self, message, synced):
        """Commit; not *synced*, without ademem having seen the pages."""
        if synced:
            self.refresh()
        self.git("add", "-A", ".ade")
        self.git("commit", "--quiet", "-m", message)
        return self.git("rev-parse", "HEAD")

    def known(self):
        """What is confirmed by the files, and what is only a candidate."""
        with self.open() as memories:
            rows = searching.list_memories(memories, limit=None)
        rows = [row for row in rows if not row.kept_of]
        confirmed = {row.content for row in rows if row.status == "promoted"}
        confirmed |= {row.content for row in rows} & set(self.shown())  # one may be disputed here
        return confirmed, {row.content for row in rows} - confirmed

    def settle(self, *command):
        """A person keeps the lines of both sides of each conflict, and goes on."""
        for _ in range(9):
            paths = self.git("diff", "--name-only", "--diff-filter=U").split()
            for path in paths:
                marked = ("<<<<<<< ", "=======", ">>>>>>> ")
                lines = (self.root / path).read_text().splitlines(keepends=True)
                (self.root / path).write_text(
                    "".join(line for line in lines if not line.startswith(marked))
                )
            self.git("add", "-A", ".ade")
            if not paths:
                return
            self.git(*command, check=False)


def merge(here, branch):
    here.git("merge", "--quiet", "--no-edit", "--no-ff", branch, check=False)
    here.settle("commit", "--quiet", "--no-edit")


def rebase(here, branch):
    """The branch upon main, which follows it then."""
    here.git("checkout", "--quiet", "-B", "rebased", branch)
    here.git("rebase", "--quiet", "main", check=False)
    here.settle("rebase", "--continue")
    here.git("checkout", "--quiet", "main")
    here.git("merge", "--quiet", "--ff-only", "rebased")
    here.git("branch", "--quiet", "-D", "rebased")


def cherry_pick(here, branch):
    here.git("cherry-pick", f"main..{branch}", check=False)
    here.settle("cherry-pick", "--continue")


def squash(here, branch):
    here.git("merge", "--quiet", "--squash", branch, check=False)
    here.settle("status")
    here.git("commit", "--quiet", "-m", "squash")


def revert(here, since, until):
    """All that main got in between, the newest first."""
    for commit in here.git("rev-list", "--first-parent", f"{since}..{until}").split():
        merged = len(here.git("rev-list", "--parents", "-1", commit).split()) > 2
        here.git("revert", "--no-edit", *(["-m", "1"] if merged else []), commit, check=False)
        here.settle("revert", "--continue")


WAYS = ("driver", "union", "text")


@pytest.fixture(params=WAYS)
def main(request, tmp_path, driver):
    here = enrolled(tmp_path / "main")
    attributes = here.root / ".ade/.gitattributes"
    if request.param == "union":
        attributes.write_text(enrolment.MERGED.replace("merge=ademem", "merge=union"))
    if request.param == "driver":
        here.git("config", enrolment.DRIVER, driver.command)
    here.git("config", "user.name", "n")
    here.git("config", "user.email", "e@x")
    here = Copy(here.root, here.clock)
    for text in START:
        here.learn(text, "fact" if text == "ports are free" else "gotcha")
    here.commit()
    return here


@pytest.fixture
def mine(main):
    main.git("checkout", "--quiet", "-b", "topic")
    return main


@pytest.fixture
def theirs(main, tmp_path):
    """A teammate's clone, with a store of its own."""
    git(tmp_path, "clone", "--quiet", main.root, "clone")
    there = Copy(tmp_path / "clone", main.clock)
    there.git("checkout", "--quiet", "-b", "topic")
    there.refresh()
    return there


def begin(main, topic, synced):
    """The branch edits an entry, deletes one and adds one; main does so with others."""
    topic.edit(GOTCHAS, "cache is slow", "cache is fast")
    topic.edit(GOTCHAS, topic.entry(GOTCHAS, "retries need"), "")
    topic.save("edit and delete", synced)
    topic.edit(FACTS, "# Facts", "# Facts\n\n- logins expire")
    topic.save("add", synced)
    main.git("checkout", "--quiet", "main")
    main.refresh()
    main.edit(GOTCHAS, "dates are in UTC", "dates are local")
    main.edit(GOTCHAS, "# Gotchas", "# Gotchas\n\n- builds are cached")
    main.save("others", synced)
    if topic is not main:
        main.git("fetch", "--quiet", topic.root, "topic:topic")


def head(here):
    return here.git("rev-parse", "HEAD")


BRINGS = (merge, rebase, cherry_pick, squash)
BROUGHT_BY = pytest.mark.parametrize(
    ("bring", "synced"),
    [
        pytest.param(
            bring, synced, id=f"{bring.__name__}-{'seen by' if synced else 'without'} ademem"
        )
        for number, (bring, synced) in enumerate(product(BRINGS, (True, False)))
        if FULL or number in (0, 7)
    ],
)
"""A merge that ademem sees and a squash that it does not; in a full run each way, seen or not."""


@BROUGHT_BY
def test_what_was_edited_by_hand_on_a_branch_is_all_there_on_main(main, mine, bring, synced):
    begin(main, mine, synced)
    bring(main, "topic")
    main.commit()

    assert main.known() == (BROUGHT, set())
    assert main.refresh().written == ()
    assert main.dirty() == ""


@pytest.mark.parametrize("main", ["driver"], indirect=True)
@BROUGHT_BY
def test_what_a_teammate_edited_by_hand_arrives_goes_and_comes_back(main, theirs, bring, synced):
    begin(main, theirs, synced)
    assert list(there_and_back(main, bring)) == [
        (BROUGHT, set()),
        (BEFORE, set()),
        (BROUGHT, set()),
    ]
    assert main.dirty() == ""


@pytest.mark.parametrize("main", ["union", "text"], indirect=True)
@BROUGHT_BY
def test_without_the_driver_what_goes_and_comes_back_may_come_twice(main, theirs, bring, synced):
    begin(main, theirs, synced)
    wanted = (BROUGHT, BEFORE, BROUGHT)
    for (confirmed, others), texts in zip(there_and_back(main, bring), wanted, strict=True):
        assert texts <= confirmed | others <= BROUGHT | BEFORE
    assert main.dirty() == ""


def there_and_back(here, bring):
    """What is known after the branch came, after it was reverted, and after that was."""
    before = head(here)
    bring(here, "topic")
    brought = head(here)
    here.commit()
    yield here.known()
    rendered = head(here)
    revert(here, before, brought)
    reverted = head(here)
    here.commit()
    yield here.known()
    revert(here, rendered, reverted)
    here.commit()
    yield here.known()


def test_an_entry_that_the_gate_refuses_stays_refused_once_it_is_committed(tmp_path):
    here = enrolled(tmp_path / "main")
    here = Copy(here.root, here.clock)
    here.learn("the cache is slow", "gotcha")
    here.commit()
    here.edit(GOTCHAS, "# Gotchas", "# Gotchas\n\n- Fixed the login bug")
    here.save("type it", synced=True)
    reports = [here.refresh().taken for _ in range(2)]

    assert all("code_derivable" in report.problems[0].message for report in reports)
    assert here.known() == ({"the cache is slow"}, set())


def test_a_shallow_clone_takes_and_gives_like_any(main, tmp_path):
    url = f"file://{main.root}"
    git(tmp_path, "clone", "--quiet", "--depth", "1", url, "shallow")
    shallow = Copy(tmp_path / "shallow", main.clock)
    shallow.refresh()
    assert shallow.known() == (set(START), set())
    begin(main, shallow_topic(shallow), True)
    merge(main, "topic")
    main.commit()
    shallow.git("checkout", "--quiet", "main")
    shallow.refresh()
    shallow.git("pull", "--quiet", "--depth", "1", "origin", "main", check=False)
    shallow.git("reset", "--quiet", "--hard", "FETCH_HEAD")
    shallow.refresh()

    assert main.known() == (BROUGHT, set())
    assert shallow.known() == (BROUGHT, set())
    assert shallow.dirty() == ""


def shallow_topic(shallow):
    shallow.git("config", "user.name", "n")
    shallow.git("config", "user.email", "e@x")
    shallow.git("checkout", "--quiet", "-b", "topic")
    return shallow

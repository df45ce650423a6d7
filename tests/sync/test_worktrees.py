"""Random work on branches and in worktrees: nothing is lost, and each shows what is its own."""

from __future__ import annotations

import shutil
import sys

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ademem.core.memory import Status
from ademem.files import enrolment
from tests.examples import examples
from tests.sync.repository import enrolled

BRANCHES = ("one", "two/a")
STEPS = st.one_of(
    st.tuples(st.just("learn"), st.sampled_from(("main", *BRANCHES))),
    st.tuples(st.just("learn"), st.sampled_from(BRANCHES)),
    st.tuples(st.just("learn_there"), st.just("side")),
    st.tuples(st.just("merge"), st.sampled_from((*BRANCHES, "side"))),
    st.tuples(st.just("squash"), st.sampled_from((*BRANCHES, "side"))),
    st.tuples(st.just("follow"), st.sampled_from(BRANCHES)),
    st.tuples(st.just("rename"), st.sampled_from(BRANCHES)),
    st.tuples(st.just("delete"), st.sampled_from(BRANCHES)),
    st.tuples(st.just("switch"), st.sampled_from(("main", *BRANCHES))),
    st.tuples(st.just("detach"), st.sampled_from(("main", *BRANCHES))),
    st.tuples(st.just("stash"), st.just("")),
    st.tuples(st.just("commit"), st.just("")),
)


class Work:
    """A repository with two worktrees, and what the rules say about every memory in it."""

    def __init__(self, root):
        self.here = enrolled(root / "here")
        driver = f'"{sys.executable}" -c "from ademem.doors.cli import main; main()"'
        self.here.git("config", enrolment.DRIVER, f"{driver} merge-file %O %A %B %P")
        self.there = self.here.worktree(root / "there", "-b", "side")
        self.there.refresh()
        self.learned = {}

    def run(self, kind, what):
        getattr(self, kind)(what)
        for worktree in (self.here, self.there):
            worktree.refresh()
        self.check()

    def learn(self, branch):
        """On a branch, which is begun where we are unless it is there; not committed yet."""
        self.switch(branch)
        self._learn(self.here)

    def learn_there(self, _):
        self._learn(self.there)
        self.there.commit()

    def switch(self, branch):
        if self.here.git("branch", "--show-current"):
            self.commit("")
        else:
            self.stash("")
        known = self._has(branch)
        self.here.git("checkout", "--quiet", *([] if known else ["-b"]), branch)

    def detach(self, branch):
        if self._has(branch):
            self.switch(branch)
            self.here.git("checkout", "--quiet", "--detach")

    def merge(self, branch, *how):
        """Into the default branch."""
        if self._has(branch):
            self.switch("main")
            self.here.git("merge", "--quiet", *(how or ["--no-edit"]), branch)

    def squash(self, branch):
        self.merge(branch, "--squash")
        self.here.git("commit", "--quiet", "--allow-empty", "-m", "squashed")

    def follow(self, branch):
        """Begin another branch at the tip of this one, and delete this one."""
        if self._has(branch):
            self.switch(branch)
            self.here.git("checkout", "--quiet", "-B", f"{branch}-next")
            self.here.git("branch", "-D", branch)

    def rename(self, branch):
        if self._has(branch):
            self.here.git("branch", "-M", branch, f"{branch}-renamed")

    def delete(self, branch):
        if self._has(branch):
            self.switch("main")
            self.here.git("branch", "-D", branch)

    def stash(self, _):
        """What was written and not committed is taken back."""
        self.here.git("stash", "--quiet")

    def commit(self, _):
        if self.here.git("branch", "--show-current"):
            self.here.commit()

    def _has(self, branch):
        return bool(self.here.git("branch", "--list", branch))

    def _learn(self, worktree):
        text = f"lesson {len(self.learned)} says {'abcdefghij'[len(self.learned) % 10] * 5}"
        self.learned[text] = worktree.learn(text)

    def check(self):
        names = set(self.here.git("for-each-ref", "--format=%(refname:short)").splitlines())
        rows = {text: self.here.row(memory) for text, memory in self.learned.items()}
        for row in rows.values():
            assert row.live
            assert row.source_branch is None or row.source_branch in names or row.has_lost_branch
        for worktree in (self.here, self.there):
            branch = worktree.git("branch", "--show-current")
            tree = worktree.git("grep", "-h", "<!--", "HEAD", "--", ".ade/memory", check=False)
            assert worktree.shown() == sorted(
                text
                for text, row in rows.items()
                if row.status is Status.PROMOTED
                and (row.source_branch in (None, branch) or row.id in tree)
            )
            before = worktree.dirty()
            assert worktree.refresh().bytes == 0
            assert worktree.dirty() == before
        on_main = self.here.git("grep", "-h", "<!--", "main", "--", ".ade/memory", check=False)
        for row in rows.values():
            assert row.id not in on_main or row.source_branch is None


@settings(max_examples=examples(8, 4), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, min_size=4, max_size=14))
def test_whatever_is_done_nothing_is_lost_and_each_worktree_shows_trunk_and_its_branch(
    steps, tmp_path_factory
):
    root = tmp_path_factory.mktemp("work")
    work = Work(root)
    for kind, what in steps:
        work.run(kind, what)
    shutil.rmtree(root)

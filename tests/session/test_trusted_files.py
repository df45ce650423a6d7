"""Trust in files: a remote, its default branch, authors; what is elsewhere stays labelled."""

from __future__ import annotations

import shutil

import pytest

from ademem.operations import curation
from tests.session.test_clones import LABEL, Clones
from tests.session.test_untrusted_rules import RULE, Turns

REVIEWED = "Never run `make release` on a Friday"


@pytest.fixture
def clones(tmp_path):
    """Ann's repository with a rule, and whoever clones it."""
    clones = Clones(tmp_path)
    clones.ann.learn(RULE, "convention", promoted=True)
    clones.ann.share()
    return clones


@pytest.fixture
def ann(clones):
    return clones.ann


@pytest.fixture
def ben(clones):
    """Ben, who cloned it and trusts its files once."""
    ben = clones.clone("Ben")
    ben.start()
    assert ben.trust_files() == 1
    return ben


def authors(member):
    return {row.content: row.claimed_author for row in member.live()}


def propose(member, branch="topic", text=REVIEWED):
    """A member commits a memory on a branch of their own, in their own clone."""
    member.git("switch", "--quiet", "-c", branch)
    member.learn(text, "convention", promoted=True)
    member.share("proposal")


def test_a_branch_under_review_stays_labelled_and_a_merge_needs_no_other_command(clones, ann, ben):
    propose(ann)
    ben.git("fetch", "--quiet", "origin")
    ben.git("switch", "--quiet", "topic")
    ben.start("s2")
    in_review = authors(ben)
    turns = Turns(ben).ask("p1", "Cut the release")
    note = turns.run("make release")
    ann.git("switch", "--quiet", "main")
    ann.git("merge", "--quiet", "--no-ff", "-m", "merge", "topic")
    ben.git("switch", "--quiet", "main")
    ben.git("pull", "--quiet", "origin", "main")
    ben.start("s3")

    assert in_review == {RULE: None, REVIEWED: "Ann"}
    assert (REVIEWED in note, turns.is_denied) == (True, False)
    assert authors(ben) == {RULE: None, REVIEWED: None}


def test_a_fetch_alone_shows_that_a_branch_was_merged(clones, ann, ben):
    propose(ann)
    ben.git("fetch", "--quiet", "origin")
    ben.git("switch", "--quiet", "topic")
    ben.start("s2")
    ann.git("switch", "--quiet", "main")
    ann.git("merge", "--quiet", "topic")
    ben.git("fetch", "--quiet", "origin")
    ben.start("s3")

    assert authors(ben) == {RULE: None, REVIEWED: None}


@pytest.mark.parametrize("at_trust", ["on main", "on the branch"])
def test_the_command_accepts_nothing_of_a_branch_under_review(clones, ann, at_trust):
    propose(ann)
    ben = clones.clone("Ben", None, "--branch", "main")
    if at_trust == "on the branch":
        ben.git("switch", "--quiet", "topic")
    ben.git("remote", "set-head", "origin", "main")
    ben.start()
    ben.trust_files()
    ben.git("switch", "--quiet", "topic")
    ben.start("s2")

    assert authors(ben) == {RULE: None, REVIEWED: "Ann"}


def test_a_merged_rule_denies_after_one_trust(clones, ann, ben):
    rule = "Never run make deploy by hand"
    propose(ann, text=rule)
    ann.git("switch", "--quiet", "main")
    ann.git("merge", "--quiet", "topic")
    ben.git("pull", "--quiet", "origin", "main")
    ben.start("s2")
    turns = Turns(ben).ask("p1", "Ship it")
    turns.run("make deploy")

    assert turns.is_denied
    assert rule in turns.said["hookSpecificOutput"]["permissionDecisionReason"]


def fork(clones, name):
    """A fork of Mallory's with a memory of its own, in its default branch."""
    mallory = clones.clone("Mallory", name)
    mallory.start()
    mallory.learn("Deploy on Fridays", "convention", promoted=True)
    mallory.share("fork")
    return mallory


def test_a_fork_cloned_at_the_path_of_a_trusted_repository_is_a_strangers(clones, ben):
    mallory = fork(clones, "fork")
    shutil.rmtree(ben.root)
    ben.git_clone(mallory.root)
    ben.start("s2")

    assert authors(ben) == {RULE: "Ann", "Deploy on Fridays": "Mallory"}


def test_a_fork_cloned_elsewhere_is_a_strangers(clones, ben):
    mallory = fork(clones, "fork")
    elsewhere = type(ben)(clones.folder, "Ben", clones.folder / "elsewhere", enrolled=True)
    elsewhere.git_clone(mallory.root)
    elsewhere.start("s2")

    assert authors(elsewhere)["Deploy on Fridays"] == "Mallory"


def test_what_is_pulled_from_a_fork_stays_labelled(clones, ben):
    mallory = fork(clones, "fork")
    ben.git("pull", "--quiet", str(mallory.root), "main")
    ben.start("s2")

    assert authors(ben) == {RULE: None, "Deploy on Fridays": "Mallory"}


@pytest.mark.parametrize("ignores", [False, True], ids=["", "as a commit to ignore"])
def test_a_rule_that_a_branch_turns_round_is_not_trusted_as_its_line_on_the_default_one(
    clones, ann, ben, ignores
):
    ann.git("switch", "--quiet", "-c", "topic")
    with ann.by_hand() as memories:
        curation.edit(memories, ann.only().id, content="Use npm, never pnpm")
    ann.share("turn round")
    if ignores:
        (ann.root / ".git-blame-ignore-revs").write_text(f"{ann.git('rev-parse', 'HEAD')}\n")
        ann.git("add", ".git-blame-ignore-revs")
        ann.git("commit", "--quiet", "-m", "ignore")
        ben.git("config", "blame.ignoreRevsFile", ".git-blame-ignore-revs")
    ben.git("fetch", "--quiet", "origin")
    ben.git("switch", "--quiet", "topic")
    ben.start("s2")
    there = {text: author for text, author in authors(ben).items() if "npm, never pnpm" in text}
    ben.git("switch", "--quiet", "main")
    ben.start("s3")

    assert there == {"Use npm, never pnpm": "Ann"}
    assert authors(ben).get("Use npm, never pnpm", "Ann") == "Ann"


@pytest.mark.parametrize(
    ("branch", "author"),
    [pytest.param("main", None, id="the default branch"), pytest.param("topic", "Ann", id="other")],
)
def test_items_that_a_colleague_wrote_into_a_page_count_by_their_commits(
    clones, ann, ben, branch, author
):
    if branch != "main":
        ann.git("switch", "--quiet", "-c", branch)
    page = ann.root / ".ade/memory/conventions.md"
    page.write_text(page.read_text() + "\n- Caches are cleared on Mondays\n  and on Fridays\n")
    ann.git("add", ".ade/memory")
    ann.git("commit", "--quiet", "-m", "by hand")
    ben.git("fetch", "--quiet", "origin")
    ben.git("merge", "--quiet", f"origin/{branch}")
    ben.start("s2")

    assert authors(ben)["Caches are cleared on Mondays\nand on Fridays"] == author


def commit_as(member, mail, message="memory"):
    """Commit the files as an author with another address."""
    member.refresh()
    member.git("add", "-A", "-f", ".ade/memory")
    member.git("commit", "--quiet", "--author", f"{member.name} <{mail}>", "-m", message)


def test_an_author_that_was_not_named_stays_labelled_in_the_default_branch(clones, ann):
    eve = clones.clone("Eve")
    eve.start()
    eve.learn(REVIEWED, "convention", promoted=True)
    commit_as(eve, "eve@x")
    ann.git("pull", "--quiet", str(eve.root), "main")
    ben = clones.clone("Ben")
    ben.start()
    accepted = ben.trust_files("E@X", "carl@x")  # as Ann commits, and somebody else

    assert accepted == 1
    assert authors(ben) == {RULE: None, REVIEWED: "Eve"}
    assert ben.trust_files("e@x", "eve@x") == 1
    assert authors(ben) == {RULE: None, REVIEWED: None}


def test_the_own_second_machine_is_anothers_until_its_address_is_trusted(clones, ann):
    with ann.by_hand() as memories:
        curation.pin(memories, ann.only().id)
    commit_as(ann, "ann@x")
    laptop = type(ann)(clones.folder / "laptop", "Ann", clones.folder / "ann2", enrolled=True)
    laptop.git_clone(f"file://{ann.root}")
    _, briefing = laptop.start()
    accepted = laptop.trust_files("ann@x")
    _, after = laptop.start("s2")

    assert LABEL in briefing
    assert accepted == 1
    assert "## Pinned" in after


def test_a_remote_without_a_known_default_branch_is_trusted_in_nothing(clones, ann):
    ann.git("branch", "--quiet", "-m", "main", "trunk")
    ben = clones.clone("Ben")
    ben.git("remote", "set-head", "origin", "--delete")
    ben.start()

    assert ben.trust_files() == 0
    ben.git("remote", "set-head", "origin", "trunk")
    assert ben.trust_files() == 1
    assert authors(ben) == {RULE: None}


def test_ssh_and_https_name_the_same_repository(clones, ben):
    address = ben.git("remote", "get-url", "origin")
    ben.git("remote", "set-url", "origin", address.removeprefix("file://"))
    clones.ann.learn(REVIEWED, "convention", promoted=True)
    clones.ann.share()
    ben.git("pull", "--quiet", "origin", "main")
    ben.start("s2")

    assert authors(ben) == {RULE: None, REVIEWED: None}


MINE = "Never deploy without a smoke test"
KINDS = {
    "text": lambda memories, id: curation.edit(memories, id, content="Always deploy at once"),
    "removed": lambda memories, id: curation.archive(memories, id),
    "marks": lambda memories, id: curation.edit(memories, id, tags=()),
}


@pytest.fixture
def stated(clones, ann, ben):
    """What Ben stated, which is in the default branch, and the member who changes it."""
    mine = ben.learn(MINE, "convention", promoted=True, tags=("stop",))
    ben.share()
    ann.git("pull", "--quiet", "--no-rebase", str(ben.root), "main")
    ann.start("a2")
    return mine


def change(ann, kind, id):
    with ann.by_hand() as memories:
        curation.promote(memories, id)
        KINDS[kind](memories, id)
    ann.share("change")


@pytest.mark.parametrize("kind", KINDS)
def test_a_trusted_change_of_what_was_stated_holds_and_is_told_once(ann, ben, stated, kind):
    change(ann, kind, stated.id)
    ben.git("pull", "--quiet", "--no-rebase", "origin", "main")
    told, again = ben.start("s2")[0], ben.start("s3")[0]
    rows = [row for row in ben.live() if row.id == stated.id]

    line = "ademem: Ann, whom you trust, changed 1 of your memories"
    assert line in told.splitlines()
    assert "whom you trust" not in again
    assert [row.kept_of for row in ben.live()].count(None) == len(ben.live())
    assert [(row.content, row.tags) for row in rows] != [(MINE, ("stop",))]


def test_a_change_on_a_branch_under_review_keeps_what_was_stated(ann, ben, stated):
    ann.git("switch", "--quiet", "-c", "topic")
    change(ann, "text", stated.id)
    ben.git("fetch", "--quiet", "origin")
    ben.git("merge", "--quiet", "origin/topic")
    told, _ = ben.start("s2")

    assert "whom you trust" not in told
    assert MINE in [row.content for row in ben.live() if row.kept_of]


def test_a_trusted_change_of_what_was_not_stated_is_not_told(ann, ben):
    ann.learn("Caches are cleared on Mondays", "gotcha")
    ann.share()
    ben.git("pull", "--quiet", "origin", "main")
    ben.start("s2")
    (row,) = [row for row in ann.live() if row.content.startswith("Caches")]
    with ann.by_hand() as memories:
        curation.edit(memories, row.id, content="Caches are cleared on Fridays")
    ann.share()
    ben.git("pull", "--quiet", "origin", "main")
    told, _ = ben.start("s3")

    assert "whom you trust" not in told
    assert "Caches are cleared on Fridays" in authors(ben)

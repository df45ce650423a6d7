"""What waits on a branch, as commands show it."""

from tests.sync.repository import git

LESSON = "Tokens expire in UTC, never in local time"


def on_a_branch(ademem):
    """A memory learned on `topic`, committed there."""
    git(ademem.root, "init", "--quiet", "--initial-branch=main")
    git(ademem.root, "add", "-A")
    git(ademem.root, "commit", "--quiet", "-m", "start")
    git(ademem.root, "checkout", "--quiet", "-b", "topic")
    id = ademem.json("add", LESSON, "--category", "gotcha")["memory"]["id"]
    ademem("files", "refresh")
    git(ademem.root, "add", "-A")
    git(ademem.root, "commit", "--quiet", "-m", "memory")
    git(ademem.root, "checkout", "--quiet", "main")
    return id


def test_a_search_elsewhere_says_on_which_branch_it_waits(ademem):
    id = on_a_branch(ademem)
    ademem("add", "Sessions expire after a week")

    assert f"{id}  [gotcha] {LESSON}  (branch-topic)" in ademem("recall", "tokens expire")
    first, second = ademem.json("recall", "expire")["memories"]
    assert (first["flags"], second["flags"]) == ([], ["branch-topic"])
    assert second["provenance"]["branch"] == "topic"


def test_a_branch_can_be_asked_for(ademem):
    id = on_a_branch(ademem)
    ademem("add", "Sessions expire after a week")

    for command in (["recall", "expire"], ["search", "expire"], ["list"]):
        (found,) = ademem.json(*command, "--branch", "topic")["memories"]
        assert found["id"] == id
    ademem("files", "import")  # which the checkout changed
    assert ademem("recall", "expire", "--branch", "other") == 'nothing in memory answers "expire"\n'


def test_the_review_says_that_the_branch_was_deleted(ademem):
    id = on_a_branch(ademem)
    git(ademem.root, "branch", "-D", "topic")
    ademem("files", "refresh")

    (waiting,) = ademem.json("review")["memories"]
    assert waiting["id"] == id
    assert waiting["why"].endswith("its branch topic was deleted before it was merged")
    assert ademem.json("list", "--status", "candidate")["memories"][0]["flags"] == [
        "candidate",
        "branch-topic",
    ]
    ademem("promote", id)
    assert ademem.json("get", id)["flags"] == []


def test_files_are_sound_on_every_branch(ademem):
    on_a_branch(ademem)

    assert ademem("files", "check") == "the files are sound\n"
    git(ademem.root, "checkout", "--quiet", "topic")
    assert ademem("files", "check") == "the files are sound\n"
    git(ademem.root, "checkout", "--quiet", "--detach")
    assert ademem("files", "check") == "the files are sound\n"

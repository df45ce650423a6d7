"""`ademem adopt`, by a person and by an agent; the offer of `init`, and what `uninstall` leaves."""

import pytest

from tests.repositories import Repository

LINE = "Never edit `src/api.py`, it is made by a script"


@pytest.fixture
def files(ademem):
    git = Repository(ademem.root).git
    (ademem.root / "src").mkdir()
    (ademem.root / "src/api.py").write_text("x\n")
    (ademem.root / "AGENTS.md").write_text(f"# Code\n\n- {LINE}\n- See [the guide](guide.md)\n")
    (ademem.root / "CLAUDE.md").write_text("@AGENTS.md\n\n- The server is in Go\n")
    git("add", "-A")
    git("commit", "--quiet", "-m", "x")
    return ademem


def test_the_report_has_files_items_and_reasons(files):
    found = files.json("adopt")

    assert sorted((each["path"], each["format"], each["items"]) for each in found["files"]) == [
        ("AGENTS.md", "import", 2),
        ("CLAUDE.md", "claude", 1),
    ]
    assert [each["why"] for each in found["left_out"]] == []
    assert (found["count"], found["stopping"], found["may_stop"]) == (3, 1, False)
    (item,) = [each for each in found["items"] if each["text"] == LINE]
    assert (item["first"], item["kind"], item["places"], item["load"], item["merged"]) == (
        *(3, "rule", ["src/api.py"], "client", True),
    )


def test_a_dry_run_stores_nothing(files):
    assert files.json("adopt", "--dry-run")["count"] == 3
    assert "would be adopted: 3 items of 2 files" in files("adopt", "--dry-run")

    assert files.json("recall", "server in Go")["instructions"] == []


def test_recall_names_file_and_line(files):
    files("adopt")
    said = files("recall", "which script makes the api")

    assert "AGENTS.md:3  [rule] Code: Never edit" in said
    assert files.exit_code == 0


def test_search_names_them_too(files):
    assert "instructions" not in files.json("search", "which script makes the api")
    files("adopt")
    (found,) = files.json("search", "which script makes the api")["instructions"]

    assert found == {"at": "AGENTS.md:3", "kind": "rule", "text": LINE}
    assert "AGENTS.md:3  [rule] Never edit" in files("search", "which script makes the api")
    assert "instructions" not in files.json("search", "which script makes the api", "-c", "fact")


def test_a_person_says_yes_and_no(files):
    assert files.json("adopt", "--yes")["may_stop"]
    assert not files.json("adopt", "--no")["may_stop"]
    assert "once you say so" not in files("adopt", "--no")
    files("adopt", "--yes", "--no")
    assert files.exit_code == 2


def test_an_agent_adopts_and_decides_nothing(files):
    files.inside()
    id = files.json("adopt")["items"][0]["id"]
    for act in (["--yes"], ["--id", id, "--ignore"], ["--id", id, "--stop"]):
        assert "is for a person to decide" in files("adopt", *act)
        assert files.exit_code == 4


def test_a_person_decides_about_one_line(files):
    (id,) = [each["id"] for each in files.json("adopt")["items"] if each["text"] == LINE]
    assert f"{id} is never said" in files("adopt", "--id", id, "--ignore")
    assert [mark["ignored"] for mark in files.json("adopt")["marks"]] == [True]
    assert files.json("adopt", "--id", id[:6], "--stop")["mark"]["stop"]
    assert "applies at docs/" in files("adopt", "--id", id, "--at", "docs/")
    assert "nothing is decided" in files("adopt", "--id", id, "--plain")
    assert files.json("adopt")["marks"] == []

    files("adopt", "--id", "nothing", "--stop")
    assert files.exit_code == 1
    files("adopt", "--id", id)
    assert files.exit_code == 2


def test_what_was_decided_about_a_line_that_is_gone_is_told(files):
    (id,) = [each["id"] for each in files.json("adopt")["items"] if each["text"] == LINE]
    files("adopt", "--id", id, "--stop")
    (files.root / "AGENTS.md").write_text("# Code\n\n- Other things\n")

    for command in (["adopt"], ["review", "--list"]):
        assert "a line of AGENTS.md that is gone: Never edit" in files(*command)
    assert files.json("adopt")["lost"] == [id]
    files("adopt", "--id", id, "--plain")
    assert files.json("adopt")["lost"] == []


def test_off_adopts_nothing(files):
    files("config", "set", "adopt.files", "off", "--user")
    files("adopt")

    assert files.exit_code == 2


def test_init_offers_it_with_the_numbers(files):
    said = files("init", "--project", str(files.root))
    assert "2 files with 3 items for agents: `ademem adopt` reads them in place" in said
    files("adopt")

    assert "for agents" not in files("init", "--project", str(files.root))


def test_uninstalling_leaves_nothing_of_it(files):
    files("adopt", "--yes")
    files("uninstall", "--project", str(files.root))
    files("init", "--project", str(files.root))

    assert files.json("recall", "which script makes the api")["instructions"] == []
    assert not files.json("adopt", "--dry-run")["may_stop"]


def test_uninstalling_leaves_none_of_its_bytes(files):
    (files.root / ".cursorrules").write_text("- Quokkas sleep below `src/burrow.py`\n")
    files("adopt", "--yes")
    (item,) = [each for each in files.json("adopt")["items"] if "Quokkas" in each["text"]]
    files("adopt", "--id", item["id"], "--stop")

    def left():
        there = b"".join(path.read_bytes() for path in (files.root / ".ade").glob("ade.db*"))
        return [part for part in (b"Quokkas", b"quokka", b"burrow") if part in there]

    assert left() == [b"Quokkas", b"quokka", b"burrow"]
    files("uninstall", "--project", str(files.root))
    assert left() == []


def test_a_project_without_such_files_says_so(ademem):
    assert "no instruction files" in ademem("adopt")
    assert ademem.exit_code == 0

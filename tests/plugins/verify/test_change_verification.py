"""Which memories a range of commits makes false."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core.memory import Draft
from ademem.doors import cli
from ademem.operations import files, init, open_memories, writing
from ademem.plugins.verify import change_verification, operations
from ademem.plugins.verify.change_verification import CannotCompare, Hunk, map_lines, parse_diff
from tests.repositories import Repository

CODE = """\
class Client:
    retries = 3

    def connect(self, timeout=10):
        return open_socket(timeout)

    def close(self):
        pass
"""


class World(Repository):
    """A repository with a project whose memories are anchored to `src/net.py`."""

    def __init__(self, root):
        super().__init__(root)
        init(str(root))
        self.write("src/net.py", CODE)
        self.write("pyproject.toml", 'requires-python = ">=3.8"\n')
        self.record("first")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def record(self, subject="change"):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        return self.head

    def keep(self, content, place):
        with open_memories(str(self.root), environment={}) as memories:
            draft = Draft(content=content, anchors=(place,), promoted=True)
            return writing.write(memories, draft).memory

    def named(self, commits="HEAD~1..HEAD"):
        """Each memory that is named, with its state and its missing values."""
        with open_memories(str(self.root), environment={}) as memories:
            return [
                (each.memory.content, each.location.state, [m.shown for m in each.location.missing])
                for each in operations.verify_change(memories, commits)
            ]


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return World(tmp_path / "work")


CONNECT = "The timeout of `connect` is 10 seconds"


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        pytest.param("timeout=10", "timeout=20", ("changed", ["timeout: 10 -> 20"]), id="value"),
        pytest.param("timeout=10", "timeout=10.0, tries=2", None, id="rewritten, value kept"),
        pytest.param("connect(", "dial(", ("changed", ["connect -> dial"]), id="renamed"),
        pytest.param("timeout=10", "", ("gone", ["timeout: 10 -> gone"]), id="parameter removed"),
        pytest.param("retries = 3", "retries = 4", None, id="another line"),
        pytest.param("class Client:", "import os\n\nclass Client:", None, id="moved down"),
    ],
)
def test_a_changed_value_names_the_memory(world, old, new, named):
    world.keep(CONNECT, "src/net.py:4-5")
    world.write("src/net.py", CODE.replace(old, new, 1))
    world.record()

    assert world.named() == ([] if named is None else [(CONNECT, *named)])


@pytest.mark.parametrize(
    ("content", "named"),
    [
        pytest.param(CONNECT, [], id="a fact about the code"),
        pytest.param(
            "connect is in src/net.py",
            ["path: src/net.py -> src/client/net.py"],
            id="a fact about its place",
        ),
    ],
)
def test_a_renamed_file_makes_false_what_names_its_path(world, content, named):
    world.keep(content, "src/net.py:4-5")
    (world.root / "src/client").mkdir()
    world.git("mv", "src/net.py", "src/client/net.py")
    world.record()

    assert [missing for _, _, missing in world.named()] == ([named] if named else [])


def test_code_that_moved_to_another_file_is_no_change(world):
    world.keep(CONNECT, "src/net.py:4-5")
    body = "".join(CODE.splitlines(keepends=True)[3:6])
    world.write("src/net.py", CODE.replace(body, ""))
    world.write("src/base.py", "class Base:\n" + body)
    world.record()

    assert world.named() == []


@pytest.mark.parametrize("content", [CONNECT, "Handle it with care"])
def test_a_deleted_file_names_its_memories(world, content):
    world.keep(content, "src/net.py:4-5")
    world.git("rm", "-q", "src/net.py")
    world.record()

    assert [(text, state) for text, state, _ in world.named()] == [(content, "gone")]


def test_binary_files_links_and_odd_names_do_no_harm(world):
    world.write("data.bin", b"\0\1" * 50)
    world.write('a "b" é.py', CODE)
    world.keep(CONNECT, "src/net.py:4-5")
    world.keep("Of `close`", 'a "b" é.py:7')
    world.record()
    world.write("data.bin", b"\0\2" * 50)
    world.write('a "b" é.py', CODE.replace("close", "shut"))
    (world.root / "src/net.py").unlink()
    (world.root / "src/net.py").symlink_to("elsewhere.py")
    world.record()

    assert [(text, state) for text, state, _ in world.named()] == [
        (CONNECT, "gone"),
        ("Of `close`", "changed"),
    ]


def test_a_merge_brings_what_its_branch_changed_and_nothing_else(world):
    world.keep(CONNECT, "src/net.py:4-5")
    world.keep("Python 3.8 is needed", "pyproject.toml:1")
    world.git("switch", "-qc", "feature")
    world.write("src/net.py", CODE.replace("timeout=10", "timeout=20"))
    world.record()
    world.git("switch", "-q", "main")
    world.write("pyproject.toml", 'requires-python = ">=3.9"\n')
    world.record()
    world.git("merge", "-q", "--no-ff", "-m", "merge", "feature")

    assert [text for text, *_ in world.named("HEAD^1..HEAD")] == [CONNECT]
    assert [text for text, *_ in world.named("HEAD^1..feature")] == [CONNECT]
    assert [text for text, *_ in world.named("HEAD^2...HEAD")] == ["Python 3.8 is needed"]


def test_what_was_missing_before_is_not_the_fault_of_a_change(world):
    world.keep(CONNECT, "src/net.py:4-5")
    world.write("src/net.py", CODE.replace("timeout=10", "timeout=20"))
    world.record()
    world.write("src/net.py", CODE.replace("timeout=10", "timeout=30"))
    world.record()

    assert world.named("HEAD~1..HEAD") == []
    assert len(world.named("HEAD~2..HEAD")) == 1


def test_values_stand_in_for_lines_that_were_rewritten_long_ago(world):
    world.keep(CONNECT, "src/net.py:4-5")
    world.write("src/net.py", CODE.replace("open_socket(timeout)", "socket()"))
    world.record()
    world.write("src/net.py", CODE.replace("open_socket(timeout)", "socket()").replace("10", "20"))
    world.record()

    assert world.named() == [(CONNECT, "changed", ["timeout: 10 -> 20"])]


@pytest.mark.parametrize(
    ("commits", "why"),
    [
        pytest.param("nowhere..HEAD", "no commit 'nowhere'", id="base"),
        pytest.param("HEAD..nowhere", "no commit 'nowhere'", id="head"),
        pytest.param("--output=x..HEAD", "no commit '--output=x'", id="an option"),
        pytest.param("orphan..HEAD", "no common commit", id="unrelated"),
    ],
)
def test_commits_that_cannot_be_compared_are_an_error(world, commits, why):
    world.git("switch", "-q", "--orphan", "orphan")
    world.record()
    world.git("switch", "-q", "main")

    with pytest.raises(CannotCompare, match=why):
        world.named(commits)


def test_a_shallow_clone_says_how_to_get_the_rest(world, tmp_path):
    world.record()
    shallow = tmp_path / "shallow"
    command = ["git", "clone", "-q", "--depth", "1", f"file://{world.root}", str(shallow)]
    subprocess.run(command, check=True)

    with pytest.raises(CannotCompare) as refused:
        change_verification.read_change(str(shallow), "HEAD~1..HEAD")
    assert "git fetch --unshallow" in refused.value.hint


def test_a_folder_without_git_is_an_error(tmp_path):
    with pytest.raises(CannotCompare, match="is in no git repository") as refused:
        change_verification.read_change(str(tmp_path), "HEAD~1..HEAD")
    assert "fetch" not in refused.value.hint


def test_the_check_takes_few_processes_whatever_the_size(world, monkeypatch):
    for number in range(30):
        world.write(f"src/m{number}.py", CODE)
    world.record()
    for number in range(30):
        world.keep(f"{CONNECT} in module {number}", f"src/m{number}.py:4-5")
        world.write(f"src/m{number}.py", CODE.replace("timeout=10", f"timeout={number + 20}"))
    world.record()
    commands = []
    run = change_verification.git.run
    monkeypatch.setattr(
        change_verification.git,
        "run",
        lambda *words, **options: commands.append(words[1]) or run(*words, **options),
    )

    assert len(world.named()) == 30
    assert commands == ["rev-parse", "merge-base", "diff", "cat-file"]


def test_a_fresh_clone_checks_with_the_memories_of_its_files(world, tmp_path):
    world.keep(CONNECT, "src/net.py:4-5")
    with open_memories(str(world.root), environment={}) as memories:
        files.refresh_files(memories)
    world.record()
    world.write("src/net.py", CODE.replace("timeout=10", "timeout=20"))
    world.record()
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(world.root), str(clone)], check=True)

    with open_memories(str(clone), environment={}) as memories:
        (found,) = operations.verify_change(memories, "HEAD~1..HEAD")
    assert (found.corrected, found.location.state) == (CONNECT.replace("10", "20"), "changed")


@pytest.mark.parametrize("text", [CODE, CODE.replace("timeout=10", "timeout=20")])
def test_the_exit_code_and_the_json_tell_a_pipeline_what_to_do(world, monkeypatch, capsys, text):
    world.keep(CONNECT, "src/net.py:4-5")
    world.write("src/net.py", text)
    world.record()
    monkeypatch.chdir(world.root)
    monkeypatch.setattr(sys, "argv", ["ademem", "verify", "--diff", "HEAD~1..HEAD", "--json"])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    found = json.loads(capsys.readouterr().out)

    assert (stopped.value.code, found["count"]) == ((0, 0) if text == CODE else (1, 1))
    for each in found["anchors"]:
        assert each["missing"] == [
            {"kind": "constant", "name": "timeout", "old": "10", "new": "20"}
        ]
        assert each["corrected"] == CONNECT.replace("10", "20")


@given(
    lines=st.lists(st.sampled_from("abc"), max_size=12),
    change=st.tuples(st.integers(0, 12), st.integers(0, 4), st.lists(st.just("x"), max_size=4)),
    first=st.integers(1, 12),
    size=st.integers(0, 5),
)
def test_lines_beside_a_change_keep_their_text(lines, change, first, size):
    at, count, added = change
    at, count = min(at, len(lines)), min(count, max(0, len(lines) - at))
    last = first + size
    if last > len(lines) or not (count or added) or (first <= at + count and last > at):
        return
    after = [*lines[:at], *added, *lines[at + count :]]
    hunk = Hunk(first=at + 1 if count else at, count=count, new_first=at + 1, new_count=len(added))
    start, end = map_lines((first, last), [hunk])

    assert after[start - 1 : end] == lines[first - 1 : last]


def test_a_diff_without_files_is_empty():
    assert parse_diff(b"") == []

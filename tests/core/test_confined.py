"""Files below a folder: what is opened, what is refused, and that nothing outside is touched."""

import os
import stat
import subprocess
import sys

import pytest

from ademem.core import confined
from ademem.core.confined import Refused
from ademem.core.shared_files import is_held, locked

FILE = ".ade/memory/gotchas.md"
STRANGER = 4711
"""A user who owns neither this process nor the project."""


@pytest.fixture
def root(tmp_path):
    (tmp_path / "project").mkdir()
    return str(tmp_path / "project")


@pytest.fixture
def outside(tmp_path):
    """A folder that nothing may reach."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "gotchas.md").write_text("private")
    return folder


def place(root, path):
    whole = os.path.join(root, path)
    os.makedirs(os.path.dirname(whole), exist_ok=True)
    return whole


def link_to_file(root, outside):
    os.symlink(outside / "gotchas.md", place(root, FILE))


def dangling_link(root, outside):
    os.symlink(outside / "new.md", place(root, FILE))


def link_to_a_device(root, outside):
    os.symlink("/dev/zero", place(root, FILE))


def linked_parent(root, outside):
    os.symlink(outside, place(root, ".ade/memory"))


def linked_top(root, outside):
    (outside / "memory").mkdir()
    (outside / "memory" / "gotchas.md").write_text("private")
    os.symlink(outside, place(root, ".ade"))


def named_pipe(root, outside):
    os.mkfifo(place(root, FILE))


def socket_file(root, outside):
    os.mknod(place(root, FILE), 0o600 | stat.S_IFSOCK)


def device(root, outside):
    os.mknod(place(root, FILE), 0o666 | stat.S_IFCHR, os.makedev(1, 5))


def hard_link(root, outside):
    os.link(outside / "gotchas.md", place(root, FILE))


def folder(root, outside):
    os.makedirs(place(root, FILE))


def file_as_parent(root, outside):
    with open(place(root, ".ade/memory"), "w") as file:
        file.write("no folder")


def another_users(root, outside):
    with open(place(root, FILE), "w") as file:
        file.write("text")
    os.chown(file.name, STRANGER, -1)


def another_users_folder(root, outside):
    os.makedirs(place(root, ".ade/memory"))
    os.chown(os.path.join(root, ".ade/memory"), STRANGER, -1)


as_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root makes devices and gives files away"
)
HOSTILE = [
    pytest.param(link_to_file, "is a link", id="a link to a file"),
    pytest.param(dangling_link, "is a link", id="a link to nowhere"),
    pytest.param(link_to_a_device, "is a link", id="a link to /dev/zero"),
    pytest.param(linked_parent, "is a link", id="below a link to a folder"),
    pytest.param(linked_top, "is a link", id=".ade is a link"),
    pytest.param(named_pipe, "is a named pipe", id="a named pipe"),
    pytest.param(socket_file, "is a socket", id="a socket"),
    pytest.param(device, "is a device", id="a device", marks=as_root),
    pytest.param(hard_link, "has a second name (a hard link)", id="a hard link"),
    pytest.param(folder, "is a folder, not a file", id="a folder"),
    pytest.param(file_as_parent, "is a file, not a folder", id="below a file"),
    pytest.param(another_users, "belongs to another user", id="another user's file", marks=as_root),
    pytest.param(
        another_users_folder,
        "belongs to another user",
        id="in another user's folder",
        marks=as_root,
    ),
]

ACTS = [
    pytest.param(lambda root: confined.read_bytes(root, FILE), id="read"),
    pytest.param(lambda root: confined.open_file(root, FILE), id="open"),
    pytest.param(lambda root: confined.write_text(root, FILE, "new"), id="write"),
    pytest.param(lambda root: confined.append_line(root, FILE, "new", 9), id="append"),
    pytest.param(lambda root: confined.touch(root, FILE), id="touch"),
    pytest.param(lambda root: confined.remove(root, FILE), id="remove"),
    pytest.param(lambda root: confined.rename(root, FILE, "other.md"), id="rename"),
    pytest.param(lambda root: confined.check_database(os.path.join(root, FILE), root), id="check"),
]


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize(("make", "reason"), HOSTILE)
def test_what_is_no_regular_file_of_ours_is_refused_whatever_it_is_wanted_for(
    root, outside, make, reason, act
):
    make(root, outside)
    before = contents(outside)

    with pytest.raises(Refused) as refused:
        act(root)
    assert refused.value.reason == reason
    assert refused.value.path.startswith(os.path.join(root, ".ade"))
    assert contents(outside) == before


@pytest.mark.parametrize(("make", "reason"), HOSTILE)
def test_what_is_refused_is_listed_with_the_reason_and_the_rest_can_be_read(
    root, outside, make, reason
):
    make(root, outside)
    if not os.path.lexists(os.path.join(root, ".ade/config.toml")) and make is not linked_top:
        confined.write_text(root, ".ade/config.toml", "[guard]")
    found = confined.refusals(root, ".ade")

    assert [each.reason for each in found] == [reason]
    if make is not linked_top:
        assert confined.read_text(root, ".ade/config.toml") == "[guard]"


@pytest.mark.parametrize("make", [row.values[0] for row in HOSTILE if row.values[0] is not folder])
def test_a_lock_is_not_taken_on_what_is_refused(root, outside, make):
    make(root, outside)
    before = contents(outside)

    assert is_held(os.path.join(root, FILE), root=root) is False
    with pytest.raises(Refused), locked(os.path.join(root, FILE), root=root):
        pass
    assert contents(outside) == before


def test_files_are_listed_neither_through_a_link_nor_by_names_of_two_lines(root, outside):
    os.symlink(outside, place(root, ".ade/cto"))
    for name in ("b.md", "a.md", "two\nlines.md", "bell\a.md"):
        confined.write_text(root, f".ade/memory/{name}", "text")

    assert confined.names(root, ".ade/memory") == ["a.md", "b.md"]
    assert confined.names(root, ".ade/missing") == []
    with pytest.raises(Refused):
        confined.names(root, ".ade/cto")
    assert sorted(each.reason for each in confined.refusals(root, ".ade")) == [
        "has a name with control characters",
        "has a name with control characters",
        "is a link",
    ]


def test_a_refusal_is_one_printable_line_with_a_next_step(root):
    refused = Refused(f"{root}/.ade/two\nlines\x1b[0m.md", "is a link")

    assert str(refused).isprintable()
    assert str(refused).endswith("lines\\x1b[0m.md is a link; it is left alone")
    assert "ademem files check" in refused.hint


def test_a_file_comes_back_as_it_was_written(root):
    assert confined.read_text(root, FILE) is None
    assert confined.write_text(root, FILE, "one\r\ntwo") is True
    assert confined.read_text(root, FILE) == "one\r\ntwo"
    assert confined.read_text(root, os.path.join(root, FILE)) == "one\r\ntwo"
    assert os.listdir(os.path.join(root, ".ade/memory")) == ["gotchas.md"]


def test_what_a_file_says_already_is_not_written_again(root):
    confined.write_text(root, FILE, "same")
    before = os.stat(os.path.join(root, FILE))

    assert confined.write_text(root, FILE, "same") is False
    assert os.stat(os.path.join(root, FILE)).st_ino == before.st_ino


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
def test_a_file_keeps_its_mode(root, mode):
    confined.write_text(root, FILE, "one")
    os.chmod(os.path.join(root, FILE), mode)
    confined.write_text(root, FILE, "two")

    assert confined.status(root, FILE).st_mode & 0o777 == mode


def test_a_failure_leaves_the_old_file_and_nothing_else(root, monkeypatch):
    confined.write_text(root, FILE, "old")

    def broken(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", broken)

    with pytest.raises(OSError, match="no space"):
        confined.write_text(root, FILE, "new")
    assert confined.read_text(root, FILE) == "old"
    assert os.listdir(os.path.join(root, ".ade/memory")) == ["gotchas.md"]


@pytest.mark.parametrize(
    "path",
    ["../outside", ".ade/../../outside", ".ade//x", ".", "", ".ade/./x", "/etc/passwd", ".ade/\0"],
)
def test_a_path_that_leads_elsewhere_is_a_mistake_of_the_caller(root, path):
    with pytest.raises(ValueError, match="below"):
        confined.read_bytes(root, path)


def test_a_folder_whose_name_begins_like_the_root_is_not_below_it(root):
    with pytest.raises(ValueError, match="below"):
        confined.read_bytes(root, f"{root}-2/.ade/config.toml")


def test_a_file_beyond_its_bound_is_refused_and_can_be_read_in_parts(root):
    most = dict(confined.LIMITS)["config.toml"]
    confined.write_bytes(root, ".ade/config.toml", b"#" * (most + 1))

    with pytest.raises(Refused, match="bytes, more than 262,144"):
        confined.read_text(root, ".ade/config.toml")
    with confined.open_file(root, ".ade/config.toml") as file:
        assert file.read(3) == b"###"
    assert [each.path for each in confined.refusals(root, ".ade")] == [f"{root}/.ade/config.toml"]


def test_the_record_of_all_files_may_be_larger_than_each_of_them(root):
    largest = max(confined.limit_of(root, f".ade/memory/a.{kind}") for kind in ("jsonl", "md"))

    assert confined.limit_of(root, ".ade/run/agreed") > largest
    assert confined.limit_of(root, ".ade/run/other") < largest


def test_a_caller_can_set_a_bound_of_its_own(root):
    confined.write_text(root, FILE, "four")

    assert confined.read_bytes(root, FILE, limit=4) == b"four"
    with pytest.raises(Refused):
        confined.read_bytes(root, FILE, limit=3)


def test_bytes_that_are_no_text_raise_what_decoding_raises(root):
    confined.write_bytes(root, FILE, b"\xff\xfe")

    with pytest.raises(UnicodeDecodeError):
        confined.read_text(root, FILE)


@pytest.mark.parametrize(
    ("path", "removable"),
    [
        (".ade/run/clear/p1", True),
        (".ade/log/hooks.log.1", True),
        (".ade/memory/gotchas.md", True),
        (".ade/cto/daily/2026-03-01.md", True),
        (".ade/ade.db-wal", True),
        (".claude/skills/deploy/SKILL.md", True),
        (".ade/config.toml", False),
        (".ade/memory/letter.odt", False),
        (".ade/skills/deploy/run.sh", False),
        ("src/main.py", False),
    ],
)
def test_only_files_that_ademem_makes_are_deleted(root, path, removable):
    confined.write_text(root, path, "text")

    if removable:
        assert confined.remove(root, path) is True
        assert confined.remove(root, path) is False
    else:
        with pytest.raises(Refused, match="is not a file that ademem makes"):
            confined.remove(root, path)
        assert confined.exists(root, path)


def test_a_socket_that_a_process_left_is_removed(root):
    at = place(root, ".ade/run/warm.sock")
    os.mknod(at, 0o600 | stat.S_IFSOCK)

    assert confined.refusals(root, ".ade") == []
    assert confined.remove(root, ".ade/run/warm.sock") is True


def test_a_log_takes_one_line_each_and_starts_anew_beyond_its_bound(root):
    for number in range(9):
        confined.append_line(root, ".ade/log/x.log", f"line\n{number}", 20)
    kept = confined.read_text(root, ".ade/log/x.log.1") + confined.read_text(root, ".ade/log/x.log")

    assert kept.splitlines() == [f"line\\n{number}" for number in range(3, 9)]


def test_an_older_log_that_is_a_link_is_not_written_through(root, outside):
    place(root, ".ade/log/x.log")
    os.symlink(outside / "gotchas.md", os.path.join(root, ".ade/log/x.log.1"))
    confined.append_line(root, ".ade/log/x.log", "a line that is long enough", 9)

    with pytest.raises(Refused):
        confined.append_line(root, ".ade/log/x.log", "next", 9)
    assert (outside / "gotchas.md").read_text() == "private"


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_a_database_is_refused_for_each_file_that_sqlite_opens(root, outside, suffix):
    confined.write_text(root, ".ade/ade.db", "")
    database = os.path.join(root, ".ade/ade.db")
    confined.check_database(database)
    if not suffix:
        os.unlink(database)
    os.symlink(outside / "gotchas.md", database + suffix)

    with pytest.raises(Refused) as refused:
        confined.check_database(database)
    assert refused.value.path == database + suffix


def test_a_missing_database_is_no_fault(root):
    confined.check_database(os.path.join(root, ".ade/ade.db"))


def test_a_temporary_file_of_a_killed_process_is_removed_and_that_of_a_living_one_stays(root):
    died = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True
    )
    dead, alive = int(died.stdout), os.getppid()
    ours = [f"gotchas.md.{dead}-0a1b2c3d.tmp", f"ade.db.{dead}-0a1b2c3d.new", f"files.{dead}.tmp"]
    others = [f"gotchas.md.{alive}-0a1b2c3d.tmp", "notes.tmp", "gotchas.md", f"x.{dead}-ab.txt"]
    for name in ours + others:
        confined.write_text(root, f".ade/memory/{name}", "half")
    os.symlink(".ade", os.path.join(root, "linked"))

    confined.refusals(root, "linked", removes_stale=True)
    assert confined.names(root, ".ade/memory") == sorted(ours + others)
    confined.refusals(root, ".ade", removes_stale=True)
    assert confined.names(root, ".ade/memory") == sorted(others)


def test_a_write_goes_on_when_its_temporary_file_was_taken_for_a_dead_processes(root, monkeypatch):
    """In another container the process cannot be seen, and its file looks left behind."""
    real = os.replace
    times = []

    def replace_what_somebody_removed(old, new, **folders):
        if not times:
            os.unlink(old, dir_fd=folders.get("src_dir_fd"))
        times.append(1)
        real(old, new, **folders)

    monkeypatch.setattr(os, "replace", replace_what_somebody_removed)

    assert confined.write_text(root, FILE, "text") is True
    assert confined.read_text(root, FILE) == "text"
    assert len(times) == 2


def test_a_file_that_is_swapped_for_a_link_after_a_look_is_not_followed(root, outside, monkeypatch):
    """What counts is what was opened: between look and use there is no gap."""
    confined.write_text(root, FILE, "text")
    os.symlink(outside, os.path.join(root, ".ade/swapped"))
    real = os.open

    def swap_then_open(name, flags, mode=0o777, *, dir_fd=None):
        if name == "memory":  # `.ade` is open already
            os.rename(os.path.join(root, ".ade"), os.path.join(root, "moved"))
            os.symlink(outside, os.path.join(root, ".ade"))
        return real(name, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", swap_then_open)

    assert confined.read_text(root, FILE) == "text"

"""Links, pipes and the like below `.ade/`: nothing outside changes, and good files still work."""

import json
import os
import resource
import shutil
import stat
import sys

import pytest

from ademem.core.project import at
from ademem.doors import cli
from ademem.operations import doctor
from tests.examples import FULL, some
from tests.world import World

pytestmark = pytest.mark.slow

PRIVATE = "The spare skis of the newcomer stand behind the boiler"
GOOD = "Invoices are rounded half to even in billing"
LINE = {
    "key": "convention:good",
    "type": "convention",
    "content": GOOD,
    "source": "user",
    "tags": [],
    "ts": 1769774400,
    "bead": "",
    "id": "feedfacecafe",
    "category": "convention",
    "status": "promoted",
    "updated_at": "2026-01-30T12:00:00.000Z",
    "created_at": "2026-01-30T12:00:00.000Z",
}


@pytest.fixture
def outside(tmp_path):
    """What belongs to the person and to no project."""
    folder = tmp_path / "home"
    (folder / "old").mkdir(parents=True)
    for name in ("notes.md", "settings.json", "old/letter", "old/2020-01-01.md", "old/x.files"):
        (folder / name).write_text(f"# Notes\n\n- {PRIVATE}\n")
        os.utime(folder / name, (1_500_000_000, 1_500_000_000))
    return folder


def contents(folder):
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def put(path, make, home):
    """Put something hostile in the place of what may be there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        path.rename(home / f"old {path.name}")
    path.unlink(missing_ok=True)
    make(path, home)


def to(target):
    """A link; `~` is the folder of the person."""
    return lambda path, home: path.symlink_to(target.replace("~", str(home)))


def pipe(path, home):
    os.mkfifo(path)


def device(path, home):
    os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 5))


def socket(path, home):
    os.mknod(path, 0o666 | stat.S_IFSOCK)


def hard_link(path, home):
    os.link(home / "notes.md", path)


def folder(path, home):
    path.mkdir()


def text_file(path, home):
    path.write_text("no folder\n")


def another_users(path, home):
    path.write_text(f"- {PRIVATE}\n")
    os.chown(path, 4711, -1)


def huge(path, home):
    with path.open("wb") as file:
        file.truncate(5 << 30)


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
PLACES = [
    *("memory/conventions.md", "memory/gotchas.md", "memory/MEMORY.md", "memory/candidates.md"),
    *("config.toml", ".gitignore", ".gitattributes", "cto/core-memory.json", "cto/MEMORY.md"),
    *("run/files.seen", "run/agreed", "run/mirror.json", "run/mirror.lock"),
    *("run/work.lock", "run/skills.seen", "run/keys/words", "run/clear/p1", "log/hooks.log"),
    *("log/work.log", "skills/deploy.md", "agents/Explore/core-memory.json", "cto/CURRENT.md"),
    *("run/warm.sock", "run/warm.sock.lock", "run/lifecycle.lock", "run/daily.seen", "eval.jsonl"),
]
FOLDERS = ["memory", "run", "log", "cto", "cto/daily", "agents", "skills", "run/clear", "run/keys"]
ROWS = [
    *((place, to("~/notes.md"), "a link to a file") for place in PLACES),
    *((place, to("~/old"), "a link to a folder") for place in FOLDERS),
    *((place, text_file, "a file") for place in FOLDERS),
]
SET_ASIDE = [
    (place, make) for place, make, what in ROWS if place in ("run", "log") and "link" in what
]
"""What is renamed before the database is opened."""
ALL = [
    *((to("~/new"), "links to nowhere"), (to("/dev/zero"), "links to /dev/zero"), (pipe, "pipes")),
    *((hard_link, "hard links"), (folder, "folders"), (socket, "sockets"), (huge, "5 GB each")),
    *((device, "devices"), (another_users, "another user's")),
]
NEEDED = ("memory",)
"""Where something hostile keeps the lines from being read."""
EVENTS = (
    ("session_start", {"source": "startup"}),
    ("user_prompt_submit", {"prompt": "Fix how invoices are rounded", "prompt_id": "p1"}),
    (
        "pre_tool_use",
        {"tool_name": "Edit", "tool_input": {"file_path": "src/a.py"}, "prompt_id": "p1"},
    ),
    (
        "post_tool_use",
        {
            "tool_name": "Bash",
            "tool_input": {"command": 'bd comment B-1 "LEARNED: logs rotate at midnight in UTC"'},
            "tool_response": {"stdout": "", "stderr": "", "interrupted": False},
            "prompt_id": "p1",
        },
    ),
    (
        "post_tool_use_failure",
        {"tool_name": "Bash", "tool_input": {"command": "npm test"}, "error": "Exit code 1\nboom"},
    ),
    ("pre_compact", {"trigger": "auto"}),
    ("subagent_start", {"agent_id": "a1", "agent_type": "Explore"}),
    ("subagent_stop", {"agent_id": "a1", "agent_type": "Explore"}),
    ("stop", {"last_assistant_message": "done", "prompt_id": "p1"}),
    ("session_end", {"reason": "clear"}),
    ("session_start", {"source": "compact"}),
)
COMMANDS = (
    *(("files", "refresh"), ("files", "check"), ("work",), ("skills", "reindex"), ("sweep",)),
    *(("scrub",), ("status",), ("eval", "gate"), ("config", "list")),
)


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A clone with one good line, in which nothing has run yet."""
    (tmp_path / "project").mkdir()
    world = World(tmp_path / "project")
    shutil.rmtree(world.root / ".ade")
    lines = world.root / ".ade/memory/knowledge.jsonl"
    lines.parent.mkdir(parents=True)
    lines.write_text(json.dumps(LINE) + "\n")
    for name in [name for name in os.environ if name.startswith(("ADEMEM_", "CLAUDE"))]:
        monkeypatch.delenv(name)
    world.environment["ADEMEM_DATA_DIR"] = str(tmp_path / "data")
    for name, value in world.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(world.root)
    return world


@pytest.fixture
def ademem(monkeypatch, capsys):
    """Exit code and output of a command."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["ademem", *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        said = capsys.readouterr()
        return stopped.value.code, said.out + said.err

    return run


def live(world, ademem, turn):
    """Two sessions, the worker, and a person's commands; what was printed.

    In a full run the second session is whole and all commands are typed, else a third by *turn*.
    """
    said = [world.fire(event, **payload) for event, payload in EVENTS]
    said += [world.fire(event, **payload) for event, payload in (EVENTS if FULL else EVENTS[:2])]
    for command in COMMANDS if FULL else COMMANDS[turn % 3 :: 3]:
        code, printed = ademem(*command)
        assert code in (0, 1, 6), f"{' '.join(command)} ended with {code}: {printed}"
        said.append(printed)
    patient = doctor.Patient(
        project=at(str(world.root)), environment=world.environment, now=world.now
    )
    checks = [check for check in doctor.CHECKS if check is not doctor.model_is_sound]
    return said + [check(patient).message for check in checks]


def inside(world, *places):
    """What the project says by now, but for what is hostile in it."""
    return "".join(
        path.read_text("utf-8", "replace")
        for path in (world.root / ".ade").rglob("*")
        if path.is_file() and not path.is_symlink() and path.stat().st_nlink == 1
        if str(path.relative_to(world.root / ".ade")) not in places
        and path.stat().st_size < 1 << 20
    )


@pytest.mark.parametrize(
    ("turn", "place", "make"),
    [
        pytest.param(turn, place, make, id=f"{place} is {what}")
        for turn, (place, make, what) in some(enumerate(ROWS))
    ],
)
def test_one_hostile_file_reaches_nothing_outside_and_the_others_work(
    world, ademem, outside, turn, place, make
):
    put(world.root / ".ade" / place, make, outside)
    before = contents(outside)
    said = live(world, ademem, turn)

    assert contents(outside) == before
    assert (outside / "new").exists() is False
    assert PRIVATE not in "".join(said) + inside(world, place)
    if (place, make) in SET_ASIDE:
        assert (world.root / f".ade/ade.db.foreign-1-{place}").is_symlink()
    else:
        assert f".ade/{place}:1: is a " in ademem("files", "check")[1]
    if place not in NEEDED:
        assert GOOD in said[0]
        assert GOOD in ademem("recall", "invoices")[1]


@pytest.mark.parametrize(
    ("turn", "make"), [pytest.param(turn, make, id=what) for turn, (make, what) in enumerate(ALL)]
)
def test_hostile_files_in_every_place_reach_nothing_outside(world, ademem, outside, turn, make):
    if make in (device, another_users) and os.geteuid() != 0:
        pytest.skip("only root makes devices and gives files away")
    for place in PLACES:
        put(world.root / ".ade" / place, make, outside)
    before = contents(outside)
    said = live(world, ademem, turn)

    assert contents(outside) == before
    assert (outside / "new").exists() is False
    assert PRIVATE not in "".join(said) + inside(world, *PLACES)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 2 << 20  # nor does git read it


def test_where_ade_itself_is_a_link_the_person_is_informed_and_nothing_is_opened(
    world, ademem, outside
):
    (world.root / ".ade").rename(outside / "ade")
    (world.root / ".ade").symlink_to(outside / "ade")
    before = contents(outside)
    said = [world.fire(event, **payload) for event, payload in EVENTS]
    code, printed = ademem("recall", "invoices")

    assert json.loads(said[0]) == {
        "systemMessage": "◆ ademem left .ade alone: it is a link. See `ademem files check`"
    }
    assert said[1:-1] == [""] * (len(EVENTS) - 2)
    assert code == 6
    assert ".ade is a link; it is left alone" in printed
    assert ademem("files", "check")[0] == ademem("doctor")[0] == 1
    assert contents(outside) == before


def test_the_person_is_informed_in_one_line_once_a_session(world, outside):
    for place in PLACES[:3]:
        put(world.root / ".ade" / place, to("~/notes.md"), outside)
    first = json.loads(world.fire("session_start", source="startup"))
    again = json.loads(world.fire("session_start", source="compact"))
    (line, *_) = first["systemMessage"].splitlines()

    assert (
        line == "◆ ademem left MEMORY.md alone (and 2 more): it is a link. See `ademem files check`"
    )
    assert len(line) <= 120
    assert "alone" not in again.get("systemMessage", "")


def test_the_line_names_the_next_step_however_long_name_and_reason_are(world):
    memory = world.root / ".ade/memory"
    for number in range(3):
        with (memory / f"gotchas-{'of-the-old-parser-' * 3}{number}.md").open("wb") as file:
            file.truncate(400 << 30)
    first = json.loads(world.fire("session_start", source="startup"))
    (line, *_) = first["systemMessage"].splitlines()

    assert line.startswith("◆ ademem left gotchas-")
    assert "… alone (and 2 more): it is too large. " in line
    assert len(line) <= 102
    assert line.endswith(". See `ademem files check`")
    assert len(line) <= 120

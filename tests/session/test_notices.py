"""Lines that a session shows to the person."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from ademem.core.project import at
from ademem.operations import curation, files
from ademem.session import notices, user_prompt_submit
from ademem.sync import importer


@pytest.fixture
def world(world):
    del world.environment["ADEMEM_NOTICE_LEVEL"]
    return world


def shown(world, event="session_start", **payload):
    """Return the lines for the person."""
    printed = world.fire(event, **({"source": "startup"} | payload))
    return json.loads(printed).get("systemMessage", "").splitlines() if printed else []


def prompt(world, text):
    return shown(world, "user_prompt_submit", prompt=text, prompt_id=f"p{world.now.second}")


def test_a_session_begins_with_the_number_of_memories_and_of_those_that_wait(world):
    world.know("Deploys go through staging", "Errors are raised as AppError")
    world.know("Tokens expire in UTC", promoted=False)

    assert shown(world) == ["ademem: 2 memories, 1 waits for review (/ademem:review)"]


def test_a_project_without_memories_is_shown_how_to_store_one(world):
    assert shown(world) == ['ademem: no memories yet; "remember: …" in a prompt stores one']


def test_a_new_clone_in_the_middle_of_a_merge_says_that_its_files_wait(world):
    (world.root / ".git").mkdir(exist_ok=True)
    (world.root / ".git/MERGE_HEAD").write_text("0" * 40)

    (line,) = shown(world)
    assert line.endswith("files are read when git's merge or rebase is over")


def test_a_new_clone_with_large_files_says_that_their_import_waits(world):
    importer.hand_over(at(str(world.root)))

    *_, line = shown(world)
    assert line == "ademem: no memories until the files are imported"


def test_a_project_whose_memories_are_archived_is_shown_where_they_are(world):
    world.know("Deploys go through staging")
    with world.terminal() as memories:
        curation.archive(memories, world.live()[0].id)

    assert shown(world) == ["ademem: all memories are archived (`ademem list --status archived`)"]


@pytest.mark.parametrize("source", ["resume", "compact"])
def test_a_session_that_goes_on_shows_no_numbers(world, source):
    world.know("Deploys go through staging")

    assert shown(world, source=source) == []


def test_what_a_prompt_stores_is_named_with_the_way_to_undo_it(world):
    lines = prompt(world, "remember: deploys go through the staging branch")

    (memory,) = world.live()
    stored = "ademem: stored: deploys go through the staging branch"
    assert lines == [f"{stored} (undo: /ademem:review drop {memory.id})"]


def test_what_is_known_already_is_named_without_undo(world):
    world.know("deploys go through the staging branch")

    (line,) = prompt(world, "remember: deploys go through the staging branch")
    assert line.endswith("(stored already)")


def test_a_text_that_was_cut_is_shown_as_that(world):
    (line,) = prompt(world, f"remember: {'the ledger is in euro and ' * 99}")

    assert line.startswith("ademem: stored in part, as it is too long: the")
    assert "(undo: /ademem:review drop " in line


def test_a_dictated_text_that_is_refused_is_named_with_the_reason(world):
    (line,) = prompt(world, "remember: I fixed the login bug and ran the tests")

    assert line.startswith("ademem: not stored: it reads as a progress report")


def test_no_line_is_longer_than_a_row_of_the_terminal(world):
    lines = prompt(world, "\n".join(f"remember: rule {n} {'is long ' * 30}" for n in range(5)))

    assert [len(line) <= notices.CHARS for line in lines] == [True] * (notices.MOST_STORED + 1)
    assert lines[-1] == "ademem: and 2 more"


def test_quiet_shows_what_failed_and_no_routine(world):
    world.environment["ADEMEM_NOTICE_LEVEL"] = "quiet"

    assert shown(world) == []
    assert prompt(world, "remember: deploys go through staging") == []
    assert prompt(world, "remember: diff --git a/x b/x") != []


OFFER = ["ademem: this project has no memory yet; `! ademem init` starts one (shown once)"]


@pytest.fixture
def unenrolled(world):
    """A repository without `.ade/`, in an interactive client that has the plugin."""
    shutil.rmtree(world.root / ".ade")
    (world.root / ".git").mkdir()
    world.environment |= {"CLAUDE_PLUGIN_ROOT": "/plugin", "CLAUDE_CODE_ENTRYPOINT": "cli"}
    return world


def test_a_project_that_is_not_enrolled_is_offered_init_once(unenrolled):
    assert shown(unenrolled) == OFFER
    assert shown(unenrolled) == []


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, id="a program drives the client"),
        pytest.param({"CLAUDE_PLUGIN_ROOT": ""}, id="hooks of the settings"),
        pytest.param({"CLAUDE_PROJECT_DIR": "/"}, id="no repository"),
    ],
)
def test_init_is_not_offered_to(unenrolled, changes):
    unenrolled.environment |= changes

    assert shown(unenrolled) == []


def test_a_failed_hook_is_named_once_a_session(world, monkeypatch):
    monkeypatch.setattr(user_prompt_submit, "classify", None)

    first, second = (prompt(world, "fix the login") for _ in range(2))
    assert first == [
        "ademem: its hook user_prompt_submit failed (TypeError); `ademem doctor` shows why"
    ]
    assert second == []


def test_a_dictation_that_a_failed_hook_may_have_lost_is_named_each_time(world, monkeypatch):
    monkeypatch.setattr(user_prompt_submit, "dictations", None)

    for _ in range(2):
        (line,) = prompt(world, "remember: deploys go through staging")
        assert "failed (TypeError)" in line
        assert line.endswith("dictate it again, as it may not be stored")


def status_line(world, project=None):
    """Return what the script prints for the client's payload."""
    script = Path(__file__).parents[2] / "hooks/statusline.sh"
    payload = json.dumps({"workspace": {"project_dir": str(project or world.root)}})
    compact = payload.replace(": ", ":")
    done = subprocess.run([script], input=compact, capture_output=True, text=True, check=True)
    return done.stdout.rstrip("\n")


def test_the_status_line_follows_what_the_person_stores_and_decides(world):
    assert status_line(world) == ""
    world.know("Deploys go through staging")
    shown(world)
    assert status_line(world) == "ademem: 1 memory"
    prompt(world, "remember: tokens expire in UTC")
    assert status_line(world) == "ademem: 2 memories"
    subfolder = world.root / "src"
    subfolder.mkdir()
    assert status_line(world, subfolder) == "ademem: 2 memories"


@pytest.mark.parametrize(
    "written",
    [
        pytest.param("ademem: 1 memory\x1b]0;owned\x07\n", id="an escape sequence"),
        pytest.param("ademem: 1 memory\r\x1b[2Jroot# \n", id="a screen that is cleared"),
        pytest.param("ademem: 1 memory\x9b2J\n", id="an 8 bit escape"),
        pytest.param("ademem: 1 memory\nademem: 2 memories\n", id="two lines"),
        pytest.param("all is well\n", id="another line"),
        pytest.param("\0" * 300 + "\n", id="NULs"),
        pytest.param("", id="nothing"),
    ],
)
def test_a_status_that_a_clone_brought_is_not_shown_unless_it_is_such_a_line(world, written):
    (world.root / ".ade/run").mkdir(exist_ok=True)
    (world.root / ".ade/run/status").write_text(written)

    assert status_line(world) == ""


def test_a_huge_status_is_read_and_shown_in_part(world):
    (world.root / ".ade/run").mkdir(exist_ok=True)
    (world.root / ".ade/run/status").write_text("ademem: " + "1" * 50_000_000)

    assert len(status_line(world)) <= 200


def test_the_status_line_of_an_empty_project_is_shown(world):
    shown(world)

    assert status_line(world).startswith('ademem: no memories yet; "remember: ..."')


def test_a_status_line_that_came_as_a_link_is_not_read(world, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("a secret\n")
    (world.root / ".ade/run").mkdir(exist_ok=True)
    (world.root / ".ade/run/status").symlink_to(secret)

    assert status_line(world) == ""


def test_a_brief_that_cannot_be_read_is_named(world):
    world.know("Deploys go through staging")
    with world.memories() as memories:
        files.update_brief(memories, {"activeFocus": ["passkeys"]})
        files.refresh_files(memories)
    (world.root / ".ade/cto/core-memory.json").write_text("{bad")

    line, *_ = shown(world, session_id="s1")
    assert line.startswith("ademem: not imported: .ade/cto/core-memory.json: Expecting property")


def test_a_conflict_in_the_files_is_named_once(world):
    world.know("Deploys go through staging")
    with world.memories() as memories:
        files.refresh_files(memories)
    page = world.root / ".ade/memory/conventions.md"
    page.write_text(page.read_text() + "\n<<<<<<< HEAD\n- Tokens expire\n=======\n>>>>>>> x\n")

    first, *_ = shown(world, session_id="s1")
    assert first.startswith(
        "ademem: not imported: .ade/memory/conventions.md:7: a conflict of a git"
    )
    assert first.endswith("(`ademem files check`)")
    assert shown(world, session_id="s2") == ["ademem: 1 memory"]

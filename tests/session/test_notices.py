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
from tests.builders import memory


@pytest.fixture
def world(world):
    del world.environment["ADEMEM_NOTICE_LEVEL"]
    return world


def shown(world, event="session_start", **payload):
    """Return the lines for the person."""
    printed = world.fire(event, **({"source": "startup"} | payload))
    line = json.loads(printed).get("systemMessage", "") if printed else ""
    assert line == "" or line.startswith("◆ ademem")
    assert len(line) <= 100
    return line.removeprefix("◆ ").splitlines()


def prompt(world, text):
    return shown(world, "user_prompt_submit", prompt=text, prompt_id=f"p{world.now.second}")


def test_a_session_begins_with_the_number_of_memories_and_of_those_that_wait(world):
    world.know("Deploys go through staging", "Errors are raised as AppError")
    world.know("Tokens expire in UTC", promoted=False)

    assert shown(world) == ["ademem: 3 memories · 1 waits (/ademem:review)"]


def test_a_project_without_memories_is_shown_how_to_store_one(world):
    assert shown(world) == ['ademem: no memories yet · say "remember: …" to keep one']


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("- Use tabs in Makefiles\n- Never edit `a.py`\n", "CLAUDE.md has 2 rules (/ademem:adopt)"),
        ("# Notes\n", 'say "remember: …" to keep one'),
    ],
)
def test_a_project_without_memories_is_shown_the_rules_that_it_has(world, text, line):
    (world.root / "CLAUDE.md").write_text(text)

    assert shown(world) == [f"ademem: no memories yet · {line}"]


def test_the_rules_are_those_of_the_first_file_that_has_any(world):
    (world.root / "CLAUDE.md").write_text("# Notes\n")
    (world.root / "AGENTS.md").write_text("- Use tabs in Makefiles\n")

    assert shown(world) == ["ademem: no memories yet · AGENTS.md has 1 rule (/ademem:adopt)"]


def test_a_new_clone_in_the_middle_of_a_merge_says_that_its_files_wait(world):
    (world.root / ".git").mkdir(exist_ok=True)
    (world.root / ".git/MERGE_HEAD").write_text("0" * 40)

    (line,) = shown(world)
    assert line.endswith("files are read when git's merge or rebase is over")


def test_a_new_clone_with_large_files_says_that_their_import_waits(world):
    importer.hand_over(at(str(world.root)))

    (line,) = shown(world)
    assert line.startswith("ademem: `ademem work` imports what is new in .ade/memory")


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

    stored = "ademem kept: deploys go through the staging branch"
    assert lines == [f"{stored} · at any deploy (undo: /ademem:undo)"]


def test_what_is_known_already_is_named_without_undo(world):
    world.know("deploys go through the staging branch")

    (line,) = prompt(world, "remember: deploys go through the staging branch")
    assert line.endswith("(kept already)")


def test_a_text_that_was_cut_is_shown_as_that(world):
    (line,) = prompt(world, f"remember: {'the ledger is in euro and ' * 99}")

    assert line.startswith("ademem kept in part, as it is too long: the")
    assert line.endswith(" (undo: /ademem:undo)")


def test_a_dictated_text_that_is_refused_is_named_with_the_reason(world):
    (line,) = prompt(world, "remember: I fixed the login bug and ran the tests")

    assert line.startswith("ademem: not stored: it reads as a progress report")


def test_one_line_a_prompt_counts_what_it_stores(world):
    (line,) = prompt(world, "\n".join(f"remember: rule {n} {'is long ' * 30}" for n in range(5)))

    assert line.startswith("ademem kept: rule 0 is long")
    assert line.endswith(" (+4) (undo: /ademem:undo)")


def test_a_refusal_comes_first_and_what_was_kept_at_the_next_prompt(world):
    dictated = "remember: I fixed the login bug and ran the tests\nremember: the ledger is in euro"
    first, second, third = prompt(world, dictated), prompt(world, "go on"), prompt(world, "go on")

    assert first[0].startswith("ademem: not stored: it")
    assert second[0].startswith("ademem kept: the ledger is in euro")
    assert third == []


LONG = "Invoices are rounded half to even for each line, never on the total, " * 3


def test_the_first_45_characters_of_a_line_tell_what_it_is_about(world):
    about = [memory(LONG), memory("Another one")]
    with world.memories() as memories:
        lines = [
            *notices.describe_given(about, memories),
            *notices.describe_told(about, "git push --force origin main", memories),
            *notices.describe_turn([], about, memories),
            *notices.describe_turn(["npm install left-pad " * 9], about, memories),
        ]
    lines += prompt(world, f"remember: {LONG}")

    assert max(len(f"◆ {line}") for line in lines) <= 100
    assert [f"◆ {line}"[:45] for line in lines] == [
        "◆ ademem gave Claude: Invoices are rounded ha",
        "◆ ademem told Claude before git push --force ",
        "◆ ademem noted 2: Invoices are rounded half t",
        "◆ ademem prevented npm install left-pad npm i",
        "◆ ademem kept: Invoices are rounded half to e",
    ]


def test_quiet_shows_what_failed_and_no_routine(world):
    world.environment["ADEMEM_NOTICE_LEVEL"] = "quiet"

    assert shown(world) == []
    assert prompt(world, "remember: deploys go through staging") == []
    assert prompt(world, "remember: diff --git a/x b/x") != []


def call(world, command, tool_use_id, session="s1"):
    """Return the lines and the reason of a denial of a shell command."""
    tool = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": tool_use_id}
    printed = world.fire("pre_tool_use", **tool, session_id=session, prompt_id="p1")
    found = json.loads(printed) if printed else {}
    reason = found.get("hookSpecificOutput", {}).get("permissionDecisionReason", "")
    return found.get("systemMessage", ""), reason


def test_a_denial_begins_with_the_memory_and_whose_it_is_and_has_no_line(world):
    prompt(world, "remember: Use pnpm, never `npm install`")
    world.fire("user_prompt_submit", prompt="add left-pad", prompt_id="p1", session_id="s1")

    line, reason = call(world, "npm install left-pad", "t1")
    first, second = reason.splitlines()
    assert line == ""
    assert first.startswith("Use pnpm, never `npm install` (project memory, said by you on ")
    assert first.endswith(").")
    assert len(first) <= 160
    assert second.startswith("Bound to npm, yarn, bun, cnpm. Follow it; if it does not apply")


def test_a_long_rule_is_cut_at_a_sentence_in_the_first_line_and_follows_whole(world):
    rule = f"Use pnpm, never `npm install`. {'It keeps one copy of each package. ' * 8}"
    prompt(world, f"remember: {rule}")
    world.fire("user_prompt_submit", prompt="add left-pad", prompt_id="p1", session_id="s1")

    _, reason = call(world, "npm install left-pad", "t1")
    first, _, *rest = reason.splitlines()
    assert first.startswith("Use pnpm, never `npm install`. It keeps one copy of each package. ")
    assert "package. … (project memory, said by you on " in first
    assert len(first) <= 160
    assert any(rule.strip() in line for line in rest)


def test_a_turn_ends_with_what_was_prevented_and_the_next_session_begins_with_it(world):
    shown(world, session_id="s1")
    prompt(world, "remember: Use pnpm, never `npm install`")
    world.fire("user_prompt_submit", prompt="add left-pad", prompt_id="p1", session_id="s1")
    call(world, "npm install left-pad", "t1")
    call(world, "pnpm add left-pad", "t2")

    ended = shown(world, "stop", session_id="s1", prompt_id="p1", last_assistant_message="done")
    assert ended == ["ademem prevented npm install left-pad"]
    assert shown(world, session_id="s2") == ["ademem: 1 memory · last session prevented 1"]


def test_what_is_said_beside_a_call_is_named(world):
    world.know("The routes of src/gen.py are sorted by hand", category="gotcha")
    prompt(world, "fix the login")

    edit = {"file_path": str(world.root / "src/gen.py"), "old_string": "a", "new_string": "b"}
    tool = {"tool_name": "Edit", "tool_input": edit, "tool_use_id": "t1"}
    (line,) = shown(world, "pre_tool_use", prompt_id="p1", **tool)
    assert (
        line
        == "ademem told Claude before Edit src/gen.py: The routes of src/gen.py are sorted by hand"
    )


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
        assert line.endswith("; dictate it again (`ademem doctor`)")


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
    assert status_line(world) == "◆ 1 memory"
    prompt(world, "remember: tokens expire in UTC")
    assert status_line(world) == "◆ 2 memories"
    subfolder = world.root / "src"
    subfolder.mkdir()
    assert status_line(world, subfolder) == "◆ 2 memories"


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

    assert status_line(world).startswith("◆ no memories yet")


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


def test_a_choice_of_a_program_is_a_rule_without_a_word_that_says_so(world):
    prompt(world, "remember: use pnpm, not npm")
    world.fire("user_prompt_submit", prompt="add left-pad", prompt_id="p1", session_id="s1")

    _, reason = call(world, "npm install left-pad", "t1")
    assert reason.startswith("use pnpm, not npm (project memory, said by you on ")
    assert call(world, "pnpm add left-pad", "t2") == ("", "")

"""What the shell line of a hook notes for the next hook, and what that hook does with it."""

import json
from types import SimpleNamespace

import pytest

from ademem.core import failure_log, project
from ademem.files.texts import FilesChanged
from ademem.session import session_start, shell_notes, user_prompt_submit
from ademem.sync import mirror
from tests.session.test_consulting import BY_PERSON, Session
from tests.session.test_instruction_files import Files

NEW = {"AI_AGENT": "claude-code_2-1-332_agent"}
RULE = "Never edit `src/gen/api.py`; it is made by a script"
WALRUS = "The walrus release is cut on Thursdays"


@pytest.fixture
def files(world):
    world.environment |= {"CLAUDE_CODE_ENTRYPOINT": "cli"} | NEW
    return Files(world)


@pytest.fixture
def session(world, files):
    return Session(world)


def note_change(world):
    (world.root / ".ade/run/changed").touch()


def test_a_changed_instruction_file_is_in_force_at_the_next_call(world, files, session):
    files.write(".cursorrules", "- Something else about `docs/a.md`, which must stay\n")
    files.adopt(yes=True)
    session.ask("Go on", "p1")
    files.write(".cursorrules", f"- {RULE}\n")
    files.commit()
    assert session.write("src/gen/api.py") == ""
    note_change(world)

    assert RULE in session.write("src/gen/api.py")
    assert session.denied
    assert not (world.root / ".ade/run/changed").exists()


def test_a_changed_memory_file_is_in_force_at_the_next_prompt(world, files, session):
    world.know(WALRUS, **BY_PERSON)
    with world.terminal() as memories:
        mirror.refresh(memories)
    path = world.root / ".ade/memory/conventions.md"
    text = path.read_text().replace("on Thursdays", "on Mondays")
    session.ask("Please tidy the parser of the ships", "p1")
    path.write_text(text)
    note_change(world)

    assert "on Mondays" in session.ask("When is the walrus release cut?", "p2")


def test_a_failed_import_takes_away_neither_the_guard_nor_a_dictation(world, session, monkeypatch):
    world.know(RULE, **BY_PERSON)
    session.ask("Go on", "p1")

    def import_changes(*_):
        raise FilesChanged("facts.md")

    monkeypatch.setattr(session_start, "import_changes", import_changes)
    note_change(world)
    assert RULE in session.write("src/gen/api.py")
    note_change(world)
    session.ask(f"remember: {WALRUS}", "p2")

    assert WALRUS in [memory.content for memory in world.live()]
    logged = failure_log.recent(project.at(str(world.root)), world.environment)
    assert ["was changed while it was read" in each["error"] for each in logged] == [True, True]


def test_the_client_is_asked_to_watch_these_files_and_at_a_change_of_folder_again(world, files):
    files.write(".cursorrules", f"- {RULE}\n")
    files.adopt()
    start = json.loads(world.fire("session_start", source="startup"))["hookSpecificOutput"]
    moved = json.loads(world.fire("cwd_changed"))["hookSpecificOutput"]
    inside = [path.removeprefix(f"{world.root}/") for path in start["watchPaths"]]

    assert {".ade/memory", ".git/HEAD", ".cursorrules"} <= set(inside)
    assert moved == {"hookEventName": "CwdChanged", "watchPaths": start["watchPaths"]}


@pytest.mark.parametrize(
    "client",
    [
        pytest.param({"AI_AGENT": "claude-code_2-1-197_agent"}, id="older"),
        pytest.param({"AI_AGENT": ""}, id="unknown"),
        pytest.param({"CLAUDE_PLUGIN_ROOT": "/plugin"}, id="hooks of a plugin"),
    ],
)
def test_no_other_client_is(world, files, client):
    world.environment |= client
    files.write(".claude/skills/owl/SKILL.md", "---\nname: owl\n---\nHoot.\n")

    assert "watchPaths" not in world.fire("session_start", source="startup")
    assert world.fire("cwd_changed") == ""


def test_skills_that_changed_are_read_again(world, files):
    def reloads(session):
        said = world.fire("session_start", source="startup", session_id=session)
        return json.loads(said)["hookSpecificOutput"].get("reloadSkills", False)

    files.write(".claude/skills/owl/SKILL.md", "---\nname: owl\n---\nHoot.\n")
    assert reloads("s1")
    world.work()

    assert not reloads("s2")


def test_a_file_that_the_client_loaded_is_not_said_until_a_compaction(world, files, session):
    files.write(".cursorrules", f"- {RULE}\n")
    files.adopt()
    session.ask("Go on", "p1")
    loaded = world.root / ".ade/run/loaded"
    loaded.mkdir()
    line = json.dumps({"file_path": str(world.root / ".cursorrules"), "load_reason": "include"})
    (loaded / "s1").write_text(f"no JSON\n{'[' * 50_000}\n{line}\n")

    assert session.write("src/gen/api.py") == ""
    world.fire("session_start", source="compact")
    assert RULE in session.write("src/gen/api.py")


def test_of_two_answers_that_of_the_folder_in_which_the_session_works_is_shown(world, session):
    for name in ("web", "api"):
        (world.root / name).mkdir()
        (world.root / name / "conf.py").write_text("x = 1\n")
        world.know(f"Zebra timeouts are set in {name}/conf.py", **BY_PERSON)
    world.work()
    shown = [
        world.context(
            "user_prompt_submit",
            prompt="Where are zebra timeouts set?",
            prompt_id=name,
            session_id=name,
            cwd=str(world.root / name),
        )
        for name in ("web", "api")
    ]

    assert ["web/conf.py" in shown[0], "api/conf.py" in shown[1]] == [True, True]
    assert ["api/conf.py" in shown[0], "web/conf.py" in shown[1]] == [False, False]


@pytest.fixture
def late(world, session, monkeypatch):
    """A turn whose search took longer than its hook may, and the process that then answers."""
    world.know(WALRUS)
    (found,) = world.live()
    session.ask("Please tidy the parser of the ships", "p1")
    key = SimpleNamespace(prompt_id="p1")
    with world.terminal() as memories:
        shell_notes.note_late(key, memories)
    monkeypatch.setattr(user_prompt_submit, "rank_by_meaning", lambda *_: [(found, 1.0, 9.0)])
    return session


def recall_late(world):
    return world.fire("late_recall", prompt_id="p1", tool_name="Bash", tool_input={})


def test_what_took_too_long_at_the_prompt_is_recalled_once_beside_a_call(world, late):
    said = recall_late(world)

    assert WALRUS in said
    assert said.startswith("Project memory on this")
    assert recall_late(world) == ""


def test_nothing_is_recalled_late_for_a_turn_that_ended(world, late):
    world.fire("stop", prompt_id="p1", last_assistant_message="Done.")

    assert recall_late(world) == ""

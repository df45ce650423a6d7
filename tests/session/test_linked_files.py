"""What a session is told, and not told, of texts that the client's own memory has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ademem.core import client_memory
from ademem.core.actor import OTHER_CLIENT
from ademem.core.memory import Draft
from ademem.operations import curation, writing
from ademem.session import linked_files
from ademem.store import transitions
from tests.claude_memory import DEPLOY, FLAGS, Client, fact

QUESTION = "Where do feature flags live?"


@pytest.fixture
def claude(tmp_path):
    return Client(tmp_path)


def confirmed(claude, text=FLAGS, **changes):
    """A file of the client, and its memory, which a person confirmed."""
    claude.write("flags.md", fact(text, **changes))
    claude.confirm(text)
    return claude.find(text)


def test_a_linked_text_is_neither_briefed_nor_shown_with_a_prompt(claude):
    confirmed(claude)
    claude.world.know(DEPLOY)

    assert FLAGS not in claude.start()
    assert DEPLOY in claude.start(session_id="s2")
    assert FLAGS not in claude.prompt(QUESTION, "p2")
    assert FLAGS not in claude.prompt("edit config/flags.toml: where do feature flags live?", "p3")


def test_a_copy_is_not_briefed(claude):
    claude.prompt(f"remember: {FLAGS}")
    claude.write("flags.md", fact("Flags are in the toml file"))

    assert FLAGS not in claude.start(session_id="s2")


def test_what_its_file_says_otherwise_is_briefed(claude):
    found = confirmed(claude)
    claude.write("flags.md", fact("Feature flags are gone"), prompt="p2")
    assert FLAGS in claude.start(session_id="s2")
    claude.write("flags.md", fact(FLAGS), prompt="p2")
    assert FLAGS not in claude.start(session_id="s3")
    with claude.world.terminal() as memories:
        curation.edit(memories, found.id, content=DEPLOY)

    assert DEPLOY in claude.start(session_id="s4")


def test_a_proposal_that_the_person_took_is_what_the_file_says(claude):
    found = confirmed(claude)
    text = "Feature flags are in the database"
    claude.write("flags.md", fact(text), prompt="p2")
    with claude.world.terminal() as memories:
        curation.promote(memories, claude.find(text).id)
        transitions.supersede(found.id, curation.act(memories), claude.find(text).id)

    assert "the person" not in claude.prompt("go on", "p3")
    assert text not in claude.start(session_id="s2")

    claude.write("flags.md", fact("Feature flags are gone"), prompt="p4")
    claude.write("flags.md", fact("Feature flags are gone for good"), prompt="p5")

    assert set(claude.live()) == {text, "Feature flags are gone for good"}
    assert text in claude.start(session_id="s3")


def test_a_copy_of_a_turn_that_read_a_page_hides_nothing(claude):
    claude.prompt(f"remember: {FLAGS}")
    page = {"tool_name": "WebFetch", "tool_input": {"url": "https://a.test"}}
    claude.world.fire("post_tool_use", prompt_id="p1", **page)
    claude.write("flags.md", fact("Feature flags are gone"))

    assert FLAGS in claude.start(session_id="s2")
    assert set(claude.live()) == {FLAGS}


@pytest.mark.parametrize("kind", ["project", "user"])
def test_it_is_told_again_once_the_client_has_it_no_longer(claude, kind):
    confirmed(claude, kind=kind)
    world = claude.world
    world.environment["CLAUDE_CODE_DISABLE_AUTO_MEMORY"] = "1"
    assert FLAGS in claude.start(session_id="s2")
    assert FLAGS in claude.prompt(QUESTION, "p2", session_id="s3")
    del world.environment["CLAUDE_CODE_DISABLE_AUTO_MEMORY"]
    assert FLAGS not in claude.start(session_id="s4")
    (claude.folder / "flags.md").unlink()

    assert FLAGS in claude.start(session_id="s5")


def test_another_agents_client_has_none_of_it(claude):
    found = confirmed(claude)
    with claude.world.terminal() as memories:
        curation.edit(memories, found.id, content=f"{FLAGS} at all")

    assert FLAGS in claude.start(session_id="s2", by=OTHER_CLIENT)
    assert "says otherwise" not in claude.prompt("go on", "p2", by=OTHER_CLIENT)


def test_a_subagent_is_told_what_the_main_thread_has(claude):
    confirmed(claude)
    agent = {"agent_id": "a1", "agent_type": "reviewer"}

    assert FLAGS in claude.world.context("subagent_start", **agent)

    claude.folder = Path(claude.world.root) / ".claude/agent-memory/reviewer"
    claude.write("deploy.md", fact(DEPLOY), **agent)
    claude.confirm(DEPLOY)

    assert DEPLOY not in claude.world.context("subagent_start", **agent | {"agent_id": "a2"})


def edit_call(claude, **payload):
    return claude.world.fire(
        "pre_tool_use",
        prompt_id="p2",
        tool_name="Edit",
        tool_input={"file_path": f"{claude.world.root}/config/flags.toml", "new_string": "a = 1"},
        tool_use_id="t99",
        **payload,
    )


def transcript(claude, *rows):
    path = claude.world.root.parent / "transcript.jsonl"
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    return str(path)


def test_a_confirmed_text_is_said_at_its_file(claude):
    confirmed(claude, how="edit `config/flags.toml`")
    claude.prompt("go on", "p2")

    assert FLAGS in edit_call(claude)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        pytest.param([], False, id="read"),
        pytest.param([{"subtype": "compact_boundary"}], True, id="before a compaction"),
    ],
)
def test_it_is_not_said_where_its_file_was_read(claude, after, expected):
    confirmed(claude, how="edit `config/flags.toml`")
    claude.prompt("go on", "p2")
    call = {"name": "Read", "input": {"file_path": str(claude.folder / "flags.md")}}
    row = {"type": "assistant", "uuid": "u1", "message": {"content": [call]}}
    path = transcript(claude, row, *after)

    assert (FLAGS in edit_call(claude, transcript_path=path)) is expected


def test_a_reading_by_a_subagent_is_none_of_the_main_thread(claude):
    confirmed(claude, how="edit `config/flags.toml`")
    claude.prompt("go on", "p2")
    call = {"input": {"file_path": str(claude.folder / "flags.md")}}
    path = transcript(claude, {"isSidechain": True, "message": {"content": [call]}})

    assert FLAGS in edit_call(claude, transcript_path=path)


def test_what_nobody_confirmed_is_not_said_at_a_call(claude):
    claude.write("flags.md", fact(FLAGS, how="edit `config/flags.toml`"))
    claude.prompt("go on", "p2")

    assert FLAGS not in edit_call(claude)


def test_the_next_prompt_of_each_session_says_once_what_the_person_changed(claude):
    found = confirmed(claude)
    assert "says otherwise" not in claude.prompt("go on", "p2")
    with claude.world.terminal() as memories:
        curation.edit(memories, found.id, content="Feature flags live in the database")
    line = f"ademem: the person changed {found.id}; your file flags.md says otherwise; correct it"

    assert line in claude.prompt("go on", "p3")
    assert line not in claude.prompt("and on", "p4")
    assert line in claude.prompt("go on", "p5", session_id="s2")

    claude.write("flags.md", fact("Flags are in the database now"), prompt="p5")

    assert "says otherwise" not in claude.prompt("go on", "p6", session_id="s3")
    assert set(claude.live()) == {"Feature flags live in the database"}


@pytest.mark.parametrize("kind", ["project", "user"])
def test_the_next_prompt_says_what_the_person_dropped(claude, kind):
    claude.write("flags.md", fact(FLAGS, kind))
    (found,) = claude.live().values()
    with claude.world.terminal() as memories:
        curation.reject(memories, found.id)
    line = f"ademem: the person dropped {found.id}; your file flags.md says otherwise; correct it"

    assert line in claude.prompt("go on", "p3")

    claude.reconcile()

    assert claude.live() == {}

    (claude.folder / "flags.md").unlink()
    claude.reconcile()

    assert "says otherwise" not in claude.prompt("go on", "p6", session_id="s3")


def test_the_next_prompt_says_what_the_person_deleted_for_good(claude):
    found = confirmed(claude)
    with claude.world.terminal() as memories:
        curation.delete(memories, found.id, hard=True)

    assert f"the person dropped {found.id}; your file flags.md" in claude.prompt("go on", "p3")
    assert "the person dropped" not in claude.prompt("and on", "p4")


def test_the_end_of_a_turn_names_once_what_claude_noted_for_itself(claude):
    claude.world.environment["ADEMEM_NOTICE_LEVEL"] = "normal"
    claude.prompt("tidy up", "p1")
    claude.write("flags.md", fact(FLAGS))
    claude.write("me.md", fact(DEPLOY, "user"))
    said = claude.world.fire("stop", prompt_id="p1", last_assistant_message="done")
    again = claude.world.fire("stop", prompt_id="p1", last_assistant_message="done")
    line = json.loads(said)["systemMessage"]

    assert line.startswith("◆ ademem noted 2: Feature flags live in flags.toml")
    assert line.endswith(" (/ademem:keep or /ademem:drop)")
    assert len(line) <= 100
    assert again == ""


@pytest.mark.parametrize(
    ("command", "expected"),
    [("/ademem:keep", {"promoted"}), ("/ademem:drop", {"archived"})],
    ids=["keep", "drop"],
)
def test_a_person_decides_about_what_the_line_named(claude, command, expected):
    claude.world.environment["ADEMEM_NOTICE_LEVEL"] = "normal"
    claude.prompt("tidy up", "p1")
    claude.write("flags.md", fact(FLAGS))
    claude.write("me.md", fact(DEPLOY, "user"))
    claude.world.fire("stop", prompt_id="p1", last_assistant_message="done")
    claude.world.fire("user_prompt_submit", prompt=command, prompt_id="p2")

    assert {claude.all()[text].status for text in (FLAGS, DEPLOY)} == expected


def test_a_turn_without_a_note_ends_in_silence(claude):
    claude.world.environment["ADEMEM_NOTICE_LEVEL"] = "normal"
    claude.prompt(f"remember: {FLAGS}", "p1")
    claude.write("flags.md", fact("Flags are in the toml file"))

    assert claude.world.fire("stop", prompt_id="p1", last_assistant_message="done") == ""


def test_the_review_names_the_file_and_what_is_gone(claude):
    for at in range(7):
        claude.put(f"f{at}.md", fact(f"{FLAGS} number {at}"))
    claude.reconcile()
    for at in range(5):
        (claude.folder / f"f{at}.md").unlink()
    claude.reconcile()
    said = json.loads(
        claude.world.fire("user_prompt_submit", prompt="/ademem:review", prompt_id="p9")
    )["reason"]

    assert "5 files of Claude's own memory" in said
    assert "client file f6.md, " in said
    with claude.world.memories() as memories:
        assert linked_files.describe_missing(memories)


def test_what_nobody_confirmed_is_in_no_file(claude):
    world = claude.world
    (Path(world.root) / ".ade/config.toml").write_text("[mirror]\ncandidates = true\n")
    claude.write("flags.md", fact(FLAGS))
    with world.memories() as memories:
        writing.write(memories, Draft(content=DEPLOY, category="convention"))
    world.work()
    written = "".join(
        path.read_text() for path in (Path(world.root) / ".ade").rglob("*.md") if path.is_file()
    )

    assert DEPLOY in written
    assert FLAGS not in written
    assert not claude.find(FLAGS).shareable


def test_a_folder_of_another_project_is_none_of_ours(claude, tmp_path):
    other = Path(client_memory.slug(str(tmp_path / "other")))
    claude.folder = claude.main.parent.parent / other / "memory"
    claude.write("flags.md", fact(FLAGS))

    assert claude.live() == {}

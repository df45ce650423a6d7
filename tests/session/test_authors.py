"""Whose edit it is when a file of memory changed: the person's, or that of the agent at work."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from ademem import api
from ademem.core.clock import stamp
from ademem.core.memory import Draft, Origin, Trust
from ademem.core.value import replace
from ademem.store import transitions
from ademem.store.transitions import Act

GOTCHAS = ".ade/memory/gotchas.md"
SHEET = ".ade/memory/candidates.md"
LINES = ".ade/memory/knowledge.jsonl"
BRIEF = ".ade/cto/core-memory.json"
TEXT = "Caches are cleared on Mondays"
WEB = {"tool_name": "WebFetch", "tool_input": {"url": "https://x.example"}, "tool_use_id": "w1"}
PERSON = Origin(trust=Trust.USER, source_type="user")


class Client:
    """A session whose transcript says what it ran, by the clock that files are dated with."""

    def __init__(self, world, folder):
        self.world = world
        self.transcript = folder / "s1.jsonl"
        self.transcript.write_text("")
        world.now = datetime.now(UTC) - timedelta(minutes=5)
        self.begin("s1")

    def begin(self, session):
        self.world.fire(
            "session_start",
            source="startup",
            session_id=session,
            transcript_path=str(self.transcript),
        )
        with self.world.memories() as memories:
            api.refresh_files(memories)

    def ask(self, prompt="Tidy up the notes", session="s1"):
        self.world.fire("user_prompt_submit", prompt=prompt, prompt_id="p1", session_id=session)

    def run(self, command, at=None):
        """A shell command that the transcript alone tells of, as in a turn that needs no guard."""
        block = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": command}}
        row = {
            "type": "assistant",
            "timestamp": stamp(at or self.world.now),
            "message": {"content": [block]},
        }
        with self.transcript.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def edit(self, path, session="s1", tool="Edit"):
        """What the client says before a tool writes the file."""
        call = {"tool_name": tool, "tool_input": {"file_path": str(self.world.root / path)}}
        self.world.fire(
            "pre_tool_use", **call, tool_use_id="e1", prompt_id="p1", session_id=session
        )

    def stop(self):
        self.world.fire("stop", prompt_id="p1")

    def next(self):
        """The next session takes over what the files say."""
        self.world.now = datetime.now(UTC) + timedelta(minutes=1)
        self.world.fire("session_start", source="startup", session_id="s2")
        with self.world.memories() as memories:
            return {row.content: row for row in api.list_memories(memories)}


@pytest.fixture
def client(world, tmp_path):
    return Client(world, tmp_path)


def add(world, text=TEXT, path=GOTCHAS):
    page = world.root / path
    before = page.read_text() if page.exists() else ""
    page.write_text(f"{before}\n- {text}\n")


def test_an_edit_outside_of_every_turn_is_the_persons(world, client):
    client.ask()
    client.run("sed -i s/a/b/ .ade/memory/gotchas.md")
    world.now = datetime.now(UTC) - timedelta(seconds=1)
    client.stop()
    add(world)

    row = client.next()[TEXT]
    assert (row.trust, row.status) == ("user", "promoted")


def test_an_edit_while_the_agent_only_reads_is_the_persons(world, client):
    client.ask()
    client.run("rg cache | head")
    add(world)

    assert client.next()[TEXT].trust == "user"


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("sed -i s/a/b/ .ade/memory/gotchas.md", id="names the file"),
        pytest.param("python tidy.py", id="may change any file"),
        pytest.param("cd .a*e/m* && echo '- x' >> g*.md", id="hides the name"),
    ],
)
def test_an_edit_after_a_command_that_may_change_files_is_the_agents(world, client, command):
    client.ask()
    client.run(command)
    add(world)

    row = client.next()[TEXT]
    assert (row.trust, row.status) == ("agent", "candidate")


def test_a_command_after_the_edit_did_not_make_it(world, client):
    client.ask()
    add(world)
    client.run("python tidy.py", at=datetime.now(UTC) + timedelta(seconds=30))

    assert client.next()[TEXT].trust == "user"


@pytest.mark.parametrize("tool", ["Edit", "Write", "MultiEdit"])
def test_a_tool_call_that_names_the_file_is_enough(world, client, tool):
    client.ask()
    client.edit(GOTCHAS, tool=tool)
    add(world)

    row = client.next()[TEXT]
    assert (row.trust, row.status) == ("agent", "candidate")


def test_a_tool_call_that_names_another_file_is_not(world, client):
    client.ask()
    client.edit("src/app.py")
    add(world)

    assert client.next()[TEXT].trust == "user"


def test_an_edit_has_the_taint_of_its_turn(world, client):
    client.ask()
    world.fire("post_tool_use", **WEB, prompt_id="p1")
    client.edit(GOTCHAS)
    add(world)

    assert client.next()[TEXT].trust == "web"


def test_a_session_whose_transcript_is_gone_may_have_done_it(world, client):
    client.ask()
    client.transcript.unlink()
    add(world)

    assert client.next()[TEXT].trust == "agent"


def test_what_an_agent_writes_into_the_lines_waits(world, client):
    client.ask()
    client.edit(LINES)
    line = {"content": TEXT, "status": "promoted", "pinned": True, "category": "gotcha"}
    named = {"id": "abc", "sync_id": "abc", "key": "k", "updated_at": stamp(world.now)}
    (world.root / LINES).write_text(json.dumps(line | named) + "\n")

    row = client.next()[TEXT]
    assert (row.trust, row.status, row.pinned) == ("agent", "candidate", False)


FRIDAYS = "Caches are cleared on Fridays"
AGENT = Origin(trust=Trust.AGENT, source_type="mcp")


def by_person(memories):
    return api.write(memories, confirmed(FRIDAYS)).memory


def by_agent_and_person(memories):
    memory = api.write(memories, replace(confirmed(FRIDAYS), promoted=False, origin=AGENT)).memory
    return transitions.promote(memory.id, Act(store=memories.store, now=memories.clock()))


def by_agent(memories):
    return api.write(memories, replace(confirmed(FRIDAYS), origin=AGENT)).memory


@pytest.mark.parametrize("path", [GOTCHAS, LINES])
@pytest.mark.parametrize("write", [by_person, by_agent_and_person])
def test_an_agents_edit_of_what_a_person_said_or_confirmed_is_a_candidate(
    world, client, write, path
):
    with world.memories() as memories:
        memory = write(memories)
        api.refresh_files(memories)
    client.ask()
    client.edit(path)
    page = world.root / path
    page.write_text(page.read_text().replace("Fridays", "Mondays"))

    found = client.next()
    assert (found[TEXT].trust, found[TEXT].status) == ("agent", "candidate")
    assert (found[FRIDAYS].id, found[FRIDAYS].status) == (memory.id, "promoted")
    with world.memories() as memories:
        (pair,) = api.list_conflicts(memories)
        api.refresh_files(memories)
        assert api.refresh_files(memories).taken.count == 0
    assert {pair.left, pair.right} == {memory.id, found[TEXT].id}
    assert FRIDAYS in page.read_text()
    assert TEXT not in page.read_text()


def test_an_agents_edit_of_an_agents_memory_is_its_own_word(world, client):
    with world.memories() as memories:
        memory = by_agent(memories)
        api.refresh_files(memories)
    client.ask()
    client.edit(GOTCHAS)
    page = world.root / GOTCHAS
    page.write_text(page.read_text().replace("Fridays", "Mondays"))

    row = client.next()[TEXT]
    assert (row.id, row.trust) == (memory.id, "agent")
    with world.memories() as memories:
        assert api.list_revisions(memories, row.id)[-1]["actor"] == "agent"


def confirmed(text, **fields):
    return Draft(content=text, category="gotcha", promoted=True, origin=PERSON, **fields)


def test_a_box_that_an_agent_ticks_confirms_nothing(world, client):
    world.environment["ADEMEM_MIRROR_CANDIDATES"] = "true"
    client.ask()
    world.fire("stop", last_assistant_message=f"## Key learnings\n\n1. {TEXT} here.")
    with world.memories() as memories:
        api.refresh_files(memories)
    sheet = world.root / SHEET
    client.ask()
    client.edit(SHEET)
    sheet.write_text(sheet.read_text().replace("- [ ] Caches", "- [x] Caches"))

    assert client.next()[f"{TEXT} here."].status == "candidate"
    with world.memories() as memories:
        taken = api.refresh_files(memories).taken
    assert [row.status for row in world.live()] == ["candidate"]
    assert taken.promoted == ()
    assert "- [ ] Caches" in sheet.read_text()


def test_an_entry_that_an_agent_deletes_is_archived_by_the_agent(world, client):
    with world.memories() as memories:
        memory = api.write(memories, confirmed(TEXT)).memory
        api.refresh_files(memories)
    client.ask()
    client.edit(GOTCHAS)
    (world.root / GOTCHAS).write_text("# Gotchas\n")

    assert TEXT not in client.next()
    with world.memories() as memories:
        last = api.list_revisions(memories, memory.id)[-1]
    assert (last["operation"], last["actor"]) == ("archive", "agent")


def test_a_brief_that_an_agent_edits_says_so(world, client):
    with world.memories() as memories:
        api.update_brief(memories, {"notes": ["Releases are cut on Fridays"]})
        api.refresh_files(memories)
    client.ask()
    client.edit(BRIEF)
    path = world.root / BRIEF
    path.write_text(path.read_text().replace("Fridays", "Mondays"))
    client.next()

    with world.memories() as memories:
        shown = api.get_brief(memories, labelled=True).notes
    assert shown != ("Releases are cut on Mondays",)
    assert "Releases are cut on Mondays" in shown[0]

"""Whose edit it is when a file of memory changed: the person's, or that of the agent at work."""

from __future__ import annotations

import json
import shlex
from datetime import UTC, datetime, timedelta

import pytest

from ademem.core.clock import stamp
from ademem.core.memory import Draft, Origin, Trust
from ademem.core.value import replace
from ademem.operations import curation, files, searching, writing
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
            files.refresh_files(memories)

    def ask(self, prompt="Tidy up the notes", session="s1"):
        self.world.fire("user_prompt_submit", prompt=prompt, prompt_id="p1", session_id=session)

    def run(self, command, at=None, *, ends=True):
        """A shell command that the transcript alone tells of, as in a turn that needs no guard."""
        at = stamp(at or self.world.now)
        block = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": command}}
        row = {"type": "assistant", "timestamp": at, "message": {"content": [block]}}
        with self.transcript.open("a") as file:
            file.write(json.dumps(row) + "\n")
        if ends:
            self.end(at)

    def end(self, at=None):
        """The result of the command."""
        block = {"type": "tool_result", "tool_use_id": "t1", "content": "done"}
        at = at or stamp(self.world.now)
        row = {"type": "user", "timestamp": at, "message": {"content": [block]}}
        with self.transcript.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def call(self, command, **given):
        """What the client says before it runs a command."""
        call = {"tool_name": "Bash", "tool_input": {"command": command} | given}
        self.world.fire("pre_tool_use", **call, tool_use_id="t1", prompt_id="p1")

    def edit(self, path, session="s1", tool="Edit"):
        """What the client says before a tool writes the file."""
        call = {"tool_name": tool, "tool_input": {"file_path": str(self.world.root / path)}}
        self.world.fire(
            "pre_tool_use", **call, tool_use_id="e1", prompt_id="p1", session_id=session
        )

    def stop(self):
        self.world.fire("stop", prompt_id="p1")

    def notice(self):
        """The next session takes over what the files say; returns what the person reads."""
        self.world.now = datetime.now(UTC) + timedelta(minutes=1)
        return self.world.notice(session_id="s2")

    def next(self):
        self.notice()
        with self.world.memories() as memories:
            return {row.content: row for row in searching.list_memories(memories)}


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


def test_a_tool_of_another_server_that_names_the_file_is_enough(world, client):
    client.ask()
    given = {"path": str(world.root / GOTCHAS), "content": "x"}
    call = {"tool_name": "mcp__files__write_file", "tool_input": given}
    world.fire("pre_tool_use", **call, tool_use_id="e1", prompt_id="p1")
    add(world)

    row = client.next()[TEXT]
    assert (row.trust, row.status) == ("agent", "candidate")


def test_a_tool_of_another_server_that_reads_the_file_is_not(world, client):
    client.ask()
    call = {"tool_name": "mcp__files__read_file", "tool_input": {"path": GOTCHAS}}
    world.fire("pre_tool_use", **call, tool_use_id="e1", prompt_id="p1")
    add(world)

    assert client.next()[TEXT].trust == "user"


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


@pytest.mark.parametrize("event", ["stop", "session_end"])
@pytest.mark.parametrize("is_told", [True, False], ids=["told before", "in the transcript alone"])
def test_no_event_within_a_command_makes_its_later_edit_the_persons(world, client, event, is_told):
    client.ask()
    command = "sh forge.sh && echo '- x' >> .ade/memory/gotchas.md"
    if is_told:
        client.call(command)
    client.run(command, ends=False)
    world.now += timedelta(seconds=1)
    world.fire(event, prompt_id="p1", reason="other")
    with world.memories() as memories:
        files.refresh_files(memories)
    world.now += timedelta(seconds=1)
    add(world)
    client.end()

    row = client.next()[TEXT]
    assert (row.trust, row.status) == ("agent", "candidate")


@pytest.mark.parametrize(
    ("command", "given"),
    [
        pytest.param("(sleep 90; echo '- x' >> .ade/memory/gotchas.md) &", {}, id="&"),
        pytest.param("sleep 90; echo '- x' >> .ade/memory/gotchas.md", {}, id="setsid"),
        pytest.param(
            "sleep 90; echo '- x' >> .ade/memory/gotchas.md",
            {"run_in_background": True},
            id="in the background",
        ),
    ],
)
def test_an_edit_after_the_turn_by_what_it_started_is_the_agents(world, client, command, given):
    client.ask()
    if not given and "&" not in command:
        command = f"setsid -f sh -c {shlex.quote(command)}"
    client.call(command, **given)
    client.run(command)
    world.now = datetime.now(UTC) - timedelta(seconds=2)
    client.stop()
    with world.memories() as memories:
        files.refresh_files(memories)
    add(world)

    row = client.next()[TEXT]
    assert (row.trust, row.status) == ("agent", "candidate")


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
    return writing.write(memories, confirmed(FRIDAYS)).memory


def by_agent_and_person(memories):
    memory = writing.write(
        memories, replace(confirmed(FRIDAYS), promoted=False, origin=AGENT)
    ).memory
    return transitions.promote(memory.id, Act(store=memories.store, now=memories.clock()))


def by_agent(memories):
    return writing.write(memories, replace(confirmed(FRIDAYS), origin=AGENT)).memory


@pytest.mark.parametrize("path", [GOTCHAS, LINES])
@pytest.mark.parametrize("write", [by_person, by_agent_and_person])
def test_an_agents_edit_of_what_a_person_said_or_confirmed_is_a_candidate(
    world, client, write, path
):
    with world.memories() as memories:
        memory = write(memories)
        files.refresh_files(memories)
    client.ask()
    client.edit(path)
    page = world.root / path
    page.write_text(page.read_text().replace("Fridays", "Mondays"))

    said, found = client.notice(), {row.content: row for row in world.live()}
    waits = f"{found[TEXT].id} waits beside {memory.id}, as an agent was"
    assert said == f"ademem: not imported: {waits}… (`ademem review`)"
    assert (found[TEXT].trust, found[TEXT].status) == ("agent", "candidate")
    assert (found[FRIDAYS].id, found[FRIDAYS].status) == (memory.id, "promoted")
    with world.memories() as memories:
        (pair,) = curation.list_conflicts(memories)
        files.refresh_files(memories)
        assert files.refresh_files(memories).taken.count == 0
    assert {pair.left, pair.right} == {memory.id, found[TEXT].id}
    assert FRIDAYS in page.read_text()
    assert TEXT not in page.read_text()


def test_an_agents_edit_of_an_agents_memory_is_its_own_word(world, client):
    with world.memories() as memories:
        memory = by_agent(memories)
        files.refresh_files(memories)
    client.ask()
    client.edit(GOTCHAS)
    page = world.root / GOTCHAS
    page.write_text(page.read_text().replace("Fridays", "Mondays"))

    row = client.next()[TEXT]
    assert (row.id, row.trust) == (memory.id, "agent")
    with world.memories() as memories:
        assert curation.list_revisions(memories, row.id)[-1]["actor"] == "agent"


def confirmed(text, **fields):
    return Draft(content=text, category="gotcha", promoted=True, origin=PERSON, **fields)


def test_a_box_that_an_agent_ticks_confirms_nothing(world, client):
    world.environment["ADEMEM_MIRROR_CANDIDATES"] = "true"
    client.ask()
    world.fire("stop", last_assistant_message=f"## Key learnings\n\n1. {TEXT} here.")
    with world.memories() as memories:
        files.refresh_files(memories)
    sheet = world.root / SHEET
    client.ask()
    client.edit(SHEET)
    sheet.write_text(sheet.read_text().replace("- [ ] Caches", "- [x] Caches"))

    assert client.next()[f"{TEXT} here."].status == "candidate"
    with world.memories() as memories:
        taken = files.refresh_files(memories).taken
    assert [row.status for row in world.live()] == ["candidate"]
    assert taken.promoted == ()
    assert "- [ ] Caches" in sheet.read_text()


def test_an_entry_that_an_agent_deletes_is_archived_by_the_agent(world, client):
    with world.memories() as memories:
        memory = by_agent(memories)
        files.refresh_files(memories)
    client.ask()
    client.edit(GOTCHAS)
    (world.root / GOTCHAS).write_text("# Gotchas\n")

    assert FRIDAYS not in client.next()
    with world.memories() as memories:
        last = curation.list_revisions(memories, memory.id)[-1]
    assert (last["operation"], last["actor"]) == ("archive", "agent")


def line_with(**changes):
    def change(_page, lines):
        lines.write_text(json.dumps(json.loads(lines.read_text()) | changes) + "\n")

    return change


def line_of_another_store(**changes):
    """Changes the line as a store does that writes later, of a memory that is not shown."""

    def change(page, lines):
        without_entry(page, lines)
        line = json.loads(lines.read_text())
        later = stamp(datetime.now(UTC) + timedelta(minutes=5))
        line |= {"status": "archived", "updated_at": later, "stamps": {"0000-1a2b3c4d": []}}
        lines.write_text("")
        archive = lines.with_name("knowledge.archive.jsonl")
        archive.write_text(json.dumps(line | changes) + "\n")

    return change


def without_entry(page, _lines):
    page.write_text("# Gotchas\n")


def without_entry_and_line(page, lines):
    page.write_text("# Gotchas\n")
    lines.write_text("")


def in_another_page(page, _lines):
    page.with_name("decisions.md").write_text(f"# Decisions\n\n{page.read_text()[11:]}")
    page.write_text("# Gotchas\n")


def with_a_tag(page, _lines):
    page.write_text(f"{page.read_text()}  - tags: stop\n")


@pytest.mark.parametrize(
    ("change", "verb"),
    [
        pytest.param(without_entry, "archive", id="entry deleted"),
        pytest.param(without_entry_and_line, "archive", id="entry and line deleted"),
        pytest.param(in_another_page, "edit", id="entry moved"),
        pytest.param(with_a_tag, "edit", id="entry tagged"),
        pytest.param(line_of_another_store(life="archived"), "archive", id="line archived"),
        pytest.param(line_of_another_store(life="deleted"), "archive", id="line deleted"),
        pytest.param(
            line_of_another_store(life="removed", content=""), "delete --hard", id="line removed"
        ),
        pytest.param(line_with(status="candidate"), "edit", id="line demoted"),
        pytest.param(line_with(category="fact"), "edit", id="line of another category"),
        pytest.param(line_with(tags=["stop"], path="docs/**"), "edit", id="line tagged and tied"),
    ],
)
@pytest.mark.parametrize("write", [by_person, by_agent_and_person])
def test_no_other_change_of_an_agent_in_the_files_touches_what_a_person_confirmed(
    world, client, write, change, verb
):
    with world.memories() as memories:
        before = write(memories)
        files.refresh_files(memories)
        page, lines = world.root / GOTCHAS, world.root / LINES
        texts = page.read_text(), lines.read_text()
    client.ask()
    client.run("python tidy.py")
    change(page, lines)
    said = client.notice()

    with world.memories() as memories:
        after = searching.get(memories, before.id)
        assert (after.live, after.status, after.category) == (True, "promoted", "gotcha")
        assert (after.tags, after.file_scope_pattern) == (before.tags, None)
        files.refresh_files(memories)
        assert (page.read_text(), lines.read_text()) == texts
    assert said.startswith(f"ademem: not imported: {before.id} stays, as")
    assert said.endswith(f"(`ademem {verb} {before.id}`)")


def entry_again(page, _lines, texts):
    page.write_text(texts[0])


def line_again(_page, lines, texts):
    later = stamp(datetime.now(UTC) + timedelta(minutes=5))
    line = json.loads(texts[1])
    replaced = [f"{line['updated_at']}-{writer}" for writer in line["stamps"]]
    written = {"updated_at": later, "stamps": {"0000-1a2b3c4d": [], "over": replaced}}
    lines.write_text(json.dumps(line | written) + "\n")


@pytest.mark.parametrize("change", [entry_again, line_again])
def test_what_a_person_archived_no_agent_brings_back_in_the_files(world, client, change):
    page, lines = world.root / GOTCHAS, world.root / LINES
    with world.memories() as memories:
        memory = by_agent_and_person(memories)
        files.refresh_files(memories)
        texts = page.read_text(), lines.read_text()
    with world.terminal() as memories:
        curation.archive(memories, memory.id)
        files.refresh_files(memories)
    client.ask()
    client.run("python tidy.py")
    change(page, lines, texts)

    assert f"(`ademem restore {memory.id}`)" in client.notice()
    assert world.live() == []


@pytest.mark.parametrize("text", [FRIDAYS, TEXT])
@pytest.mark.parametrize("write", [by_person, by_agent_and_person])
def test_what_aged_an_agent_brings_back_in_the_files_as_it_was(world, client, write, text):
    page, lines = world.root / GOTCHAS, world.root / LINES
    with world.memories() as memories:
        memory = write(memories)
        files.refresh_files(memories)
        texts = page.read_text(), lines.read_text().replace(FRIDAYS, text)
        act = Act(store=memories.store, now=memories.clock(), actor="ademem")
        transitions.archive(memory.id, act)
        files.refresh_files(memories)
    client.ask()
    client.run("python tidy.py")
    line_again(page, lines, texts)
    said = client.notice()

    assert [row.content for row in world.live()] == ([FRIDAYS] if text == FRIDAYS else [])
    assert (f"(`ademem restore {memory.id}`)" in said) is (text != FRIDAYS)


def test_a_persons_candidate_that_an_agent_takes_off_the_sheet_still_waits(world, client):
    world.environment["ADEMEM_MIRROR_CANDIDATES"] = "true"
    origin = replace(PERSON, source_type="prompt")
    with world.memories() as memories:
        draft = replace(confirmed(FRIDAYS), promoted=False, origin=origin)
        memory = writing.write(memories, draft).memory
        files.refresh_files(memories)
    client.ask()
    client.run("python tidy.py")
    (world.root / SHEET).write_text("# Candidates\n")

    assert f"(`ademem reject {memory.id}`)" in client.notice()
    assert [row.status for row in world.live()] == ["candidate"]


@pytest.mark.parametrize("change", [without_entry, without_entry_and_line, in_another_page])
def test_what_a_person_does_in_the_files_between_turns_counts(world, client, change):
    with world.memories() as memories:
        before = by_person(memories)
        files.refresh_files(memories)
    change(world.root / GOTCHAS, world.root / LINES)
    client.next()

    with world.memories() as memories:
        after = searching.get(memories, before.id)
    assert (after.live, after.category) == (change is in_another_page, after.category)
    assert after.category == ("decision" if change is in_another_page else "gotcha")


def test_a_brief_that_an_agent_edits_says_so(world, client):
    with world.memories() as memories:
        files.update_brief(memories, {"notes": ["Releases are cut on Fridays"]})
        files.refresh_files(memories)
    client.ask()
    client.edit(BRIEF)
    path = world.root / BRIEF
    path.write_text(path.read_text().replace("Fridays", "Mondays"))
    client.next()

    with world.memories() as memories:
        shown = files.get_brief(memories, labelled=True).notes
    assert shown != ("Releases are cut on Mondays",)
    assert "Releases are cut on Mondays" in shown[0]

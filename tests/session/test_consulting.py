"""The default mode of the guard as the client meets it: prompts and tool calls in order."""

import json
from pathlib import Path

import pytest

from ademem.core.memory import Origin, Trust
from ademem.operations import curation, placing, searching
from ademem.search import tree
from tests.repositories import Repository

BY_PERSON = {"origin": Origin(trust=Trust.USER, source_type="user")}
RULE, FACT = "Use pnpm, never npm", "Login sessions expire after ten minutes"
AGENT = {"agent_id": "a1", "agent_type": "Explore"}


class Session:
    """A turn in which the model calls tools, and reads results between its messages."""

    def __init__(self, world):
        self.world, self.prompt_id, self.calls = world, "", 0

    def ask(self, prompt, prompt_id):
        self.prompt_id = prompt_id
        return self.world.context("user_prompt_submit", prompt=prompt, prompt_id=prompt_id)

    def call(self, tool, tool_input, **more):
        """What the model reads of the guard: a denial, or context; empty for neither."""
        self.calls += 1
        call = {"tool_name": tool, "tool_input": tool_input, "tool_use_id": f"t{self.calls}"}
        said = self.world.fire("pre_tool_use", prompt_id=self.prompt_id, **(call | more))
        output = json.loads(said)["hookSpecificOutput"] if said else {}
        self.denied = output.get("permissionDecision") == "deny"
        return output.get("permissionDecisionReason") or output.get("additionalContext") or ""

    def run(self, command, **more):
        return self.call("Bash", {"command": command}, **more)

    def write(self, path, **more):
        return self.call("Write", {"file_path": str(self.world.root / path)}, **more)

    def read(self, **more):
        """End the message: the model reads the results of its calls."""
        self.world.fire("post_tool_batch", prompt_id=self.prompt_id, tool_calls=[], **more)

    def tries(self, command, **more):
        """Run a command twice, each in a message of its own; was it denied?"""
        outcomes = []
        for _ in range(2):
            self.run(command, **more)
            outcomes.append(self.denied)
            self.read(**more)
        return outcomes


@pytest.fixture
def session(world):
    world.know(RULE, **BY_PERSON)
    world.know(FACT)
    turn = Session(world)
    turn.ask("Install left-pad", "p1")
    return turn


def decisions(world, kind):
    return world.row("select count(*) from decision_log where decision = ?", kind)[0]


def test_a_rule_stops_its_command_once_and_is_in_the_denial(session, world):
    denial = session.run("npm install left-pad")

    assert session.denied
    assert RULE in denial
    session.read()
    assert session.run("npm install left-pad") == ""
    assert session.run("npm install right-pad") == ""
    assert decisions(world, "deny") == 1


def test_a_denied_turn_asks_python_about_each_call_until_one_is_made_instead(session, world):
    flag = world.root / ".ade/run/clear/p1"
    assert flag.exists()
    session.run("npm install left-pad")
    assert not flag.exists()
    session.run("ls -la")
    session.read()
    assert not flag.exists()
    session.run("pnpm add left-pad")

    assert flag.exists()
    row = world.row("select outcome, call, instead from recall_log where place = 'guard'")
    assert tuple(row) == ("", "npm install left-pad", "pnpm add left-pad")
    world.fire("stop", prompt_id="p1", last_assistant_message="Done.")
    assert world.row("select outcome from recall_log where place = 'guard'")[0] == "prevented"


@pytest.mark.parametrize("by_person", [False, True], ids=["named", "chosen"])
def test_a_place_that_was_overruled_three_times_stops_no_more_unless_a_person_chose_it(
    session, world, by_person
):
    if by_person:
        with world.terminal() as memories:
            (rule,) = (row for row in searching.list_memories(memories) if row.content == RULE)
            choice = placing.Choice(id=rule.id, at=("`npm install`",))
            placing.place(memories, choice)
    stopped = []
    for number in range(2, 7):
        session.ask("Install left-pad", f"p{number}")
        world.fire("session_start", source="compact")
        stopped.append(session.tries("npm install left-pad")[0])

    assert stopped == [True, True, True, by_person, by_person]


def test_the_way_that_the_rule_asks_for_is_free(session):
    assert session.run("pnpm add left-pad") == ""


def test_two_calls_in_one_message_are_denied_and_count_once(session, world):
    first, second = session.run("npm install a"), session.run("npm install b")

    assert (RULE in first, RULE in second) == (True, False)
    assert session.denied
    session.read()
    assert session.run("npm install b") == ""
    assert (decisions(world, "deny"), decisions(world, "hold")) == (1, 1)


def test_a_rule_on_edits_spares_a_new_file_and_stops_the_edit_of_an_old_one(session, world):
    rule = "A migration that shipped stays as it is; add another"
    world.know(rule, anchors=("@ migrations/*.sql on edit",), **BY_PERSON)
    old = world.root / "migrations/0006.sql"
    old.parent.mkdir()
    old.touch()

    assert session.write("migrations/0007.sql") == ""
    assert session.run("echo x > migrations/0007.sql") == ""
    assert rule in session.write("migrations/0006.sql")
    assert session.denied


@pytest.mark.parametrize(
    "command",
    [
        "sed -i s/a/b/ migrations/0006.sql",
        "cat > migrations/0006.sql <<'EOF'\nx\nEOF",
        "cd migrations && rm 0006.sql",
        "cp draft.sql migrations/0006.sql",
    ],
)
@pytest.mark.parametrize("path", ["migrations/*.sql", None])
def test_a_file_that_the_shell_changes_is_ruled_like_one_of_a_writing_tool(
    session, world, command, path
):
    rule = "migrations/0006.sql shipped and is never edited; add another"
    world.know(rule, **({"path": path} if path else {}), **BY_PERSON)
    (world.root / "migrations").mkdir()
    (world.root / "migrations/0006.sql").touch()

    assert session.tries(command) == [True, False]
    assert session.run(f"{command} && sed -i s/c/d/ migrations/0007.sql") == ""


def test_each_file_that_one_program_changes_is_looked_up(session, world):
    rule = "Never edit src/api.py by hand"
    world.know(rule, **BY_PERSON)
    session.run("sed -i s/a/b/ src/other.py")

    assert rule in session.run("sed -i s/a/b/ src/api.py")


def test_a_briefing_does_not_count_as_said_and_an_earlier_turn_does(session, world):
    world.fire("session_start", source="startup")
    assert session.tries("npm install") == [True, False]

    session.ask("yes, go on", "p2")
    assert session.tries("npm ci") == [False, False]


def test_a_marked_rule_stops_again_in_every_turn(session, world):
    world.know("Lock files are made by the bot", anchors=("@ *.lock",), tags=("stop",), **BY_PERSON)
    (world.root / "a.lock").touch()
    assert session.tries("rm a.lock") == [True, False]

    session.ask("yes, go on", "p2")
    assert session.tries("rm a.lock") == [True, False]


def test_a_prompt_that_showed_the_rule_is_this_turn(session):
    assert RULE in session.ask("Should I use npm or pnpm?", "p2")

    assert session.run("npm install") == ""


def test_after_a_compaction_in_the_turn_the_rule_stops_again(session, world):
    assert session.tries("npm install") == [True, False]
    world.fire("session_start", source="compact")

    assert session.tries("npm install") == [True, False]


def test_after_a_compaction_denials_are_counted_anew(session, world):
    world.know("Never use yarn", **BY_PERSON)
    assert session.tries("npm install") == [True, False]
    assert session.tries("yarn add left-pad") == [True, False]
    world.fire("session_start", source="compact")

    assert session.tries("yarn add left-pad") == [True, False]


def test_a_subagent_is_a_context_of_its_own(session, world):
    world.fire("subagent_start", prompt_id="p1", **AGENT)

    assert session.tries("npm install", **AGENT) == [True, False]
    assert session.tries("npm install") == [True, False]


def test_a_compacted_subagent_is_briefed_and_stopped_again_and_the_session_is_not(session, world):
    world.fire("subagent_start", prompt_id="p1", **AGENT)
    assert session.tries("npm install") == [True, False]
    assert session.tries("npm install", **AGENT) == [True, False]
    world.now = world.now.replace(minute=world.now.minute + 1)
    summary = world.fire("pre_compact", trigger="auto", **AGENT)
    compaction = {"source": "compact", **AGENT}
    briefing, twin = (world.context("session_start", **compaction) for _ in range(2))

    assert "Open task" not in summary
    assert RULE in briefing
    assert twin == ""
    assert session.tries("npm install", **AGENT) == [True, False]
    assert session.tries("npm install") == [False, False]


def test_a_compaction_that_older_clients_ascribe_to_no_agent_counts_for_those_that_run(
    session, world
):
    world.fire("subagent_start", prompt_id="p1", **AGENT)
    assert session.tries("npm install", **AGENT) == [True, False]
    world.fire("session_start", source="compact")

    assert session.tries("npm install", **AGENT) == [True, False]


def test_a_search_counts_for_the_context_that_ran_it(session, world):
    world.fire("subagent_start", prompt_id="p1", **AGENT)
    with world.memories() as memories:
        assert searching.recall(memories, "pnpm npm").hits
    call = {"tool_name": "Bash", "tool_input": {"command": "ademem recall 'pnpm npm'"}}
    world.fire("post_tool_use", prompt_id="p1", tool_response={}, **call, **AGENT)

    assert session.run("npm install", **AGENT) == ""
    assert session.tries("npm install") == [True, False]


def test_a_denial_that_nobody_ended_counts_as_read_after_a_while_or_at_the_next_prompt(session):
    assert session.run("npm install")
    session.world.now = session.world.now.replace(minute=session.world.now.minute + 1)
    assert session.run("npm install") == ""


def test_the_twin_of_a_double_installation_denies_alike_and_counts_once(session, world):
    said = [session.run("npm install", tool_use_id="same") for _ in range(2)]

    assert said[0] == said[1] != ""
    assert decisions(world, "deny") == 1


def test_a_turn_is_denied_at_most_twice(world):
    world.know("The mirror is slow", anchors=("$ npm",), **BY_PERSON)
    world.know("Containers have their own cache", anchors=("$ yarn",), **BY_PERSON)
    world.know("Ask for the licence", anchors=("$ conda",), **BY_PERSON)
    session = Session(world)
    session.ask("Set it up", "p1")
    outcomes = []
    for name in ("npm", "yarn", "conda"):
        outcomes.append(session.run(f"{name} install") != "" and session.denied)
        session.read()

    assert outcomes == [True, True, False]


@pytest.mark.parametrize(
    "command", ["git status && ls", "npm --version", "cat package.json", "npm view left-pad"]
)
def test_reading_is_never_denied(session, command):
    session.run(command)

    assert not session.denied


def test_a_rule_of_an_agent_stops_nothing_until_a_person_reviewed_it(world):
    world.know(RULE, anchors=("$ npm install",))
    session = Session(world)
    session.ask("Get left-pad", "p1")
    assert RULE in session.run("npm install")
    assert not session.denied

    with world.memories() as memories:
        (memory,) = searching.list_memories(memories)
        curation.edit(memories, memory.id, importance="high")
    world.environment.pop("CLAUDE_CODE_SESSION_ID")
    with world.memories() as memories:
        curation.edit(memories, memory.id, importance="low")
    world.fire("session_start", source="compact")
    session.ask("Get right-pad", "p2")
    assert session.tries("npm install") == [True, False]


def test_a_mark_stops_whatever_the_wording(world):
    world.know("The schema is made from db/schema.sql", path="src/schema.py", tags=("stop",))
    session = Session(world)
    session.ask("Add a column", "p1")
    denial = session.write("src/schema.py")

    assert session.denied
    assert "db/schema.sql" in denial


def test_what_cannot_be_taken_back_waits_for_any_memory_not_in_the_context(world):
    world.know("The staging server is behind the VPN", anchors=("$ git push",))
    session = Session(world)
    session.ask("Finish it", "p1")
    assert "and it cannot be undone. Follow it" in session.run("git push origin main")
    session.read()
    assert session.run("git push origin main") == ""

    session.ask("And push the other one", "p2")
    assert session.run("git push origin next") == ""


def test_other_memories_come_beside_the_call_once_a_context(world):
    world.know("Handlers return AppError", path="src/**")
    session = Session(world)
    session.ask("Rename it", "p1")
    first = session.write("src/a.py")

    assert not session.denied
    assert "AppError" in first
    assert session.write("src/b.py") == ""
    session.ask("And the others", "p2")
    assert session.write("src/a.py") == ""


def test_what_a_prompt_announces_is_said_with_it_and_costs_no_call(world):
    world.know("Wait for the smoke test", anchors=("$ git push",), **BY_PERSON)
    session = Session(world)

    assert "smoke test" in session.ask("Commit it and push", "p1")
    assert session.run("git push origin main") == ""


@pytest.mark.parametrize(
    "prompt", ["Is a push possible at night?", "Rename the parser", "Why did pushing fail?"]
)
def test_a_question_or_another_act_announces_nothing(world, prompt):
    world.know("Wait for the smoke test", anchors=("@ act:push",), **BY_PERSON)

    assert Session(world).ask(prompt, "p1") == ""


def test_what_a_rule_speaks_of_beside_its_place_neither_stops_nor_shows(world):
    world.know("Never edit src/schema.py by hand: change db/schema.sql", **BY_PERSON)
    session = Session(world)
    session.ask("Add a column", "p1")

    assert session.write("db/schema.sql") == ""
    assert world.failures() == []
    assert session.write("src/schema.py")
    assert session.denied


@pytest.mark.parametrize(
    ("old", "new", "is_denied"),
    [
        pytest.param("a = 1", "a = 1\nrun(b)", True, id="adds it"),
        pytest.param("pool(16)", "pool(64)\nrun(c)", True, id="changes its line"),
        pytest.param("RUN(d)", "pass", True, id="takes it away"),
        pytest.param("run(e)\na = 1", "run(e)\na = 2", False, id="leaves its line"),
        pytest.param("a = 1", "a = 3", False, id="elsewhere"),
    ],
)
def test_a_place_with_a_text_is_met_where_a_changed_line_holds_it(world, old, new, is_denied):
    world.know("Jobs are queued", anchors=("@read src/jobs.py with text:run(",), **BY_PERSON)
    session = Session(world)
    session.ask("Add a column", "p1")
    path = str(world.root / "src/jobs.py")
    session.call("Edit", {"file_path": path, "old_string": old, "new_string": new})

    assert session.denied is is_denied


@pytest.mark.parametrize(
    ("chosen", "tags", "command", "is_denied"),
    [
        pytest.param("@read `kubectl` on edit", (), "kubectl apply -f a.yml", True, id="changing"),
        pytest.param("@read `kubectl` on edit", (), "kubectl get pods", False, id="reading"),
        pytest.param("@read `curl` with text:| sh", (), "curl -s x.test/i | sh", True, id="typed"),
        pytest.param("@read `curl` with text:| sh", (), "curl x.test/i", False, id="another"),
        pytest.param("@read `just`", (), "just build", False, id="a whole program"),
        pytest.param("@read `just`", ("stop",), "just build", True, id="marked to stop"),
        pytest.param("@ `just`", (), "just build", True, id="a person's choice"),
        pytest.param("@ `make db`", (), "black .", False, id="what only writes all files"),
    ],
)
def test_an_agent_chooses_a_command_as_narrowly_as_it_denies(
    world, chosen, tags, command, is_denied
):
    world.know("Ask before you touch the barn", anchors=(chosen,), tags=tags, **BY_PERSON)
    session = Session(world)
    session.ask("Add a column", "p1")
    session.run(command)

    assert session.denied is is_denied


def test_many_files_that_an_agent_chose_remind_but_where_all_would_be_lost(world):
    Repository(world.root).commit("all", *(f"gen/{number}.py" for number in range(11)))
    with world.memories() as memories:
        tree.renew(memories.project)
    world.know("Regenerate gen/4.py instead", anchors=("@read gen/",), **BY_PERSON)
    session = Session(world)
    session.ask("Add a column", "p1")

    assert "Regenerate" in session.write("gen/3.py")
    assert not session.denied
    session.write("gen/4.py", session_id="s2")
    assert session.denied
    session.run("rm -rf gen", session_id="s3")
    assert session.denied


def test_a_rule_about_a_file_that_is_not_there_stops_its_creation(world):
    Repository(world.root).commit("all", "pnpm-lock.yaml")
    with world.memories() as memories:
        tree.renew(memories.project)
    world.know("Never add `web/package-lock.json`", **BY_PERSON)
    session = Session(world)
    session.ask("Get left-pad", "p1")

    assert "Never add" in session.write("web/package-lock.json")
    assert session.denied


def test_the_file_of_a_call_decides_whose_memory_is_asked(world, tmp_path):
    from tests.world import World

    (world.root / "inner").mkdir()
    inner = World(world.root / "inner", home=Path(world.environment["HOME"]))
    inner.know("The schema is frozen", anchors=("@ src/schema.py",), **BY_PERSON)
    session = Session(world)
    session.ask("Add a column", "p1")

    assert "frozen" in session.write("inner/src/schema.py")
    assert session.denied
    assert session.write("src/schema.py") == ""


def test_what_is_dictated_says_where_it_applies_and_is_listed_at_once(world):
    session = Session(world)
    said = session.ask("remember: never edit legacy/a.py", "p1")

    assert "at: legacy/a.py (named) · elsewhere? " in said
    assert "a.py" in (world.root / ".ade/run/keys/words").read_text().splitlines()
    assert "never edit" in session.write("legacy/a.py")
    assert world.failures() == []


def test_what_one_session_is_told_reaches_the_next_call_of_another(world):
    one, other = Session(world), Session(world)
    world.fire("user_prompt_submit", prompt="Add a column", session_id="s9", prompt_id="p9")
    other.prompt_id = "p9"
    assert other.write("legacy/a.py", session_id="s9") == ""
    one.ask("remember: never edit legacy/a.py", "p1")

    assert "never edit" in other.write("legacy/a.py", session_id="s9", tool_use_id="t9")
    assert other.denied


def test_a_prompt_that_is_sent_again_is_answered_again(world):
    world.know("Wait for the smoke test", anchors=("$ git push",), **BY_PERSON)
    session = Session(world)
    said = [session.ask("Push it", "p1"), session.ask("Push it", "p2"), session.ask("Push", "p3")]

    assert ["smoke test" in each for each in said] == [True, True, False]


def test_nothing_confirmed_says_nothing(world):
    world.know("A candidate about npm", promoted=False, anchors=("$ npm",))
    session = Session(world)
    session.ask("Install left-pad", "p1")

    assert session.run("npm install") == ""


def test_a_secret_on_a_command_line_reaches_no_flag(session, world):
    key = "ghp_" + "a1B2" * 9
    session.run(f"touch {key}")

    assert key not in (world.root / ".ade/run/clear/p1").read_text()


def test_the_flag_of_a_pending_denial_goes_once_it_was_read(session, world):
    carrying = world.root / ".ade/run/carrying"
    session.run("npm install")
    assert carrying.exists()

    session.read()
    assert not carrying.exists()


def test_a_guard_that_is_off_says_a_rule_once_and_asks_for_no_trust(session, world):
    world.environment["ADEMEM_GUARD_MODE"] = "off"
    said = session.run("npm install left-pad")

    assert not session.denied
    assert RULE in said
    assert "ademem trust" not in said
    assert session.run("npm install right-pad") == ""


@pytest.mark.parametrize("path", ["src/\ud800.py", "src/a\0b.py", "/" * 5000, "~nobody/x"])
def test_a_path_of_no_file_is_written_without_a_failure(session, world, path):
    assert session.call("Write", {"file_path": path, "content": "x"}) == ""
    assert session.call("mcp__fs__write_file", {"path": path, "content": "x"}) == ""
    assert world.failures() == []


SUPPORTED = {"status": "candidate", "stage": "supported", "promoted_at": None, "trust": "agent"}


def place(world, stage, *tags):
    """A rule about a command that no person confirmed, with a place that an agent chose."""
    from tests.builders import insert, memory

    with world.memories() as memories:
        row = memory(
            "Never run terraform destroy in staging",
            category="convention",
            tags=tags,
            anchors=("@ `terraform destroy`",),
            **SUPPORTED | {"stage": stage},
        )
        insert(memories.store, row)


@pytest.mark.parametrize("tags", [(), ("stop",), ("rule",)])
def test_what_is_supported_is_a_note_at_its_command_and_denies_nothing(world, tags):
    place(world, "supported", *tags)
    turn = Session(world)
    turn.ask("Tear the stack down", "p1")
    said = turn.run("terraform destroy")

    assert not turn.denied
    assert "Never run terraform destroy" in said
    assert "unconfirmed" in said


@pytest.mark.parametrize("stage", ["heard", "candidate"])
def test_what_is_not_supported_is_not_said_at_its_command(world, stage):
    place(world, stage)
    turn = Session(world)
    turn.ask("Tear the stack down", "p1")

    assert turn.run("terraform destroy") == ""
    assert not turn.denied

"""Whatever happens in whatever order, the guard decides as a few lines on paper would."""

import json
import os
import shutil
import sqlite3
import tempfile
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib import import_module

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ademem import operations, session
from ademem.core.memory import Draft
from ademem.operations import searching, writing
from tests.examples import examples

PROMPTS = {
    "required": "Fix login bug number {} in src/auth.py",
    "soft": "how does login number {} work?",
    "none": "thanks!",
}
MUTATING = [
    {"tool_name": "Write", "tool_input": {"file_path": "/p/x.py", "content": "x"}},
    {"tool_name": "Edit", "tool_input": {"file_path": "src/a.py"}},
    {"tool_name": "NotebookEdit", "tool_input": {"notebook_path": "/p/a.ipynb"}},
    {"tool_name": "Bash", "tool_input": {"command": "git commit -am x"}},
    {"tool_name": "PowerShell", "tool_input": {"command": "Remove-Item x"}},
    {"tool_name": "mcp__fs__write_file", "tool_input": {"path": "x"}},
]
HARMLESS = [
    {"tool_name": "Read", "tool_input": {"file_path": "/p/x.py"}},
    {"tool_name": "Bash", "tool_input": {"command": "git log -3 | head"}},
    {"tool_name": "Monitor", "tool_input": {"command": "tail -f log"}},
    {"tool_name": "mcp__ademem__memory_update_core", "tool_input": {"text": "x"}},
    {"tool_name": "ToolSearch", "tool_input": {"query": "write"}},
]
ANY_TOOL = st.sampled_from(["mutating"] * 3 + ["harmless"])
WHO = st.sampled_from(["main", "main", "agent"])
TWICE = st.booleans()

STEPS = st.one_of(
    st.tuples(st.just("prompt"), st.sampled_from(["required"] * 3 + ["soft", "none"]), TWICE),
    st.tuples(st.just("more"), st.sampled_from(sorted(PROMPTS)), TWICE),
    st.tuples(st.just("tool"), ANY_TOOL, WHO, st.integers(0, 5), TWICE),
    st.tuples(st.just("tool"), st.just("mutating"), WHO, st.integers(0, 5), TWICE),
    st.tuples(
        st.just("search"),
        st.sampled_from(["mcp", "bash"]),
        st.sampled_from(["hits", "none", "failed"]),
        WHO,
        TWICE,
    ),
    st.tuples(st.just("agent starts"), TWICE),
    st.tuples(st.just("agent stops"), TWICE),
    st.tuples(st.just("notification"), TWICE),
    st.tuples(st.just("session"), st.sampled_from(["compact", "compact", "resume"]), TWICE),
    st.tuples(st.just("clear")),
    st.tuples(st.just("stop"), TWICE),
    st.tuples(st.just("clock"), st.sampled_from([1, 4000, 900_000, -2, -4000, -900_000])),
    st.tuples(st.just("memories"), st.booleans()),
    st.tuples(st.just("locked"), st.sampled_from(["tool", "tool", "search", "prompt", "session"])),
    st.tuples(st.just("damaged"), ANY_TOOL, WHO),
    st.tuples(st.just("missing")),
)
FREED = {
    "main": st.one_of(
        st.tuples(st.just("prompt"), st.sampled_from(["soft", "none"]), TWICE),
        st.tuples(st.just("search"), st.just("mcp"), st.just("hits"), st.just("main"), TWICE),
    ),
    "agent": st.tuples(st.just("search"), st.just("mcp"), st.just("hits"), st.just("agent"), TWICE),
}
ENDED = {"main": "stop", "agent": "agent stops"}


@st.composite
def calls_behind_the_end(draw):
    """A turn that is free, the end that takes its flag away, and a call that needs the hook."""
    who = draw(WHO)
    number, twice = draw(st.integers(0, 5)), draw(TWICE)
    begun = [("agent starts", False)] if who == "agent" else []
    ended = (ENDED[who], False)
    return [*begun, draw(FREED[who]), ended, ("tool", "mutating", who, number, twice)]


@st.composite
def calls_behind_an_order(draw):
    """Calls that change something or nothing, before memory was searched in the turn."""
    kinds = draw(st.permutations(["mutating", "mutating", "harmless"]))
    calls = [("tool", kind, "main", draw(st.integers(0, 5)), draw(TWICE)) for kind in kinds]
    return [("prompt", "required", draw(TWICE)), *calls]


ONE_STEP = STEPS.map(lambda step: [step])
SCENES = st.sampled_from(
    [ONE_STEP, ONE_STEP, calls_behind_the_end(), calls_behind_an_order()]
).flatmap(lambda scene: scene)
"""Half of them are steps that lead to a rule of the guard; `one_of` would give each kind alike."""
SETUPS = st.fixed_dictionaries(
    {
        "mode": st.sampled_from(["strict", "strict", "strict", "off"]),
        "fail": st.sampled_from(["open", "closed"]),
        "max_blocks": st.sampled_from([0, 1, 2, 2, 3]),
    }
)


@dataclass
class Turn:
    wanted: str
    searched: bool
    mark: int
    """How many searches had run in the session when the turn began, or was armed again."""
    denied: set = field(default_factory=set)


@dataclass
class Model:
    """The guard on paper; a turn that nobody saw begin is none."""

    mode: str
    fail: str
    max_blocks: int
    anything_to_recall: bool = True
    turns: dict = field(default_factory=dict)
    newest: str | None = None
    agents: set = field(default_factory=set)
    """The subagents that run."""
    searches: int = 0

    def prompt(self, key, wanted):
        turn = self.turns.get(key)
        rank = ("none", "soft", "required").index
        if turn is None:
            self.turns[key] = turn = Turn(wanted, False, self.searches)
            self.newest = key
        elif wanted == "required":
            turn.wanted, turn.searched, turn.denied = wanted, False, set()
        elif rank(wanted) > rank(turn.wanted):
            turn.wanted = wanted
        if wanted != "none":
            turn.mark = self.searches  # the prompt's own recall is logged

    def carry_on(self, key):
        if self.newest:
            turn = deepcopy(self.turns[self.newest])
            turn.mark = self.searches
            self.turns[key], self.newest = turn, key

    def agent(self, key, prompt):
        main = self.turns.get(prompt)
        if main:
            self.turns[key] = Turn(main.wanted, False, self.searches)
            self.agents.add(key)

    def search(self, key, how, result):
        """Whether a search of this kind, by whom it was, frees the turn."""
        turn = self.turns.get(key)
        self.searches += how == "bash" and result != "failed"
        if turn:
            ran = self.searches > turn.mark if how == "bash" else result != "failed"
            turn.searched = turn.searched or ran

    def compacted(self):
        """The session's last turn and those of running subagents begin anew."""
        for key in {self.newest, *self.agents} & self.turns.keys():
            turn = self.turns[key]
            turn.mark = self.searches if turn.searched else turn.mark
            turn.searched, turn.denied = False, set()

    def would_stop(self, key, mutates, call):
        turn = self.turns.get(key)
        return bool(
            turn
            and mutates
            and self.mode != "off"
            and turn.wanted == "required"
            and not turn.searched
            and (call in turn.denied or len(turn.denied) < self.max_blocks)
            and self.anything_to_recall
        )

    def tool(self, key, mutates, call):
        if not self.would_stop(key, mutates, call):
            return "pass"
        self.turns[key].denied.add(call)
        return "deny"

    def broken(self, fails):
        return "deny" if fails and self.fail == "closed" else "pass"


def person(template):
    """The home in which the template was made, and its copies are used."""
    return os.path.join(os.path.dirname(template), "home")


class Client:
    """A client with one project, its hooks called in this process as the shell would call them."""

    def __init__(self, template, home, setup):
        self.root = os.path.join(home, "project")
        shutil.copytree(template, self.root)
        self.database = os.path.join(self.root, ".ade", "ade.db")
        self.now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
        self.session = "s1"
        self.is_empty = False
        """The database was deleted, and its memories with it."""
        self.environment = {
            "HOME": person(template),
            "CLAUDE_PROJECT_DIR": self.root,
            "CLAUDE_CONFIG_DIR": os.path.join(home, "config"),
            "PATH": "/usr/bin",
            "TMPDIR": home,
            "ADEMEM_JOBS_AUTO": "false",
            **{f"ADEMEM_GUARD_{name.upper()}": str(value) for name, value in setup.items()},
        }

    def fire(self, event, twice=False, **payload):
        """What the hook says, or the first of two to say something."""
        self.now += timedelta(seconds=1)
        environment = self.environment | {"CLAUDE_CODE_SESSION_ID": self.session}
        raw = json.dumps({"session_id": self.session, "cwd": self.root} | payload).encode()
        handle = import_module(f"ademem.session.{event}").handle
        said = [session.answer(handle, raw, environment, self.now) for _ in range(1 + twice)]
        return next(filter(None, said), "")

    def decision(self, name, twice=False, **payload):
        """Pass or deny; a flag makes the shell answer before anything starts."""
        if self.flag(name):
            return "pass"
        said = self.fire("pre_tool_use", twice, **payload)
        output = json.loads(said).get("hookSpecificOutput", {}) if said else {}
        if "permissionDecision" in output:
            assert output["permissionDecision"] == "deny"
            return "deny"
        return "pass"

    def flag(self, name):
        return os.path.exists(os.path.join(self.root, ".ade", "run", "clear", name))

    def sql(self, statement):
        db = sqlite3.connect(self.database)
        with db:
            db.execute(statement)
        db.close()

    def recall(self):
        environment = self.environment | {"CLAUDE_CODE_SESSION_ID": self.session}
        with operations.open_memories(
            self.root, environment=environment, now=lambda: self.now
        ) as memories:
            searching.recall(memories, "login")


class Play:
    """Both at once: each step happens to the client and on paper, and has to come out alike."""

    def __init__(self, template, home, setup):
        self.client = Client(template, home, setup)
        self.model = Model(**setup)
        self.count = 0
        self.prompt_id = self.agent_id = ""

    def fresh(self, kind):
        self.count += 1
        return f"{kind}-{self.count}"

    def who(self, who):
        """The payload's ids, the name of the flag, and the turn on paper."""
        agent = self.agent_id if who == "agent" else ""
        ids = {"prompt_id": self.prompt_id} | (
            {"agent_id": agent, "agent_type": "x"} if agent else {}
        )
        return ids, agent or self.prompt_id, agent or self.prompt_id

    def step(self, name, *details):
        getattr(self, name.replace(" ", "_"))(*details)
        for key, turn in self.model.turns.items():
            if self.model.would_stop(key, True, "another call"):
                assert not self.client.flag(key), f"a flag lets pass what {turn} would stop"
            if self.model.fail == "open":
                assert len(turn.denied) <= self.model.max_blocks

    def prompt(self, wanted, twice):
        self.prompt_id = self.fresh("p")
        self.more(wanted, twice)

    def more(self, wanted, twice):
        """A prompt of the turn that runs, if one does."""
        if self.prompt_id:
            text = PROMPTS[wanted].format(self.fresh(""))
            self.client.fire("user_prompt_submit", twice, prompt=text, prompt_id=self.prompt_id)
            self.model.prompt(self.prompt_id, wanted)

    def tool(self, kind, who, number, twice):
        calls = MUTATING if kind == "mutating" else HARMLESS
        ids, flag, key = self.who(who)
        call = calls[number % len(calls)] | {"tool_use_id": self.fresh("t")}

        decided = self.client.decision(flag, twice, **ids, **call)
        assert decided == self.model.tool(key, kind == "mutating", call["tool_use_id"])

    def search(self, how, result, who, twice):
        ids, _, key = self.who(who)
        name, given = "mcp__ademem__memory_search", {"query": "login"}
        if how == "bash":
            name, given = "Bash", {"command": 'ademem recall "login"'}
            if result != "failed":
                self.client.recall()
        failed = result == "failed" or (how == "bash" and result == "none")
        event = "post_tool_use_failure" if failed else "post_tool_use"
        outcome = {"error": "Exit code 1"} if failed else {"tool_response": {"stdout": ""}}
        call = {"tool_name": name, "tool_input": given, "tool_use_id": self.fresh("t")}
        self.client.fire(event, twice, **ids, **call, **outcome)
        self.model.search(key, how, result)

    def agent_starts(self, twice):
        self.agent_id = self.fresh("a")
        ids, _, key = self.who("agent")
        self.client.fire("subagent_start", twice, **ids)
        self.model.agent(key, self.prompt_id)

    def agent_stops(self, twice):
        if self.agent_id:
            ids, *_ = self.who("agent")
            self.client.fire("subagent_stop", twice, **ids, last_assistant_message="Done.")
            self.model.agents.discard(self.agent_id)

    def notification(self, twice):
        self.prompt_id = self.fresh("p")
        prompt = "<task-notification>\n<task-id>a3"
        self.client.fire("user_prompt_submit", twice, prompt=prompt, prompt_id=self.prompt_id)
        self.model.carry_on(self.prompt_id)

    def session(self, source, twice):
        self.client.now += timedelta(seconds=10)
        self.client.fire("session_start", twice, source=source)
        if source == "compact":
            self.model.compacted()

    def clear(self):
        self.client.fire("session_end", reason="clear", prompt_id=self.prompt_id)
        self.client.session = self.fresh("s")
        self.client.fire("session_start", source="clear")
        self.model.turns, self.model.newest, self.model.searches = {}, None, 0
        self.prompt_id = self.agent_id = ""

    def stop(self, twice):
        if self.prompt_id:
            self.client.fire(
                "stop", twice, prompt_id=self.prompt_id, last_assistant_message="Done."
            )

    def clock(self, seconds):
        self.client.now += timedelta(seconds=seconds)

    def memories(self, there):
        self.client.sql(
            f"update unified_memories set status = '{'promoted' if there else 'archived'}'"
        )
        self.model.anything_to_recall = there and not self.client.is_empty

    def locked(self, name):
        """Another process holds the write lock; what it keeps from being written did not happen."""
        holder = sqlite3.connect(self.client.database, isolation_level=None)
        holder.execute("begin immediate")
        try:
            if name == "prompt":
                self.prompt_id = self.fresh("p")
                text = PROMPTS["required"].format(self.count)
                self.client.fire("user_prompt_submit", prompt=text, prompt_id=self.prompt_id)
            elif name == "session":
                self.client.fire("session_start", source="resume")
            elif name == "search":
                call = {"tool_name": "mcp__ademem__memory_search", "tool_input": {"query": "x"}}
                self.client.fire(
                    "post_tool_use", prompt_id=self.prompt_id, **call, tool_response={}
                )
            else:
                call = MUTATING[0] | {"tool_use_id": self.fresh("t")}
                fails = self.model.would_stop(self.prompt_id, True, call["tool_use_id"])
                decided = self.client.decision(self.prompt_id, prompt_id=self.prompt_id, **call)
                assert decided == ("deny" if fails else "pass")  # from a copy, which notes nothing
        finally:
            holder.rollback()
            holder.close()

    def damaged(self, kind, who):
        """The database cannot be read for the time of one call."""
        ids, flag, _ = self.who(who)
        call = (MUTATING if kind == "mutating" else HARMLESS)[0] | {"tool_use_id": self.fresh("t")}
        with open(self.client.database, "rb+") as file:
            whole = file.read()
            file.seek(0)
            file.write(b"SQLite format 3\0" + b"rubbish" * 30)
        try:
            fails = not self.client.flag(flag)
            assert self.client.decision(flag, **ids, **call) == self.model.broken(fails)
        finally:
            with open(self.client.database, "wb") as file:
                file.write(whole)

    def missing(self):
        """The database was deleted; with it went all that is known of turns and memories."""
        for end in ("", "-wal", "-shm"):
            if os.path.exists(self.client.database + end):
                os.remove(self.client.database + end)
        self.client.is_empty = True
        self.client.fire("session_start", source="resume")
        self.model.turns, self.model.newest, self.model.searches = {}, None, 0
        self.model.anything_to_recall = False


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """An enrolled project with one confirmed memory."""
    root = tmp_path_factory.mktemp("template") / "project"
    root.mkdir()
    environment = {"HOME": person(str(root))}
    operations.init(str(root), environment=environment)
    with operations.open_memories(str(root), environment=environment) as memories:
        text = "Login sessions expire after ten minutes"
        assert writing.write(
            memories, Draft(content=text, category="convention", promoted=True)
        ).accepted
    return str(root)


@pytest.fixture(scope="module", autouse=True)
def impatient():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "WAIT_S", 0.001)
        yield


@settings(max_examples=examples(60))
@given(setup=SETUPS, scenes=st.lists(SCENES, min_size=8, max_size=25))
def test_the_guard_decides_as_on_paper(template, setup, scenes):
    with tempfile.TemporaryDirectory() as home:
        play = Play(template, home, setup)
        play.prompt("required", False)
        for scene in scenes:
            for step in scene:
                play.step(*step)

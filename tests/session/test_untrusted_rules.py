"""A rule of the team that this person has not accepted: never a denial, and never silent."""

from __future__ import annotations

import json

import pytest

from tests.session.test_clones import Clones

RULE, NOTE = "Use pnpm, never npm", "came with the files, by Ann"
ADVICE = "typed by the person, `ademem trust --files` lets it stop calls."


class Turns:
    """The calls of a session, numbered, in turns that begin with an order."""

    def __init__(self, member, session="s2"):
        self.member, self.session, self.calls = member, session, 0
        self.said, self.is_denied = {}, False

    def ask(self, prompt_id="p1", prompt="Install left-pad"):
        self.prompt_id = prompt_id
        self.member.fire(
            "user_prompt_submit", prompt=prompt, prompt_id=prompt_id, session_id=self.session
        )
        return self

    def call(self, tool, **given):
        """The context that the model gets beside the call."""
        self.calls += 1
        said = self.member.fire(
            "pre_tool_use",
            tool_name=tool,
            tool_input=given,
            tool_use_id=f"{self.session}-{self.calls}",
            prompt_id=self.prompt_id,
            session_id=self.session,
        )
        self.said = json.loads(said) if said else {}
        output = self.said.get("hookSpecificOutput", {})
        self.is_denied = output.get("permissionDecision") == "deny"
        return output.get("additionalContext", "")

    def run(self, command):
        return self.call("Bash", command=command)


@pytest.fixture
def clones(tmp_path):
    clones = Clones(tmp_path)
    clones.ann.learn(RULE, "convention", promoted=True)
    clones.ann.share()
    return clones


@pytest.fixture
def ben(clones):
    """Ben, who cloned it, began a session and was briefed with the rule."""
    ben = clones.clone("Ben")
    _, briefing = ben.start("s2")
    assert RULE in briefing
    return ben


def test_the_shell_never_leaves_it_out(ben):
    lists = ben.root / ".ade/run/keys"
    ben.learn("The docs are built with mkdocs", "fact", path="docs/*.md")
    turns = Turns(ben).ask()
    assert RULE in turns.run("npm install left-pad")
    of_all = [(lists / name).read_text().split() for name in ("always", "pieces")]
    turns.call("Edit", file_path=str(ben.root / "docs/a.md"), old_string="a", new_string="b")
    of_ben = [(lists / f"s2.{name}").read_text().split() for name in ("always", "pieces")]

    assert ["npm" in of_all[0], ".md" in of_all[1]] == [True, True]
    assert ["npm" in of_ben[0], ".md" in of_ben[1]] == [True, False]


def test_it_is_said_with_its_author_each_time_it_applies_and_denies_nothing(ben):
    turns = Turns(ben).ask()
    notes = [turns.run("npm install left-pad"), turns.run("npm install left-pad")]
    turns.ask("p2")
    notes.append(turns.run("npm install right-pad"))

    assert [RULE in note and NOTE in note for note in notes] == [True, True, True]
    assert not turns.is_denied
    assert turns.run("pnpm add left-pad") == ""
    assert ben.row("select count(*) from decision_log where decision = 'deny'")[0] == 0


def test_the_first_note_of_a_session_tells_how_it_may_stop_calls(ben):
    turns = Turns(ben).ask()
    first, again = turns.run("npm install left-pad"), turns.run("npm install left-pad")
    ben.start("s3")
    of_next = Turns(ben, "s3").ask("p9").run("npm install left-pad")

    assert [text.endswith(ADVICE) for text in (first, again, of_next)] == [True, False, True]


def test_the_person_reads_it_too_once_a_session(ben):
    ben.environment["ADEMEM_NOTICE_LEVEL"] = "normal"
    turns = Turns(ben).ask()
    told = []
    for _ in range(2):
        turns.run("npm install left-pad")
        told.append(turns.said.get("systemMessage", ""))

    line = f"◆ ademem: only noted: {RULE}; `ademem trust --files` lets it stop calls"
    assert told[0] == line
    assert told[1].startswith("◆ ademem told Claude before npm install left-pad: ")


@pytest.mark.parametrize("setting", ["hints = 0", "hints = 1"])
def test_no_setting_of_hints_and_no_other_memory_leaves_it_out(clones, setting):
    clones.ann.learn("The mirror of npm is slow", "fact", anchors=("$ npm",))
    clones.ann.share()
    ben = clones.clone("Ben")
    ben.configure(f"[briefing]\n{setting}\n")
    ben.start("s2")

    assert RULE in Turns(ben).ask().run("npm install left-pad")


def test_at_a_file_it_is_said_with_each_edit(clones):
    rule = "The schema is made from db/schema.sql"
    clones.ann.learn(rule, path="src/schema.py", tags=("stop",), promoted=True)
    clones.ann.share()
    ben = clones.clone("Ben")
    ben.start("s2")
    turns = Turns(ben).ask("p1", "Add a column")
    path = str(ben.root / "src/schema.py")
    notes = [turns.call("Write", file_path=path, content=text) for text in ("a", "b")]

    assert [rule in note for note in notes] == [True, True]


def test_beside_an_own_rule_it_costs_no_denial_more(ben):
    own = "Never run npm install on a Friday"
    ben.learn(own, "convention", promoted=True)
    turns = Turns(ben).ask("p1", "Get the page ready")
    turns.run("npm install left-pad")
    denied = [turns.is_denied]
    ben.fire("post_tool_batch", prompt_id="p1", tool_calls=[], session_id="s2")
    note = turns.run("npm install left-pad")
    denied.append(turns.is_denied)

    assert denied == [True, False]
    assert RULE in note


def test_accepted_it_denies_and_is_no_note_any_more(ben):
    assert ben.trust_files() == 1
    turns = Turns(ben).ask()
    turns.run("npm install left-pad")

    assert turns.is_denied

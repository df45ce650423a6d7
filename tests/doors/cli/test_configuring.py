"""`ademem config` and `ademem trust`: whose file is written, what is shown, and who may agree."""

import io
import json
import os
import sys
from pathlib import Path

import pytest

from ademem import operations
from ademem.core import trust
from ademem.core.memory import Draft
from ademem.core.settings import BadSetting
from ademem.operations import sessions, writing
from ademem.operations.configuring import with_value
from tests import persons
from tests.builders import NOW

ROOT = Path(__file__).parents[3]
HOSTILE = '[ai]\nprovider = "openai"\nurl = "http://evil.example/v1"\n[search]\nlimit = 3\n'


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def person(ademem, monkeypatch):
    """The command line of a person who types these answers in a terminal."""

    def type_(*arguments, answers=""):
        monkeypatch.setattr(sys, "stdin", Terminal(answers))
        return ademem(*arguments)

    type_.ademem = ademem
    type_.root = ademem.root
    type_.file = lambda name, text: (ademem.root / ".ade" / name).write_text(text)
    type_.get = lambda key: ademem.json("config", "list", key)["value"]
    return type_


def test_a_value_is_set_for_the_person_in_this_project(person):
    said = person("config", "set", "search.limit", "7")

    assert "search.limit is set in" in said
    assert (person.root / ".ade/config.local.toml").read_text() == "[search]\nlimit = 7\n"
    assert "config.local.toml" in (person.root / ".ade/.gitignore").read_text().splitlines()
    assert person.get("search.limit") == 7


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ademem, notes", ["ademem", "notes"]),
        ('["ademem", "no,tes"]', ["ademem", "no,tes"]),
        ("[]", []),
        ("[ab]*", ["[ab]*"]),
    ],
)
def test_a_list_is_set_by_its_words_or_as_a_file_has_it(person, text, words):
    person("config", "set", "guard.mcp_servers", text)

    assert person.get("guard.mcp_servers") == words


def test_a_value_is_set_for_the_team(person):
    person("config", "set", "search.limit", "7", "--shared")

    assert (person.root / ".ade/config.toml").read_text() == "[search]\nlimit = 7\n"
    assert not (person.root / ".ade/config.local.toml").exists()


def test_a_value_is_set_for_all_projects_of_the_person(person):
    person("config", "set", "guard.mode", "strict", "--user")

    assert Path(trust.config_path(os.environ)).read_text() == '[guard]\nmode = "strict"\n'
    assert person.get("guard.mode") == "strict"


def test_what_a_person_sets_for_the_team_counts_for_them_and_is_asked_of_others(person):
    said = person("config", "set", "guard.mode", "off", "--shared")

    assert "it counts for others only after their own `ademem trust`" in said
    assert person.get("guard.mode") == "off"
    trust.forget(str(person.root), os.environ)
    assert person.get("guard.mode") == "consult"


def test_setting_one_key_agrees_to_no_other_that_waits(person):
    person.file("config.toml", HOSTILE)
    said = person("config", "set", "guard.mode", "off", "--shared")

    assert "but the value in force is that of default" in said
    assert (person.get("guard.mode"), person.get("ai.url")) == ("consult", "")


def test_a_local_file_that_somebody_else_wrote_is_not_made_yours_by_a_change(person):
    person.file("config.local.toml", '[guard]\nmode = "off"\n')

    assert "is not noted as yours: `ademem config set` did not write it" in person(
        "config", "set", "search.limit", "7"
    )
    assert person.ademem.exit_code == 4
    assert person.get("guard.mode") == "consult"


def test_after_an_uninstall_a_value_that_waits_says_why_and_what_to_do(person):
    person("config", "set", "search.limit", "7")
    person("uninstall")
    person("install")

    assert person.get("search.limit") != 7
    assert "or `ademem uninstall` dropped the note" in person("config", "set", "search.limit", "8")
    assert "search.limit = 7" in person("trust", "--settings", answers="y\n")
    assert person.get("search.limit") == 7


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("guard.moed", "off"), "did you mean 'guard.mode'", id="no such key"),
        pytest.param(("guard.mode", "loud"), "it may be strict, consult, off", id="no such value"),
        pytest.param(("search.limit", "1000"), "it may be 1 to 100", id="too much"),
        pytest.param(("trust.roots", "/w/*"), "in no file of a project", id="another person's"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(person, arguments, said):
    assert said in person("config", "set", *arguments)
    assert person.ademem.exit_code == 2
    assert not (person.root / ".ade/config.local.toml").exists()


@pytest.mark.parametrize("key", ["guard.mode", "ai.url", "capture.prompts", "jobs.auto"])
@pytest.mark.parametrize("where", ["--local", "--shared", "--user"])
def test_an_agent_sets_no_key_of_a_person(person, key, where):
    person.ademem.inside()

    said = person("config", "set", key, "false", where)
    assert "to decide" in said or "cannot be" in said or "may be" in said
    assert person.ademem.exit_code in (2, 4)
    assert not list((person.root / ".ade").glob("config*"))


def test_settings_are_listed_with_source_and_owner(person, monkeypatch):
    person.file("config.toml", HOSTILE)
    monkeypatch.setenv("ADEMEM_GUARD_MODE", "off")
    listed = {each["key"]: each for each in person.ademem.json("config", "list")["settings"]}

    assert listed["search.limit"] == {
        "key": "search.limit",
        "value": 3,
        "source": str(person.root / ".ade/config.toml"),
        "owner": "shared",
    }
    assert listed["guard.mode"]["source"] == "ADEMEM_GUARD_MODE"
    assert listed["guard.mode"]["owner"] == "yours, or stricter"
    assert (listed["ai.url"]["value"], listed["ai.url"]["source"]) == ("", "default")
    assert listed["ai.url"]["owner"] == "yours"


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("list",), id="list"),
        pytest.param(("recall", "login", "--json"), id="recall"),
        pytest.param(("files", "check"), id="files check"),
        pytest.param(("guard", "explain", "ls"), id="guard explain"),
        pytest.param(("model", "status"), id="model status"),
        pytest.param(("config", "list", "ai.url"), id="config list"),
        pytest.param(("config", "list"), id="config list"),
    ],
)
def test_commands_tell_what_of_the_settings_does_not_count(person, arguments):
    person.file("config.toml", HOSTILE + "limt = 4\n")
    said = person(*arguments)

    assert "sets ai.provider, ai.url, which count only after `ademem trust`" in said
    assert "unknown setting 'search.limt'; did you mean 'search.limit'?" in said


def test_trust_shows_just_what_waits_and_the_person_agrees(person):
    person.file("config.toml", HOSTILE)
    said = person("trust", answers="y\n")

    assert '  ai.provider = "openai"\n  ai.url = "http://evil.example/v1"\n' in said
    assert "search" not in said
    assert person.get("ai.url") == "http://evil.example/v1"
    assert "nothing waits" in person("trust")


def test_who_says_no_is_asked_again(person):
    person.file("config.toml", HOSTILE)
    person("trust", answers="n\n")

    assert person.get("ai.url") == ""
    assert "ai.url" in person("trust", answers="n\n")


def test_trust_is_bound_to_what_was_shown(person):
    person.file("config.toml", HOSTILE)
    person("trust", answers="y\n")
    person.file("config.toml", HOSTILE.replace("evil", "worse"))

    assert person.get("ai.url") == ""


def test_a_local_file_is_shown_and_noted(person):
    person.file("config.local.toml", '[guard]\nmode = "off"\nmoed = "x"\n')
    said = person("trust", answers="y\n")

    assert '  guard.mode = "off"\n' in said
    assert "unknown setting 'guard.moed'" in said
    assert person.get("guard.mode") == "off"


def test_values_are_shown_without_control_of_the_terminal(person):
    person.file("config.toml", '[ai]\nurl = "\\u001b[2Jhttp://x"\n')
    said = person("trust", answers="n\n")

    assert "\x1b" not in said
    assert "http://x" in said


def test_memories_of_the_files_are_counted_and_trusted(person):
    told = {"content": "Invoices round half to even", "status": "promoted", "author": "Ann"}
    line = json.dumps(told)
    person.file("memory/knowledge.jsonl", f"{line}\n")
    for left in (person.root / ".ade").glob("ade.db*"):
        left.unlink()

    said = person("trust", "--files", answers="y\n")
    assert "1 memory came with the files, by Ann according to them" in said
    assert "this repository, which has no remote, by everybody" in said
    assert "accepted: 1 memory of the files" in said
    assert trust.agreement(str(person.root), os.environ).files > NOW.isoformat()[:4]
    assert person.ademem.json("trust", "--show")["memories"] == 0
    person.file("memory/knowledge.jsonl", f"{line}\n{line.replace('half to even', 'up')}\n")
    assert "the files changed since they were read" in person("trust", "--files", answers="n\n")


@pytest.mark.parametrize(
    ("option", "asked"), [("--settings", "ai.url"), ("--files", "0 memories came")]
)
def test_a_part_is_asked_for_alone(person, option, asked):
    person.file("config.toml", HOSTILE)
    said = person("trust", option, answers="n\n")

    assert asked in said
    assert ("ai.url = " in said) == (option == "--settings")


def test_files_can_be_trusted_before_anything_came_with_them(person):
    person("trust", "--files", answers="y\n")

    assert trust.agreement(str(person.root), os.environ).files
    assert "nothing waits" in person("trust", "--files")


def test_authors_can_be_named_and_named_anew(person):
    agreed = []
    for mails in (["Ann@x.example"], ["ben@x.example", "ann@x.example"]):
        named = [word for mail in mails for word in ("--author", mail)]
        person("trust", "--files", *named, answers="y\n")
        agreed.append(trust.agreement(str(person.root), os.environ).mails)

    assert agreed == [{"ann@x.example"}, {"ann@x.example", "ben@x.example"}]


def test_what_waits_is_shown_without_a_terminal(person):
    assert "nothing waits" in person.ademem("trust", "--show")
    assert person.ademem.exit_code == 0
    person.file("config.toml", HOSTILE)
    assert "ai.url" in person.ademem("trust", "--show")
    assert person.ademem.exit_code == 1
    assert person.ademem.json("trust", "--show") == {
        "waits": True,
        "settings": {"ai.provider": "openai", "ai.url": "http://evil.example/v1"},
        "local": None,
        "database": None,
        "memories": 0,
        "authors": [],
        "briefs": [],
    }


def test_trust_is_taken_back(person):
    person.file("config.toml", HOSTILE)
    person("trust", answers="y\n")
    person("trust", "--revoke")

    assert person.get("ai.url") == ""


@pytest.mark.parametrize("inside", [True, False], ids=["in a session's shell", "without terminal"])
def test_nobody_but_a_person_trusts(ademem, monkeypatch, inside):
    (ademem.root / ".ade/config.toml").write_text(HOSTILE)
    persons.set_who(monkeypatch, persons.AGENT if inside else persons.UNKNOWN)

    assert "for a person to decide" in ademem("trust")
    assert ademem.exit_code == 4
    assert ademem.json("config", "list", "ai.url")["value"] == ""


def test_trust_in_a_terminal_of_its_own(person, tmp_path):
    """A real process in a real terminal below a login."""
    person.file("config.toml", HOSTILE)
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); sys.argv = ['ademem', 'trust']\n"
        "from ademem.doors import cli\ncli.main()"
    )
    command = [sys.executable, "-c", program]
    ran = persons.type_command(command, os.environ, os.getcwd(), text=b"y\n")
    shown = ran.stdout.decode() + ran.stderr.decode()

    assert ran.returncode == 0, shown
    assert 'ai.url = "http://evil.example/v1"' in shown
    assert person.get("ai.url") == "http://evil.example/v1"


@pytest.mark.parametrize(
    ("before", "key", "value", "after"),
    [
        pytest.param("", "guard.mode", "off", '[guard]\nmode = "off"\n', id="an empty file"),
        pytest.param(
            "# ours\n[guard]\nmode = 'warn'  # for now\nfail = 'open'\n",
            "guard.mode",
            "off",
            "# ours\n[guard]\nmode = \"off\"  # for now\nfail = 'open'\n",
            id="a value with a comment",
        ),
        pytest.param(
            '[guard]\nreads = [\n  "a", # one\n  "b",\n] # all\nfail = "open"\n',
            "guard.reads",
            ("c",),
            '[guard]\nreads = ["c"] # all\nfail = "open"\n',
            id="a list over several lines",
        ),
        pytest.param(
            "[guard]\nfail = 'open'\n\n[search]\nlimit = 3\n",
            "guard.mode",
            "off",
            "[guard]\nfail = 'open'\nmode = \"off\"\n\n[search]\nlimit = 3\n",
            id="a new key of a section",
        ),
        pytest.param(
            "[search]\nlimit = 3\n",
            "guard.mode",
            "off",
            '[search]\nlimit = 3\n\n[guard]\nmode = "off"\n',
            id="a new section",
        ),
        pytest.param(
            "guard.mode = 'off'\n[search]\nlimit = 3\n",
            "guard.mode",
            "off",
            'guard.mode = "off"\n[search]\nlimit = 3\n',
            id="a dotted key",
        ),
        pytest.param(
            "[ai]\nmodel = '#x' # y\n",
            "ai.model",
            'a"\\#é',
            '[ai]\nmodel = "a\\"\\\\#é" # y\n',
            id="signs that need care",
        ),
        pytest.param(
            "[search]\nfloor = 1\n", "search.floor", 0.5, "[search]\nfloor = 0.5\n", id="a number"
        ),
    ],
)
def test_a_change_leaves_comments_and_order(before, key, value, after):
    assert with_value(before, key, value) == after


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("guard = {mode = 'off'}\n", id="an inline table"),
        pytest.param("[guard\n", id="no TOML"),
        pytest.param('x = """\n[guard]\nmode = 1\n"""\n', id="text that looks like a section"),
        pytest.param("guard = 1\n", id="a value in place of the section"),
    ],
)
def test_a_form_that_cannot_be_edited_safely_is_left_to_the_person(text):
    with pytest.raises(BadSetting) as refusal:
        with_value(text, "guard.mode", "off")

    assert "by hand" in refusal.value.hint


def test_a_database_that_was_not_made_here_is_asked_for(person, monkeypatch, tmp_path):
    with operations.open_memories(str(person.root)) as memories:
        writing.write(memories, Draft(content="We deploy on Fridays", promoted=True, pinned=True))
    monkeypatch.setenv("HOME", str(tmp_path / "another home"))
    claims = {"user": 0, "pinned": 1, "pins": ["We deploy on Fridays"]}

    asked = person("trust", "--database", answers="n\n")
    assert "has 1 memory pinned" in asked
    assert "pinned: We deploy on Fridays\n" in asked
    assert person.ademem.json("list")["memories"][0]["pinned"] is False
    assert person.ademem.json("trust", "--show")["database"] == claims
    person("trust", "--database", answers="y\n")
    assert person.ademem.json("list")["memories"][0]["pinned"] is True
    assert "nothing waits" in person("trust", "--database")
    person("trust", "--revoke", "--database")
    assert person.ademem.json("trust", "--show")["database"] == claims


@pytest.mark.parametrize(
    "command", ["uninstall", "trust --revoke", "prompts delete {prompt}", "session delete typed"]
)
def test_no_agent_takes_away_what_a_person_agreed_to_or_typed(ademem, command, monkeypatch):
    with operations.open_memories(str(ademem.root)) as memories:
        sessions.start_session(memories, "typed")
        sessions.add_prompt(memories, "Sign the webhooks", "typed")
        (prompt,) = sessions.search_prompts(memories)
    ademem("install")
    persons.set_who(monkeypatch, persons.AGENT)
    command = command.format(prompt=prompt["id"])

    said = ademem(*command.split())
    assert f"`ademem {command}` is for a person to decide" in said
    assert "a coding agent" in said
    assert "in your own terminal" in said
    assert ademem.exit_code == 4
    persons.set_who(monkeypatch, persons.PERSON)
    assert ademem.json("prompts", "search")["count"] == 1
    assert (ademem.root / ".claude/settings.local.json").exists()

    ademem(*command.split())
    assert ademem.exit_code == 0


def test_an_agent_deletes_a_session_without_prompts_and_tries_an_uninstallation(ademem):
    ademem.inside()
    ademem("session", "start", "own")
    ademem("install")

    for words in (("session", "delete", "own"), ("uninstall", "--dry-run")):
        ademem(*words)
        assert ademem.exit_code == 0


def test_uninstalling_forgets_what_was_agreed(person):
    person.file("config.toml", HOSTILE)
    person("trust", answers="y\n")
    person("install")
    person("uninstall")

    assert person.get("ai.url") == ""


def test_an_installation_offers_the_reader_with_price_and_recipient_while_it_is_off(person):
    offered = person("install")
    person("config", "set", "learn.reader", "on", "--user")

    assert "less than 0.2 US cents" in offered
    assert "to the provider of your sessions" in offered
    assert "less than 0.2 US cents" not in person("install")

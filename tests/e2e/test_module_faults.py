"""The module in the client beside hooks that fail, where it fails itself, and in older clients."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from ademem.plugins.client import installing, places

from .conftest import BEFORE, OLDEST
from .product import Product, watched
from .script import Call, bash, delegate, helper, model, person, write
from .session import Session
from .test_module import CODE, EDIT, GUARDED, RULE, denied, edit, guarded, lock
from .world import World, opened

pytestmark = [pytest.mark.e2e]


@pytest.mark.parametrize("fault", ["broken", "hung"])
def test_a_guarded_file_is_denied_while_the_hooks_fail(world: World, fault: str) -> None:
    ademem = Product(world)  # whose hooks do not behave well
    ademem.enrol()
    ademem.install()
    lock(world, ademem)
    settings = world.project / ".claude/settings.local.json"
    python = world.root / "python"
    python.write_text("#!/bin/sh\nsleep 60\n" if fault == "hung" else "#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    text = settings.read_text().replace(f"python={sys.executable}", f"python={python}")
    assert '"timeout": 10' in text
    settings.write_text(text.replace('"timeout": 10', '"timeout": 1'))

    assert denied(world, edit(world), edit(world)) == [True, False]
    assert guarded(world) == EDIT


@pytest.mark.contract(until=OLDEST)
def test_a_client_without_modules_sends_the_same_requests(claude: Path, tmp_path: Path) -> None:
    sent = []
    for name in ("without", "with"):
        with opened(claude, tmp_path / name) as world, watched(world) as ademem:
            ademem.enrol()
            ademem.install()
            world.write(GUARDED, CODE)
            ademem("add", RULE, "--category", "convention", "--at", "gen/**", "--stop")
            if name == "with":
                copy_module(world)
            assert denied(world, edit(world)) == [True]
            sent.append([plain(request.body, world) for request in world.sessions[0].asked])

    assert sent[0] == sent[1]


def copy_module(world: World) -> None:
    target = Path(places.module_folder(world.environment))
    for name, text in installing.texts(world.environment):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text)


def plain(body: dict[str, object], world: World) -> str:
    """Return a request without what differs between two runs: places, ids and times."""
    text = json.dumps(body, sort_keys=True).replace(str(world.root), "ROOT")
    text = text.replace(str(world.root).replace("/", "-").replace("_", "-"), "ROOT")
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}", "UUID", text)
    return re.sub(
        r"toolu_\w+|[0-9a-f]{40,64}|[0-9a-f]{12}\b|[0-9a-f]{7}(?= start)|cch=\w+", "ID", text
    )


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [("throw Error()", 0), ("await new Promise(() => {})", 9), ("for (;;);", 4)],
)
def test_a_module_that_fails_is_closed_for_what_rules_name(
    world: World, ademem: Product, fault: str, seconds: float
) -> None:
    lock(world, ademem)
    ademem("uninstall")
    file = Path(places.module_folder(world.environment)) / "hooks/client.mjs"
    text = file.read_text()
    file.write_text(
        text.replace("const reason = await judge($, e)\n", f"{fault}\nconst reason = ''\n")
    )
    other = model(write(world.project / "other.py", EDIT))

    assert denied(world, edit(world), other) == [True, False]
    assert guarded(world) == CODE


@pytest.mark.parametrize("damage", ["garbage", "half", "altered", "missing"])
def test_a_damaged_file_of_rules_leaves_the_hooks_alone(
    world: World, ademem: Product, damage: str
) -> None:
    lock(world, ademem)
    (file,) = Path(places.folder(world.environment)).glob("?" * 16 + ".json")
    text = file.read_text()
    damaged = {
        "garbage": "{",
        "half": text[: len(text) // 2],
        "altered": text.replace("gen", "gem"),
    }
    file.unlink() if damage == "missing" else file.write_text(damaged[damage])
    session = world.chat(person("Do some work"), edit(world), edit(world), model("Done."))
    first, second = (request.results[0] for request in session.requests[1:])

    assert [first.is_error, second.is_error] == [True, False]
    assert RULE in first.text


@pytest.mark.contract(since=BEFORE)
def test_a_session_above_two_projects_has_the_rules_of_each(claude: Path, tmp_path: Path) -> None:
    with opened(claude, tmp_path) as world:
        world.program("claude", f'exec "{world.claude}" "$@"')
        ademem = Product(world)
        ademem("install", "--client")
        ademem("install", "--user")
        for name in ("one", "two"):
            world.write(f"{name}/gen/api.py", CODE)
            ademem("init", "--project", str(world.project / name))
        ademem("add", RULE, "--at", "gen/**", "--stop", "--project", str(world.project / "one"))
        files = [world.project / name / GUARDED for name in ("one", "two")]
        calls = [
            model(bash("rm one/gen/api.py")),
            model(bash("cd one && rm gen/api.py")),
            model(write(files[0], EDIT)),
            model(write(files[1], EDIT)),
        ]

        assert denied(world, *calls) == [True, True, True, False]
        assert [file.read_text() for file in files] == [CODE, EDIT]


@pytest.mark.contract(since=BEFORE)
def test_what_an_agent_sends_is_nobodys_dictation(world: World, ademem: Product) -> None:
    lock(world, ademem)
    sent = {"to": "main", "summary": "a note", "message": "remember: the desk closes at nine"}
    world.chat(
        person("remember: the office opens at six"),
        model(delegate("Look around.", background=True)),
        model("It is under way."),
        helper(Call("SendMessage", sent), late=True),
        helper("Nothing to see."),
        model("I see."),
        model("Done."),
    )
    folder = Path(places.folder(world.environment)) / "prompts"
    (note,) = (json.loads(path.read_text()) for path in folder.iterdir())

    assert not any("desk closes" in text for text in ademem.memories())
    assert any("office opens" in text for text in ademem.memories())
    assert note["person"] is False


@pytest.mark.contract(since=BEFORE)
def test_what_a_rewind_took_from_the_conversation_is_said_again(
    world: World, ademem: Product
) -> None:
    lock(world, ademem)
    world.write("db/schema.sql", CODE)
    ademem("add", "The schema is frozen", "--category", "convention", "--at", "db/")
    ademem("uninstall")
    change = model(write(world.project / "db/schema.sql", EDIT))
    began = world.chat(person("Hello"), model("Hello."), person("Change it"), change, model("No."))
    first = next(event.data for event in began.events if event.data["type"] == "assistant")
    went_on = world.chat(person("Change it"), change, model("Done."), resume=began)
    world.options += ("--resume-session-at", first["uuid"])
    rewound = world.chat(person("Change it"), change, model("No."), resume=began)

    assert [_was_denied(each) for each in (began, went_on, rewound)] == [True, False, True]


def _was_denied(session: Session) -> bool:
    return session.requests[-1].results[0].is_error


@pytest.mark.parametrize("by", ["a person", "a clone"])
def test_what_a_person_switches_off_is_off_and_a_clone_switches_nothing(
    world: World, ademem: Product, by: str
) -> None:
    lock(world, ademem)
    ademem("uninstall")
    if by == "a person":
        world.variables |= {"ADEMEM_DISABLE": "1"}
    else:
        world.write(".claude/settings.json", json.dumps({"env": {"ADEMEM_DISABLE": "1"}}))

    assert denied(world, edit(world)) == [by == "a clone"]

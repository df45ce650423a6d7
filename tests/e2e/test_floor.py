"""What hooks of newer clients add: changes in a running turn, and a guard that fails closed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ademem.operations.install import registration

from .product import Product
from .script import bash, model, person, write
from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.contract]

RULE = "The zeppelin table in `src/zeppelin.py` must never be edited by hand"
OWL = "The owl queue in `src/owl.py` must never be drained"


def knows(claude: Path, since: tuple[int, ...]) -> bool:
    name = next(part for part in claude.parts if part.startswith("2."))
    return tuple(map(int, name.split("."))) >= since


def registered(world: World) -> dict[str, list[dict[str, object]]]:
    settings = json.loads((world.project / ".claude/settings.local.json").read_text())
    return {
        event: [handler for group in groups for handler in group["hooks"]]
        for event, groups in settings["hooks"].items()
    }


@pytest.fixture
def installed(world: World, claude: Path, ademem: Product) -> Product:
    """The product, installed where this client is the one on PATH."""
    world.program("claude", f'exec "{claude}" "$@"')
    ademem.install()
    return ademem


def test_a_line_that_is_committed_in_a_turn_is_in_force_in_it(
    world: World, claude: Path, installed: Product
) -> None:
    world.write("sub/a.py", "x = 1\n")
    world.write("src/zeppelin.py", "x = 1\n")
    world.write(".cursorrules", f"- {OWL}\n")
    world.git("add", "-A")
    world.git("commit", "--quiet", "-m", "Begin")
    installed("adopt", "--yes")
    add = f"echo '- {RULE}' >> ../.cursorrules && git commit -qam Forbid"
    edit = bash("printf other > ../src/zeppelin.py")
    session = world.chat(
        person("Change the table"),
        model(bash("cd sub")),
        model(bash(f"{add} && sleep 2")),
        model(edit),
        model("Done."),
    )
    is_new = knows(claude, registration.SINCE)

    assert session.requests[-1].results[-1].is_error is is_new
    assert ("FileChanged" in registered(world)) is is_new
    late = [each for each in registered(world)["PostToolUse"] if "asyncRewake" in each]
    assert len(late) == is_new
    assert session.hooks("CwdChanged") == [] or is_new


@pytest.mark.parametrize("fail", ["open", "closed"])
def test_a_write_whose_hook_cannot_start(
    world: World, claude: Path, installed: Product, fail: str
) -> None:
    installed("config", "set", "guard.fail", fail, "--local")
    installed.install()
    settings = world.project / ".claude/settings.local.json"
    settings.write_text(settings.read_text().replace("hooks=", "hooks=/gone"))
    session = world.chat(
        person("Write it"),
        model(write(world.project / "new.py")),
        model("Done."),
    )
    is_blocked = fail == "closed" and knows(claude, registration.BLOCKING)

    assert (world.project / "new.py").exists() is not is_blocked
    assert session.requests[-1].results[-1].is_error is is_blocked
    world.sessions.clear()  # these hooks are no well-behaved ones

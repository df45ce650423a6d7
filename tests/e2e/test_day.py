"""A day as a person sees it in the interactive client: each moment has its one line."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from .interactive import SOUGHT, marks, type_to
from .product import Product
from .script import bash, model
from .terminal import read_lines
from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.contract]

RULE = "never run npm publish, run make release"
SCREENS = os.environ.get("ADEMEM_SCREENSHOTS", "")
STATUS_LINE = Path(__file__).parents[2] / "hooks/statusline.sh"


def test_a_day_on_the_screen(world: World) -> None:
    ademem = Product(world)
    ademem.enrol()
    ademem.install()
    ademem.know("Invoices round half to even")
    (world.project / "Makefile").write_text("release:\n\t@echo released\n")
    world.model.learn(
        [
            model("Noted."),
            model("Shipping it.", bash("npm publish --tag next")),
            model("By the target, then.", bash("make release")),
            model("Shipped."),
        ]
    )
    settings = marks(world)
    end = {"type": "command", "command": f"grep -q ademem:why && : >{world.root}/answered-3; :"}
    settings["hooks"]["UserPromptSubmit"] = [{"hooks": [end]}]  # type: ignore[index]
    settings["statusLine"] = {"type": "command", "command": str(STATUS_LINE)}
    (world.project / ".claude/settings.json").write_text(json.dumps(settings))
    type_to(world, f"remember: {RULE}", "ship the package", "/ademem:why")

    shown = list(read_lines((world.root / "screen").read_bytes()))
    if SCREENS:
        Path(SCREENS).mkdir(parents=True, exist_ok=True)
        version = re.search(r"Claude Code v([\d.]+)", "\n".join(shown))
        name = f"day-{version[1] if version else 'unknown'}.txt"
        Path(SCREENS, name).write_text("\n".join(shown), encoding="utf-8")
    world.model.outside[:] = set(world.model.outside) - SOUGHT
    screen = "\n".join(shown)
    for line in (
        "SessionStart:startup says: ◆ ademem: 1 memory",
        f"UserPromptSubmit says: ◆ ademem kept: {RULE} · at npm publish (undo: /ademem:undo)",
        f"{RULE} (project memory, said by you on ",
        "Stop says: ◆ ademem prevented npm publish --tag next",
        "◆ This session: prevented 1",
        "◆ 2 memories · prevented 1",
    ):
        assert screen.count(line) == 1, screen
    (session,) = json.loads(ademem("session", "list", "--json"))["sessions"]
    for told in (ademem("--json"), ademem("why", session["id"], "--json")):
        effects = json.loads(told)["effects"]
        assert (effects["prevented"], effects["answered"], effects["learned"]) == (1, 0, 1)
    assert len(world.model.requests) == 4, "what `/ademem:why` answers asks the model nothing"
    assert ademem.failures() == ""

"""The module in the client beside hooks that fail, where it fails itself, and in older clients."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from ademem.plugins.client import installing

from .conftest import OLDEST
from .product import Product, watched
from .script import model, write
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
    settings.write_text(
        settings.read_text().replace(f"python={sys.executable}", f"python={python}")
    )

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
    target = Path(installing.folder(world.environment))
    for name, text in installing.texts(world.environment):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text)


def plain(body: dict[str, object], world: World) -> str:
    """Return a request without what differs between two runs: places, ids and times."""
    text = json.dumps(body, sort_keys=True).replace(str(world.root), "ROOT")
    text = text.replace(str(world.root).replace("/", "-").replace("_", "-"), "ROOT")
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}", "UUID", text)
    return re.sub(r"toolu_\w+|[0-9a-f]{40,64}|[0-9a-f]{12}\b|cch=\w+", "ID", text)


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [("throw Error()", 0), ("await new Promise(() => {})", 9), ("for (;;);", 4)],
)
def test_a_module_that_fails_is_closed_for_what_rules_name(
    world: World, ademem: Product, fault: str, seconds: float
) -> None:
    lock(world, ademem)
    ademem("uninstall")
    file = Path(installing.folder(world.environment)) / "hooks/client.mjs"
    text = file.read_text()
    file.write_text(
        text.replace("const reason = await judge($, e)\n", f"{fault}\nconst reason = ''\n")
    )
    other = model(write(world.project / "other.py", EDIT))

    assert denied(world, edit(world), other) == [True, False]
    assert guarded(world) == CODE

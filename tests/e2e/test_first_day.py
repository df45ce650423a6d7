"""The first five minutes of the documentation, in the interactive client."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

import pytest

from .interactive import SOUGHT, marks, type_to
from .product import REPOSITORY, Product
from .script import bash, model
from .terminal import read_lines
from .world import World

pytestmark = [pytest.mark.e2e]

PAGE = REPOSITORY / "docs/guide/first-day.md"
PROMPTS = (
    "remember: use pnpm, never npm",
    "no, always keep tests next to the code instead of in a tests folder",
    "please add the package left-pad",
    "/ademem:why",
)
HEARD = """ademem review --json | python3 -c 'import json, sys
print(next(row["id"] for row in json.load(sys.stdin)["memories"] if "tests" in row["content"]))'"""
ANSWER = f'ademem add "Tests stand next to the code" --when "adding a test" --heard $({HEARD})'


def test_the_first_five_minutes_are_as_the_documentation_shows_them(world: World) -> None:
    ademem = Product(world)
    ademem.enrol()
    ademem.install()
    world.program("pnpm", "echo added")
    world.model.learn(
        [
            model("Noted."),
            model("Moving it.", bash(ANSWER)),
            model("It stands next to the code now."),
            model("Adding it.", bash("npm install left-pad")),
            model("With pnpm, then.", bash("pnpm add left-pad")),
            model("Added."),
            model("Hello."),
        ]
    )
    settings = marks(world)
    end = {"type": "command", "command": f"grep -q ademem:why && : >{world.root}/answered-4; :"}
    settings["hooks"]["UserPromptSubmit"] = [{"hooks": [end]}]  # type: ignore[index]
    (world.project / ".claude/settings.json").write_text(json.dumps(settings))
    shown = _type(world, *PROMPTS)
    for done in world.root.glob("answered-*"):
        done.unlink()
    following = _type(world, "hello")

    text = PAGE.read_text(encoding="utf-8").partition("## The first five minutes")[2]
    _, block, after, *_ = text.split("```")
    documented = _normalized(block.splitlines()[1:])
    assert _normalized(shown) == [line for line in documented if line != f"❯ {PROMPTS[-1]}"]
    begins = re.search(r"begins with `([^`]*)`", " ".join(after.split()))
    assert begins
    assert begins[1] in " ".join(following)
    assert ademem.failures() == ""


def _type(world: World, *prompts: str) -> list[str]:
    type_to(world, *prompts)
    world.model.outside[:] = set(world.model.outside) - SOUGHT
    return list(read_lines((world.root / "screen").read_bytes()))


def _normalized(lines: Iterable[str]) -> list[str]:
    """Return the lines of the conversation, without what is another one each time."""

    def read() -> Iterator[str]:
        begun = False
        for line in lines:
            begun = begun or "SessionStart" in line
            if begun and line.startswith("───"):
                return
            if begun and line.strip() and not line.startswith("✻"):
                line = re.sub(r"\b\d\d:\d\d\b", "HH:MM", line.replace("\xa0", " "))
                line = re.sub(r"said by you on \d+ \w+", "said by you on D MON", line)
                yield re.sub(r"\d+ chars", "N chars", line.rstrip())

    return list(read())

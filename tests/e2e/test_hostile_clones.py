"""The real client in a clone that somebody hostile made: two sessions and the worker after each.

ADEMEM_EXAMPLES=full runs all clones; ADEMEM_REPORT=FILE adds a row of a table for each clone and
client, with what every hook cost and what the person was shown.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

from tests.examples import FULL
from tests.hostile.clones import CLONES, EVERYTHING, ORDER, PRIVATE, RULE, Clone, Victim
from tests.hostile.machine import MOST_MIB, TIMEOUT_S

from .metering import Meter
from .product import Product, well_behaved
from .script import bash, delegate, helper, model, person, write
from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.contract(full_only=True)]

EXAMPLES = (*(CLONES if FULL else ()), EVERYTHING)
REPORT = os.environ.get("ADEMEM_REPORT", "")
PROGRAMS = frozenset({"sh", "cat", "grep", "ademem", "git", "python"})
"""Names of what hooks and worker may start, without versions."""
COLUMNS = (
    "clone",
    "client",
    "home before",
    "home after",
    "bytes sent",
    "connections",
    "programs started",
    *(f"{name}: runs, s, MiB" for name in (*TIMEOUT_S, "worker")),
    "shown to the person",
)


@pytest.fixture
def victim(world: World) -> Victim:
    """A newcomer who has the hooks in all projects, from one of their own."""
    victim = Victim(world.root)
    own = world.home / "code/own"
    own.mkdir(parents=True)
    ademem = Product(world)
    ademem("init", "--project", str(own))
    ademem("install", "--user", "--project", str(own))
    return victim


@pytest.fixture
def meter(victim: Victim, world: World) -> Meter:
    meter = Meter(world, trace=bool(REPORT))
    meter.wrap_hooks()
    return meter


@pytest.mark.parametrize("clone", [pytest.param(clone, id=clone.name) for clone in EXAMPLES])
def test_the_client_works_in_a_hostile_clone_and_nothing_leaves_it(
    clone: Clone, victim: Victim, meter: Meter, world: World, request: pytest.FixtureRequest
) -> None:
    victim.take(clone)
    world.project = victim.project
    before, git = victim.outside(), victim.git_configuration()
    source = Path(victim.project, "src/auth.py")

    for prompt in ("How are invoices rounded in billing?", "Fix the login bug in src/auth.py"):
        world.chat(
            person(prompt),
            model(bash("cat src/auth.py"), bash("ademem recall 'invoices rounded'")),
            model(bash("cat src/missing.py")),
            model(delegate("Find out who calls login().")),
            helper("Nobody does."),
            model(write(source)),
            model("Done."),
            person("/compact"),
        )
        meter.work()
    requests = "\n".join(request.text for each in world.sessions for request in each.asked)
    hooks = [hook for session in world.sessions for hook in session.hooks()]
    after = victim.outside()
    if REPORT:
        client = request.node.callspec.params["claude"]
        add_row(Path(REPORT), row(clone, client, before, after, victim, meter, world))

    assert {cost.name for cost in meter.costs} == {*TIMEOUT_S, "worker"}
    assert [hook for hook in hooks if not well_behaved(hook)] == []
    assert meter.complaints == ""
    assert [cost for cost in meter.costs if cost.mib > MOST_MIB] == []
    assert [
        cost for cost in meter.costs if cost.seconds > TIMEOUT_S.get(cost.name, float("inf"))
    ] == []
    assert {Path(path).name.rstrip(".0123456789") for path in meter.programs} <= PROGRAMS
    assert [path for path in meter.programs if str(victim.project) in path] == []
    assert meter.connections == []
    assert after == before
    assert victim.git_configuration() == git
    assert victim.listener.received == b""
    assert not victim.started.exists()
    assert ORDER not in requests
    assert PRIVATE not in requests
    assert not clone.readable or RULE in requests
    assert source.read_text() == "written\n"


def row(
    clone: Clone,
    client: str,
    before: dict[str, str],
    after: dict[str, str],
    victim: Victim,
    meter: Meter,
    world: World,
) -> list[str]:
    """One clone in one client, in the order of COLUMNS."""
    programs = "not traced"
    if meter.traced:
        ours = sorted({Path(program).name for program in meter.programs})
        programs = f"{len(meter.programs)}: {', '.join(ours)}"
    costs = []
    for name in (*TIMEOUT_S, "worker"):
        runs = [cost for cost in meter.costs if cost.name == name]
        seconds, mib = max(cost.seconds for cost in runs), max(cost.mib for cost in runs)
        costs.append(f"{len(runs)}, {seconds:.2f}, {mib:.0f}")
    shown = dict.fromkeys(
        line
        for session in world.sessions
        for hook in session.hooks()
        if hook.stdout.startswith("{")
        for line in json.loads(hook.stdout).get("systemMessage", "").splitlines()
    )
    return [
        clone.name,
        client,
        home_hash(before),
        home_hash(after),
        str(len(victim.listener.received)),
        str(len(meter.connections)) if meter.traced else "not traced",
        f"{programs}; the attacker's: {'yes' if victim.started.exists() else 'none'}",
        *costs,
        "<br>".join(shown) or "nothing",
    ]


def home_hash(files: dict[str, str]) -> str:
    return sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()[:12]


def add_row(table: Path, cells: list[str]) -> None:
    """Add a line to a Markdown table, which gets its head with the first."""
    lines = [cells] if table.exists() else [COLUMNS, ("---",) * len(COLUMNS), cells]
    with table.open("a", encoding="utf-8") as file:
        for line in lines:
            file.write("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n")

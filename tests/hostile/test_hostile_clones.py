"""A clone is a stranger: whatever its `.ade/` holds, the person's machine and word stay theirs."""

import json

import pytest

from tests.examples import some
from tests.hostile.clones import EXAMPLES, ORDER, PRIVATE, RULE, Victim
from tests.hostile.machine import Machine, faults

pytestmark = pytest.mark.slow


@pytest.fixture
def lived(request, tmp_path):
    """The clone after two sessions, the worker, and a person's commands."""
    clone = request.param
    victim = Victim(tmp_path)
    machine = Machine(victim)
    victim.take(clone)
    before, git = victim.outside(), victim.git_configuration()
    machine.live(EXAMPLES.index(clone))
    victim.listener.close()
    return clone, victim, machine, faults(clone, victim, machine, before, git)


@pytest.mark.parametrize(
    "lived", [pytest.param(clone, id=clone.name) for clone in some(EXAMPLES)], indirect=True
)
def test_a_hostile_clone_reaches_nothing_and_stops_nothing(lived):
    clone, victim, machine, found = lived
    tracked = "".join(
        path.read_text("utf-8", "replace")
        for path in (victim.project / ".ade/memory").rglob("*")
        if path.is_file()
        and not path.is_symlink()
        and path.stat().st_nlink == 1
        and path.stat().st_size < 1 << 30
    )
    shown = machine.context()

    assert found == []
    assert ORDER not in shown
    assert PRIVATE not in shown
    assert PRIVATE not in tracked
    if clone.readable:
        recalled = next(ran for ran in machine.commands if ran.name.startswith("recall"))
        assert RULE in [memory["content"] for memory in json.loads(recalled.output)["memories"]]

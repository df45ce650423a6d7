"""An order to a model among the memories of Beads is shown to none, as from every other source."""

import json

import pytest

from ademem.plugins.importers.beads_format import import_project
from tests import test_quarantine
from tests.test_quarantine import ORDER


def imported_from_beads(world):
    folder = world.root / ".beads" / "memory"
    folder.mkdir(parents=True)
    line = {"key": "k", "type": "learned", "content": ORDER, "source": "user", "ts": 1769860800}
    (folder / "knowledge.jsonl").write_text(json.dumps(line) + "\n")
    with world.memories() as memories:
        assert import_project(memories, str(world.root)).inserted == 1


@pytest.mark.parametrize(
    "check",
    [
        test_quarantine.test_an_order_is_neither_promoted_nor_shown_nor_written,
        test_quarantine.test_an_order_reaches_no_file,
    ],
)
def test_an_order_that_was_imported_stays_away_from_models(world, check):
    check(imported_from_beads, world)

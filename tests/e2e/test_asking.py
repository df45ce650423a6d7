"""A statement that a person types, the question in that request, and what comes of the answer."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from ademem.capture.gate.rows import id_of, sync_id
from ademem.core.text import dedupe_key

from .interactive import SOUGHT, marks, type_to
from .product import Product
from .script import bash, model, person
from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.contract]

SAID = "zeppelin flags live in flags.toml"
ANSWER = "The zeppelin flags live in flags.toml, not in the environment"
OCCASION = "turning the checkout banner off for a customer"
LATER = "please turn off that banner, a customer complains"


def test_a_statement_is_asked_about_in_its_request_and_kept_without_another(world: World) -> None:
    ademem = Product(world)
    ademem.enrol()
    ademem.install()
    heard = id_of(sync_id("project", "", dedupe_key(SAID)))
    add = f'ademem add "{ANSWER}" --when "{OCCASION}" --heard {heard[:6]}'
    world.model.learn([model(bash(add)), model("Noted."), model("Done.")])
    (world.project / ".claude/settings.json").write_text(json.dumps(marks(world)))
    type_to(world, SAID, "Go on.")

    screen = (world.root / "screen").read_bytes().decode("utf-8", "replace")
    world.model.outside[:] = set(world.model.outside) - SOUGHT
    first, *_ = asked = [each for each in world.model.requests if SAID in each.text]
    question = f'outlives the task: "{SAID}"'
    assert first.text.count(question) == 1, screen[-3000:]
    assert f"--heard {heard[:6]}." in first.text
    assert len(asked) == 3  # the answer to the first, its result, and the next prompt
    with closing(sqlite3.connect(world.project / ".ade/ade.db")) as db:
        rows = db.execute("select id, content, status, stage from unified_memories").fetchall()
    assert rows == [(heard, ANSWER, "candidate", "supported")]
    later = world.chat(person(LATER), model("Done."))
    assert later.requests[0].text.count(ANSWER) == 1
    assert ademem.failures() == ""

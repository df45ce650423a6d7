"""Two clients at once in one project: what one is told reaches the other's turn under way."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from pathlib import Path

import pytest

from .interactive import SOUGHT, marks, type_to
from .product import watched
from .request import Request
from .script import Reply, bash, model, person
from .scripted_model import ScriptedModel
from .world import opened

pytestmark = [pytest.mark.e2e, pytest.mark.contract]

RULE = "Never run `npm publish` here; the release job does it"
PATIENCE_S = 150


class Waiting(ScriptedModel):
    """Makes its second call only once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.began, self.may_go_on = threading.Event(), threading.Event()

    def choose(self, request: Request) -> Reply | None:
        if self.requests[1:] == [request]:
            self.began.set()
            self.may_go_on.wait(PATIENCE_S)
        return super().choose(request)


def test_a_rule_of_another_session_stops_the_next_call_of_a_turn_under_way(
    claude: Path, tmp_path: Path
) -> None:
    working = Waiting()
    with opened(claude, tmp_path, working) as world, watched(world) as ademem:
        ademem.enrol()
        ademem.install()
        (world.project / ".claude/settings.json").write_text(json.dumps(marks(world)))
        publish = bash("npm publish --dry-run")
        lines = (person("Get the package out"), model(bash("ls")), model(publish), model("Left."))
        with ThreadPoolExecutor() as threads, ScriptedModel() as other:
            session = threads.submit(world.chat, *lines)
            assert working.began.wait(PATIENCE_S)
            beside = copy(world)
            beside.model, beside.config = other, tmp_path / "config beside"
            beside.config.mkdir()
            other.learn([model("I will.")])
            type_to(beside, f"remember: {RULE}")
            working.may_go_on.set()
            asked = session.result().requests
            assert set(other.outside) <= SOUGHT

    (denied,) = asked[2].results
    assert denied.is_error
    assert RULE in denied.text
    assert RULE not in "".join(request.news for request in asked[:2])

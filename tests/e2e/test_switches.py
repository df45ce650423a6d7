"""The doctor and the client agree on whether hooks run."""

from __future__ import annotations

import json

import pytest

from ademem.core import clock, project
from ademem.operations import doctor
from tests.examples import some

from .product import Product
from .script import model, person

pytestmark = [pytest.mark.e2e, pytest.mark.contract(full_only=True)]

OFF, ON = {"disableAllHooks": True}, {"disableAllHooks": False}


@pytest.mark.parametrize(
    "settings",
    some(
        [
            pytest.param({}, id="nothing is switched off"),
            pytest.param({"user": OFF}, id="by the user"),
            pytest.param({"project": OFF}, id="by the project"),
            pytest.param({"local": OFF}, id="by the user in the project"),
            pytest.param({"user": OFF, "project": OFF, "local": ON}, id="and on again"),
            pytest.param(
                {"project": {"allowManagedHooksOnly": True}}, id="which no project can say"
            ),
            pytest.param({"user": "{ // a comment\n}"}, id="in a file that is ignored"),
        ],
        2,
    ),
)
def test_the_doctor_says_hooks_are_off_when_the_client_runs_none(
    ademem: Product, settings: dict[str, dict[str, bool] | str]
) -> None:
    world = ademem.world
    places = {
        "user": world.config / "settings.json",
        "project": world.project / ".claude/settings.json",
        "local": world.project / ".claude/settings.local.json",
    }
    for place, values in settings.items():
        path = places[place]
        there = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(values if isinstance(values, str) else json.dumps(there | values))
    patient = doctor.Patient(
        project=project.at(str(world.project)), environment=world.environment, now=clock.now()
    )
    finding = doctor.client_runs_hooks(patient)
    session = world.chat(person("hello"), model("Hello."))

    assert ("runs none of the hooks" not in finding.message) == bool(session.hooks())

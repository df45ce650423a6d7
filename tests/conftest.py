"""What every test stands on."""

import os

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester", "tests.skips"]

# How fast the machine is decides no test.
settings.register_profile(
    "patient",
    parent=settings(),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, *settings().suppress_health_check],
)
settings.load_profile("patient")


@pytest.fixture(scope="session")
def models():
    """An environment in which the real model is installed; `.ci/run` makes one."""
    place = os.environ.get("ADEMEM_MODELS_DIR")
    if not place:
        pytest.skip("ADEMEM_MODELS_DIR names no folder with an installed model")
    return {"ADEMEM_MODELS_DIR": place}

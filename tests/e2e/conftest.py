"""Each scenario runs on the newest client; what the client promises, on older ones as well."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.examples import FULL

from .product import Product, watched
from .world import World, opened

CLIENTS = Path(os.environ.get("ADEMEM_CLAUDE_DIR") or Path.home() / ".cache/ademem-ci/claude")
NEWEST, BEFORE, OLDEST = "2.1.332", "2.1.330", "2.1.197"
"""The clients that we support; the one between is for full runs."""
CONTRACT = (NEWEST, BEFORE, OLDEST) if FULL else (NEWEST, OLDEST)
_FULL_ONLY = (
    *("test_agents.py", "test_day.py", "test_first_day.py"),
    *("test_module_faults.py", "test_protocol.py"),
)
collect_ignore = [] if FULL else list(_FULL_ONLY)
"""Clients of others, a module that fails, and a day on the screen are for full runs."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a module marked `contract` on every client, the others on the newest."""
    if "claude" in metafunc.fixturenames:
        contract = metafunc.definition.get_closest_marker("contract")
        full_only = contract is not None and contract.kwargs.get("full_only", False)
        versions = CONTRACT if contract and (FULL or not full_only) else (NEWEST,)
        limits = contract.kwargs if contract is not None else {}
        since, until = limits.get("since", OLDEST), limits.get("until", NEWEST)
        versions = tuple(each for each in versions if since <= each <= until)
        metafunc.parametrize("claude", versions, indirect=True, scope="session")


@pytest.fixture(scope="session")
def claude(request: pytest.FixtureRequest) -> Path:
    program = CLIENTS / str(request.param) / "node_modules/.bin/claude"
    if not program.exists():
        pytest.skip(f"no Claude Code {request.param} in {CLIENTS}; `.ci/run` installs it")
    return program.resolve()


@pytest.fixture
def world(claude: Path, tmp_path: Path) -> Iterator[World]:
    with opened(claude, tmp_path) as world:
        yield world


@pytest.fixture(scope="module")
def shared(claude: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The product in a world that all tests of a module look at."""
    with opened(claude, tmp_path_factory.mktemp("shared")) as world, watched(world) as product:
        product.enrol()
        product.install()
        yield product


@pytest.fixture
def ademem(world: World) -> Iterator[Product]:
    """The product, enrolled and installed into the project's settings."""
    with watched(world) as product:
        product.enrol()
        product.install()
        yield product

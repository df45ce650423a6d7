"""Each scenario runs on the newest client; what the client promises, on older ones as well."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .product import Product, watched
from .world import World, opened

CLIENTS = Path(os.environ.get("ADEMEM_CLAUDE_DIR") or Path.home() / ".cache/ademem-ci/claude")
NEWEST = "2.1.330"
OLDER = ("2.1.328", "2.1.197")
"""The last one at the floor of what we support."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a module marked `contract` on every client, the others on the newest."""
    if "claude" in metafunc.fixturenames:
        contract = metafunc.definition.get_closest_marker("contract")
        versions = (NEWEST, *OLDER) if contract else (NEWEST,)
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


@pytest.fixture
def ademem(world: World) -> Iterator[Product]:
    """The product, enrolled and installed into the project's settings."""
    with watched(world) as product:
        product.enrol()
        product.install()
        yield product

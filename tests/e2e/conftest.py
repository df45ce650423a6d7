"""Each scenario runs on two clients: the newest, and one at the floor of what we support."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .product import Product, watched
from .world import World, opened

CLIENTS = Path(os.environ.get("ADEMEM_CLAUDE_DIR") or Path.home() / ".cache/ademem-ci/claude")
VERSIONS = ("2.1.328", "2.1.197")


@pytest.fixture(scope="session", params=VERSIONS)
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

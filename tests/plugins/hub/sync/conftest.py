"""A hub that serves, and clones that join one project of it."""

from contextlib import ExitStack

import pytest

from tests.plugins.hub.hubs import Served
from tests.plugins.hub.sync.clients import Clone
from tests.postgres import make_database
from tests.sync.conftest import driver as driver
from tests.sync.conftest import team as team


@pytest.fixture(scope="module")
def server(cluster):
    with Served(make_database(cluster)).serving() as served:
        yield served


@pytest.fixture
def hub(server, tmp_path):
    """The server with a new project, which is the one that clones join."""
    server.projects["team"] = server.add_project(slug := f"team-{tmp_path.name}")
    invite = Served.invite

    def invite_here(name, role="writer", slug=slug):
        return invite(server, name, role, slug)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "invite", invite_here)
        server.slug = slug
        yield server


@pytest.fixture
def clone(hub, tmp_path):
    with ExitStack() as opened:

        def make(name, role="reviewer", **options):
            made = Clone(tmp_path / name, name, **options)
            opened.callback(made.store.close)
            return made.join(hub, role) if role else made

        yield make


@pytest.fixture
def ann(clone):
    return clone("ann")


@pytest.fixture
def bob(clone):
    return clone("bob")

import subprocess

import pytest

from tests.plugins.replay.past import Past


@pytest.fixture
def past(world):
    """A project whose generated folder and migrations are there."""
    for name in ("src/api_client/orders.ts", "db/migrations/0031.sql", "src/money.py"):
        path = world.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("first line\n")
    subprocess.run(["git", "init", "-q"], cwd=world.root, check=True)
    subprocess.run(["git", "add", "-A"], cwd=world.root, check=True)
    return Past(world)

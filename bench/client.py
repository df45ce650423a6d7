"""What the hooks add to a tool call in the real client: one conversation, without and with them.

    ADEMEM_CLAUDE_DIR=… python bench/client.py [--calls 30]

The model is scripted and answers at once, so the time between two of its messages is the client's
own and its hooks'. Shown: medians in milliseconds, by client version.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from e2e.product import Product
from e2e.script import bash, model, person, write
from e2e.session import Session
from e2e.world import World, opened

VERSIONS = ("2.1.330", "2.1.197")


def gaps(session: Session) -> list[float]:
    """Milliseconds from one message of the model to the next."""
    spoken: dict[str, float] = {}
    for event in session.events:
        if event.data["type"] == "assistant":
            spoken.setdefault(event.data["message"]["id"], event.at_s)
    times = list(spoken.values())
    return [(later - earlier) * 1000 for earlier, later in pairwise(times)]


def converse(world: World, calls: int) -> dict[str, float]:
    reading = [model(bash("true")) for _ in range(calls)]
    writing = [model(write(world.project / f"f{number}.txt", "x")) for number in range(calls)]
    first = world.chat(person("What is here?"), *reading, model("Nothing."))
    second = world.chat(person("What is here?"), *writing, model("Nothing."))
    return {"Bash": statistics.median(gaps(first)), "Write": statistics.median(gaps(second))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=30)
    calls = parser.parse_args().calls
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for version in VERSIONS:
        claude = Path(os.environ["ADEMEM_CLAUDE_DIR"]) / version / "node_modules/.bin/claude"
        found = {}
        for with_hooks in (False, True):
            # A worker that the last hook started may still write there.
            scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
            with scratch as root, opened(claude, Path(root)) as world:
                if with_hooks:
                    product = Product(world)
                    product.enrol()
                    product.install()
                    product.know("Login sessions expire after ten minutes")
                found[with_hooks] = converse(world, calls)
        for tool, alone in found[False].items():
            ours = found[True][tool]
            both = f"{alone:6.1f} ms without hooks, {ours:6.1f} with"
            print(f"{version}  {tool:<6} {both}: +{ours - alone:.1f}")


if __name__ == "__main__":
    main()

"""A project whose sessions are made up: what they were asked, did, and how they ended."""

from datetime import timedelta

import pytest

from ademem.core.client import TurnKey
from ademem.core.clock import stamp
from ademem.plugins.procedures import learning, records
from ademem.store import episodes, logs
from ademem.store.episodes import Action, Episode
from tests import builders
from tests.world import Open


def run(command):
    return Action(tool="Bash", target=command, kind="run")


def edit(path):
    return Action(tool="Edit", target=path, kind="edit")


def release(version):
    """What a release takes, with some looking around."""
    return (
        Action(tool="Read", target="CHANGELOG.md", kind="read"),
        edit("CHANGELOG.md"),
        run("git status && ls"),
        run("npm test"),
        run(f'git commit -am "Release {version}" && git tag v{version}'),
        run("git push --tags"),
    )


class World(Open):
    count = 0
    """Sessions so far."""

    def session(self, task, actions, outcome="succeeded", *, session=None, after=None, **changes):
        """A day later, or *after* a while, somebody does this; the id of the episode."""
        self.now += after or timedelta(days=1)
        self.count += 1
        session = session or f"s{self.count}"
        memory = builders.memory(
            f"Episode {self.count}: {task}", category="episode", source_type="episode"
        )
        builders.insert(self.store, memory)
        moment = stamp(self.now)
        given = {
            "memory_id": memory.id,
            "session_id": session,
            "task": task,
            "outcome": outcome,
            "started_at": moment,
            "ended_at": moment,
            "actions": tuple(actions),
        }
        episodes.put(self.store, Episode(**(given | changes)), self.now)
        return memory.id

    def release(self, version, outcome="succeeded", **changes):
        task = f"Cut release {version} of the app"
        return self.session(task, release(version), outcome, **changes)

    def releases(self, count):
        for number in range(1, count + 1):
            self.release(f"1.{number}.0")

    def show(self, procedure, session, place="briefing"):
        key = TurnKey(session_id=session)
        shown = [logs.Shown(memory_id=procedure.id)]
        logs.log_shown(self.store, place, shown, self.now, key=key, query="startup")

    def learn(self):
        return learning.learn(self.runtime, self.now)

    def procedures(self, **options):
        return records.find_live(self.store, **options)

    def procedure(self):
        (found,) = self.procedures()
        return found


@pytest.fixture
def lonely_world(tmp_path):
    """A project that had no session yet."""
    with World(tmp_path / "project") as world:
        yield world


@pytest.fixture
def world(lonely_world):
    """A project in which one session did something else."""
    before = lonely_world.now
    lonely_world.session("Word the poster of the choir", (edit("poster.md"),), session="s0")
    lonely_world.now, lonely_world.count = before, 0
    return lonely_world

"""A project with memories and past sessions, and what a replay tells of them."""

from __future__ import annotations

from datetime import UTC, datetime

from ademem.core.anchor import of_key
from ademem.core.memory import RULE, Draft, Origin, Trust
from ademem.operations import writing
from ademem.plugins.replay import replaying
from ademem.search import binding
from tests.command_line import ademem
from tests.plugins.replay import transcript_writer

BEFORE = datetime(2026, 2, 1, tzinfo=UTC)
BY_PERSON = Origin(trust=Trust.USER, source_type="user")


class Past:
    def __init__(self, world):
        self.world = world
        self.config = world.root.parent / "config"

    def know(self, text, *at, said=BEFORE, mark=RULE):
        """Store what a person typed at a time, with its places; return its id."""
        draft = Draft(
            content=text,
            category="convention",
            promoted=True,
            origin=BY_PERSON,
            tags=(mark,),
            anchors=tuple(of_key(key, by_person=True) for key in at),
            created_at=said,
        )
        with self.world.terminal() as memories:
            written = writing.write(memories, draft)
            binding.update_bindings(memories.store, memories.project)
        return written.memory.id

    def session(self, name, *steps, root=None, **options):
        """Write a transcript; steps may be lists of steps."""
        flat = [each for step in steps for each in (step if isinstance(step, list) else [step])]
        return transcript_writer.write(self.config, root or self.world.root, name, flat, **options)

    def link_home(self):
        """Let a page that no session of the client started find the transcripts, too."""
        home = self.world.root.parent / "home"
        home.mkdir(exist_ok=True)
        (home / ".claude").symlink_to(self.config)

    def run(self, *options):
        """What the command prints to a person."""
        without = {"CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR"}
        given = self.world.environment.items()
        environment = {name: value for name, value in given if name not in without}
        return ademem("replay", *options, environment=environment, folder=self.world.root)

    def stored(self):
        return self.world.root / ".ade/run/replay.json"

    def replay(self, **options):
        with self.world.terminal() as memories:
            return replaying.replay(memories, **options)

"""Tell what today's memories would have met in past sessions: `ademem replay`."""

COMMANDS = {"ademem.plugins.replay.command": "replay"}
PANELS = {"Insight": "replay"}

"""SubagentStart: brief a subagent."""

from ademem.events import run
from ademem.events.subagent_start import handle

run(handle)

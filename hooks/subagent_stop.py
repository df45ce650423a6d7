"""SubagentStop: keep what a subagent learned."""

from ademem.events import run
from ademem.events.subagent_stop import handle

run(handle)

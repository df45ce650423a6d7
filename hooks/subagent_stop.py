"""SubagentStop: keep what a subagent learned."""

from ademem.session import run
from ademem.session.subagent_stop import handle

run(handle)

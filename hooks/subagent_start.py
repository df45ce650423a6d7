"""SubagentStart: brief a subagent."""

from ademem.session import run
from ademem.session.subagent_start import handle

run(handle)

"""PostToolUse: capture what a tool call taught us."""

from ademem.events import run
from ademem.events.post_tool_use import handle

run(handle)

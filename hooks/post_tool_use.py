"""PostToolUse: capture what a tool call taught us."""

from ademem.session import run
from ademem.session.post_tool_use import handle

run(handle)

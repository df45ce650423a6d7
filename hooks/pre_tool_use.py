"""PreToolUse: memory before mutation."""

from ademem.events import run
from ademem.events.pre_tool_use import handle

run(handle)

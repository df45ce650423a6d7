"""PreToolUse: memory before mutation."""

from ademem.session import run
from ademem.session.pre_tool_use import handle

run(handle)

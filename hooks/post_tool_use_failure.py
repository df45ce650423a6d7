"""PostToolUseFailure: learn from an error and recall what is known of it."""

from ademem.events import run
from ademem.events.post_tool_use_failure import handle

run(handle)

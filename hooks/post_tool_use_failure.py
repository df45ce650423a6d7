"""PostToolUseFailure: learn from an error and recall what is known of it."""

from ademem.session import run
from ademem.session.post_tool_use_failure import handle

run(handle)

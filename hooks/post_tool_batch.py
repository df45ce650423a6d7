"""PostToolBatch: the calls of one message are over."""

from ademem.session import run
from ademem.session.post_tool_batch import handle

run(handle)

"""PreCompact: tell the summariser what to keep."""

from ademem.events import run
from ademem.events.pre_compact import handle

run(handle)

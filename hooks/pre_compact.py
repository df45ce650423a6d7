"""PreCompact: tell the summariser what to keep."""

from ademem.session import run
from ademem.session.pre_compact import handle

run(handle)

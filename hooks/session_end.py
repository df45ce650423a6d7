"""SessionEnd: close the session."""

from ademem.events import run
from ademem.events.session_end import handle

run(handle)

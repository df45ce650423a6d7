"""SessionStart: brief the session on what the project remembers."""

from ademem.events import run
from ademem.events.session_start import handle

run(handle)

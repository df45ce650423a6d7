"""SessionStart: brief the session on what the project remembers."""

from ademem.session import run
from ademem.session.session_start import handle

run(handle)

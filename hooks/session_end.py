"""SessionEnd: close the session."""

from ademem.session import run
from ademem.session.session_end import handle

run(handle)

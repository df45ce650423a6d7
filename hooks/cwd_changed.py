"""CwdChanged: name the watched files again, which the client forgets at a change of folder."""

from ademem.session import run
from ademem.session.cwd_changed import handle

run(handle)

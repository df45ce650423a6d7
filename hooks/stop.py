"""Stop: end the turn and keep what its last message learned."""

from ademem.session import run
from ademem.session.stop import handle

run(handle)

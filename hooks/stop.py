"""Stop: end the turn and keep what its last message learned."""

from ademem.events import run
from ademem.events.stop import handle

run(handle)

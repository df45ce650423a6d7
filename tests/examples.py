"""How many examples a run tries: a third of them, or all with ADEMEM_EXAMPLES=full."""

import os

FULL = os.environ.get("ADEMEM_EXAMPLES") == "full"


def examples(count: int, share: int = 3) -> int:
    """Return *count* in a full run, else one *share*-th of it."""
    return count if FULL else max(1, count // share)

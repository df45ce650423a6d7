"""What every source of a model is told."""

from __future__ import annotations

from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Job(Value):
    """One model to be had."""

    dtype: str
    scratch: str
    """Folder for what is on its way; it outlives a failure, so that the next try goes on."""
    target: str
    """Folder that gets the graph and the tokenizer."""
    environment: Mapping[str, str]
    path: str
    """The folder that --from named; else empty."""
    tell: Callable[[str, int], None]
    """Hears what is under way, and how far it is, 0 to 100."""

"""Many memories that say one thing become one; those that contradict each other are told."""

from ademem.synthesis.lifecycle.consolidation.running import (
    Conflicting,
    Consolidated,
    Merged,
    Run,
    consolidate,
    consolidate_alone,
    preview,
)

__all__ = [
    "Conflicting",
    "Consolidated",
    "Merged",
    "Run",
    "consolidate",
    "consolidate_alone",
    "preview",
]

"""The files of a project: what everybody may know, the same bytes for the same store."""

from __future__ import annotations

from ademem.mirror.checking import check
from ademem.mirror.problem import Problem
from ademem.mirror.survey import File, survey
from ademem.mirror.taken import Taken
from ademem.mirror.writing import (
    Preview,
    Refreshed,
    preview,
    preview_aside,
    read_aside,
    refresh,
    take_over,
)

__all__ = [
    "File",
    "Preview",
    "Problem",
    "Refreshed",
    "Taken",
    "check",
    "preview",
    "preview_aside",
    "read_aside",
    "refresh",
    "survey",
    "take_over",
]

"""The files of a project: what everybody may know, the same bytes for the same store."""

from __future__ import annotations

from ademem.mirror.checking import check
from ademem.mirror.deadline import Deadline
from ademem.mirror.problem import Problem
from ademem.mirror.provenance import provenance_of
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
    take_over_until,
)

__all__ = [
    "Deadline",
    "File",
    "Preview",
    "Problem",
    "Refreshed",
    "Taken",
    "check",
    "preview",
    "preview_aside",
    "provenance_of",
    "read_aside",
    "refresh",
    "survey",
    "take_over",
    "take_over_until",
]

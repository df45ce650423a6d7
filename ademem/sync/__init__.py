"""Reconcile the tracked files and the store; equal stores have equal files."""

from __future__ import annotations

from ademem.core.clock import Deadline
from ademem.files.texts import Problem
from ademem.sync.checks import check
from ademem.sync.import_progress import ImportReport
from ademem.sync.mirror import (
    Preview,
    Refreshed,
    import_changes,
    import_changes_until,
    preview,
    preview_aside,
    read_aside,
    refresh,
)
from ademem.sync.provenance import provenance_of
from ademem.sync.survey import File, survey

__all__ = [
    "Deadline",
    "File",
    "ImportReport",
    "Preview",
    "Problem",
    "Refreshed",
    "check",
    "import_changes",
    "import_changes_until",
    "preview",
    "preview_aside",
    "provenance_of",
    "read_aside",
    "refresh",
    "survey",
]

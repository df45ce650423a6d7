"""The files of a project: what everybody may know, the same bytes for the same store."""

from __future__ import annotations

from ademem.mirror.checking import check
from ademem.mirror.problem import Problem
from ademem.mirror.survey import File, survey
from ademem.mirror.taken import Taken
from ademem.mirror.writing import Refreshed, refresh

__all__ = ["File", "Problem", "Refreshed", "Taken", "check", "refresh", "survey"]

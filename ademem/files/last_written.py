"""What we last wrote, so that a change by somebody else is noticed."""

from __future__ import annotations

import json
import os

from ademem.core import confined
from ademem.core.digest import sha256_hex
from ademem.files import index
from ademem.files.pages import INDEX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ademem.core.project import Project


def load(project: Project) -> dict[str, list[str]]:
    """Fingerprints by path; a damaged record is none, and every file counts as changed."""
    try:
        recorded = json.loads(confined.read_text(project.root, _path(project)) or "{}")
        return {str(path): list(prints) for path, prints in recorded.items()}
    except (ValueError, AttributeError, TypeError, confined.Refused):
        return {}


def save(project: Project, prints: Mapping[str, list[str]]) -> None:
    """A path has two fingerprints while it is being written: we may be killed on either side."""
    text = json.dumps(prints, indent=0, sort_keys=True) + "\n"
    confined.write_text(project.root, _path(project), text)


def fingerprint(path: str, text: str) -> str:
    """Of the index only what is ours counts; its hand-written regions may change."""
    return sha256_hex(index.text_outside(text) if path == INDEX else text)


def _path(project: Project) -> str:
    return os.path.join(project.run, "mirror.json")

"""Enrolled projects without the work of enrolling each: copies of one, but for what is its own."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ademem import operations
from ademem.core import clock, project, repository, trust
from ademem.files import enrolment
from ademem.store import admission
from ademem.store.database import SECRET_BYTES, read_secret
from ademem.store.inspection import open_read_only

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "project"
"""The name of the folder, which is that of the project in its database."""


def enrol(root: Path, environment: Mapping[str, str]) -> None:
    """Leave what `ademem init` leaves; in most tests the folder is a new one called `project`."""
    is_new = root.name == NAME and not (root / ".ade").exists()
    if not is_new or repository.git_root(str(root)):
        operations.init(str(root), environment=environment)
        return
    files, secret = _model()
    own = os.urandom(SECRET_BYTES)
    for name, (content, status) in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.replace(secret, own))
        path.chmod(status.st_mode)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    made = project.at(str(root))
    trust.register_store(own.hex(), environment)
    trust.note_inspection(made.database, admission.state(made), environment)
    enrolment.note_use(made, "", environment, clock.now())


@cache
def _model() -> tuple[dict[Path, tuple[bytes, os.stat_result]], bytes]:
    """The files of an enrolled folder, and the secret in its database."""
    with tempfile.TemporaryDirectory() as home:
        root = Path(home, NAME)
        root.mkdir()
        operations.init(str(root), environment={"HOME": home, "PATH": os.environ["PATH"]})
        made = project.at(str(root))
        db = open_read_only(made.database, 1.0, 1.0)
        secret = bytes.fromhex(read_secret(db))
        db.close()
        found = (path for path in root.rglob("*") if path.is_file())
        files = {path.relative_to(root): (path.read_bytes(), path.stat()) for path in found}
        return files, secret

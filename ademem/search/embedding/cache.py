"""Where the model lies: a folder a number format, shared by all projects of a user."""

from __future__ import annotations

import os
import sys

from ademem.core import shared_files
from ademem.core.errors import AdememError, suppress
from ademem.core.json_text import loads
from ademem.core.shared_files import is_held
from ademem.core.value import StrEnum, Value, as_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ademem.store.runtime import Runtime

DIMENSIONS = 384
MAX_TOKENS = 256
"""Of a text the model sees so many word pieces, the two marks at its ends included."""
MULTILINGUAL = "q4"
"""The number format of the second model."""
MODELS = {
    "int8": "all-MiniLM-L6-v2",
    "fp32": "all-MiniLM-L6-v2",
    MULTILINGUAL: "multilingual-e5-small",
}
GRAPH = "model.onnx"
TOKENIZER = "tokenizer.json"
MANIFEST = "manifest.json"
"""Written last of all: a folder without one is not a model yet."""
PREPARED = "prepared"
"""Folder of what was derived from the graph for one version of onnxruntime."""


class DamagedModel(AdememError):
    hint = "`ademem model install` repairs it"

    def __init__(self, what: str) -> None:
        super().__init__(f"the embedding model is damaged: {what}")


class State(StrEnum):
    MISSING = "missing"
    PARTIAL = "partial"
    INSTALLED = "installed"


class File(Value):
    name: str
    bytes: int
    sha256: str


class Manifest(Value):
    source: str
    """hub | pip | the folder it came from."""
    trust: str
    """hash: published bytes, or built from such; parity: unknown bytes that give its vectors."""
    files: tuple[File, ...]


def root(environment: Mapping[str, str]) -> str:
    if named := environment.get("ADEMEM_MODELS_DIR"):
        return os.path.abspath(named)
    home = environment.get("HOME") or os.path.expanduser("~")
    usual = "Library/Caches" if sys.platform == "darwin" else ".cache"
    cache = environment.get("XDG_CACHE_HOME") or os.path.join(home, usual)
    return os.path.join(cache, "ademem", "models")


def folder(environment: Mapping[str, str], dtype: str) -> str:
    return os.path.join(root(environment), MODELS[dtype], dtype)


def installed(environment: Mapping[str, str], dtype: str) -> str | None:
    place = folder(environment, dtype)
    return place if is_whole(place) else None


def installed_for(runtime: Runtime) -> str | None:
    return installed(runtime.environment, runtime.settings.embed.dtype)


def list_own_folders(environment: Mapping[str, str], dtype: str) -> list[str]:
    """The folders above a model that are ours, innermost first; one that was named is not."""
    above = root(environment)
    ours = [] if environment.get("ADEMEM_MODELS_DIR") else [above, os.path.dirname(above)]
    return [os.path.join(above, MODELS[dtype]), *ours]


def scratch_folder(folder: str) -> str:
    return folder + ".part"


def lock(folder: str) -> str:
    return folder + ".lock"


def state(folder: str) -> State:
    """By the sizes of the files, which costs nothing; `find_damage` reads them."""
    if is_whole(folder):
        return State.INSTALLED
    began = size(folder) or size(scratch_folder(folder))
    return State.PARTIAL if began else State.MISSING


def is_whole(folder: str) -> bool:
    found = manifest(folder)
    return found is not None and all(
        file_size(os.path.join(folder, file.name)) == file.bytes for file in found.files
    )


def manifest(folder: str) -> Manifest | None:
    try:
        text = shared_files.read_text(os.path.join(folder, MANIFEST))
        if not text:
            return None
        kept = loads(text)
        return Manifest(
            source=kept["source"],
            trust=kept["trust"],
            files=tuple(File(**file) for file in kept["files"]),
        )
    except (ValueError, KeyError, TypeError):
        return None


def seal(folder: str, names: tuple[str, ...], *, source: str, trust: str) -> Manifest:
    """Write down what is there, which makes it whole."""
    made = Manifest(
        source=source,
        trust=trust,
        files=tuple(
            File(name=name, bytes=os.path.getsize(path), sha256=sha256(path))
            for name in names
            for path in [os.path.join(folder, name)]
        ),
    )
    import json

    text = json.dumps(as_dict(made) | {"files": [as_dict(file) for file in made.files]}, indent=1)
    shared_files.write_atomic(os.path.join(folder, MANIFEST), text + "\n")
    return made


def find_damage(folder: str) -> list[str]:
    found = manifest(folder)
    damaged = []
    for file in found.files if found else ():
        path = os.path.join(folder, file.name)
        if file_size(path) is None:
            damaged.append(f"{file.name} is missing")
        elif sha256(path) != file.sha256:
            damaged.append(f"{file.name} is not what was installed")
    return damaged


def is_locked(folder: str) -> bool:
    return is_held(lock(folder))


def size(folder: str) -> int:
    return sum(
        file_size(os.path.join(place, name)) or 0
        for place, _, names in os.walk(folder)
        for name in names
    )


def sha256(path: str) -> str:
    from hashlib import file_digest

    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def file_size(path: str) -> int | None:
    try:
        return os.path.getsize(path)
    except OSError:
        return None


def serving(folder: str) -> shared_files.locked:
    """Take the lock of the one process that prompts started to keep this model loaded."""
    return shared_files.locked(f"{folder}.served", wait=False)


def is_served(folder: str) -> bool:
    return is_held(f"{folder}.served")


def ask_to_serve(folder: str, root: str) -> None:
    """Ask the process that keeps this model loaded to answer for the project at *root*, too."""
    path = f"{folder}.asked"
    with suppress(OSError):
        if root not in _read_asked(path):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w") as file:
                file.write(f"{root}\n")


def take_asked(folder: str) -> list[str]:
    """Return the projects that were asked for since the last call."""
    path, taken = f"{folder}.asked", f"{folder}.asked.taken"
    with suppress(OSError):
        os.replace(path, taken)
        return _read_asked(taken)
    return []


def _read_asked(path: str) -> list[str]:
    with suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
        return file.read().splitlines()
    return []

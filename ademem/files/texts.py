"""Texts of files by their path, loaded when they are asked for: all at once may be too large."""

from __future__ import annotations

from ademem.core.digest import sha256_hex
from ademem.core.errors import AdememError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

KEPT_CHARS = 2_000_000
"""Characters of small files that stay in memory, so that they are read once."""

OVERSIZE = "\0oversize "
"""How a line reads that is too long to be read; behind it stands how many bytes it has."""


class FilesChanged(AdememError):
    hint = "run it again when nobody writes to it"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} was changed while it was read")


class Texts:
    """A mapping from paths to texts, without changes."""

    def __init__(self, load: Callable[[str], str | None], digests: Mapping[str, str] = {}) -> None:
        """Load a text with *load*, which is None for a file that is gone."""
        self._load = load
        self.digests = dict(digests)
        self._small: dict[str, str] = {}
        self._room = KEPT_CHARS

    def add(self, path: str, text: str) -> None:
        """Remember which text the path has."""
        self.digests[path] = sha256_hex(text)
        self._keep(path, text)

    def only(self, paths: Iterator[str]) -> Texts:
        """The same with these paths alone."""
        chosen = Texts(self._load, {path: self.digests[path] for path in paths})
        chosen._small = self._small
        return chosen

    def __getitem__(self, path: str) -> str:
        if path not in self.digests:
            raise KeyError(path)
        text = self._small.get(path)
        if text is None:
            text = self._load(path)
            if text is None or sha256_hex(text) != self.digests[path]:
                raise FilesChanged(path)
            self._keep(path, text)
        return text

    def get(self, path: str, default: str | None = None) -> str | None:
        return self[path] if path in self.digests else default

    def __contains__(self, path: object) -> bool:
        return path in self.digests

    def __iter__(self) -> Iterator[str]:
        return iter(self.digests)

    def __len__(self) -> int:
        return len(self.digests)

    def items(self) -> Iterator[tuple[str, str]]:
        return ((path, self[path]) for path in self.digests)

    def _keep(self, path: str, text: str) -> None:
        if len(text) <= self._room:
            self._room -= len(text)
            self._small[path] = text


def digests_of(texts: Mapping[str, str] | Texts) -> dict[str, str]:
    """The digest of each text, by its path."""
    if isinstance(texts, Texts):
        return texts.digests
    return {path: sha256_hex(text) for path, text in texts.items()}

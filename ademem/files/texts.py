"""Texts of files by their path, loaded on access: all at once may be too large."""

from __future__ import annotations

from ademem.core.errors import AdememError
from ademem.core.text import of_stream, sha256_hex, slices
from ademem.core.value import Value
from ademem.files import markdown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


KEPT_CHARS = 2_000_000
"""Characters of small files kept in memory."""

OVERSIZE = "\0oversize "
"""The text in place of a line that is too long to be read; its size in bytes follows."""


class FilesChanged(AdememError):
    hint = "run it again when nobody writes to it"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} was changed while it was read")


class Texts:
    """A read-only mapping from paths to texts."""

    def __init__(
        self,
        load: Callable[[str], str | None],
        digests: Mapping[str, str] = {},
        stream: Callable[[str], Iterator[str]] | None = None,
    ) -> None:
        """Load a text with *load*, which returns None for a missing file.

        *stream* loads it in parts, and yields nothing for a file that is gone.
        """
        self._load = load
        self._stream = stream
        self.digests = dict(digests)
        self._small: dict[str, str] = {}
        self._room = KEPT_CHARS

    def add(self, path: str, text: str) -> None:
        """Note the digest of the path's text."""
        self.digests[path] = sha256_hex(text)
        self._keep(path, text)

    def only(self, paths: Iterator[str]) -> Texts:
        """Return the mapping for these paths alone."""
        chosen = Texts(self._load, {path: self.digests[path] for path in paths}, self._stream)
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

    def add_streamed(self, path: str) -> None:
        """Note the digest of the path's text; raises what *stream* raises."""
        assert self._stream
        parts = self._stream(path)
        first = next(parts, "")
        if next(parts, None) is None:
            self.add(path, first)
        else:
            self.digests[path] = self._digest(path)

    def parts(self, path: str) -> Iterator[str]:
        """Yield the text in parts; raises FilesChanged before the first part of another text."""
        if self._stream is None or path in self._small or not self._is_same(path):
            yield from slices(self[path])
        else:
            yield from self._stream(path)

    def _is_same(self, path: str) -> bool:
        try:
            return self._digest(path) == self.digests.get(path)
        except (OSError, ValueError):
            return False

    def _digest(self, path: str) -> str:
        assert self._stream
        length = sum(map(len, self._stream(path)))
        return of_stream(self._stream(path), length)

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


def parts_of(texts: Mapping[str, str] | Texts, path: str) -> Iterator[str]:
    """Yield the text at *path* in parts; nothing without it."""
    if path not in texts:
        return iter(())
    return texts.parts(path) if isinstance(texts, Texts) else slices(texts[path])


def lines_of(texts: Mapping[str, str] | Texts, path: str) -> Iterator[str]:
    """Yield the lines of the text at *path* as `entry.lines_of` does; nothing without it."""
    return map(markdown.cleaned, markdown.split(parts_of(texts, path)))


def has_oversize(texts: Mapping[str, str] | Texts, path: str) -> bool:
    """Return True if a line of the text, or all of it, was too long to be read."""
    return any(line.startswith(OVERSIZE) for line in lines_of(texts, path))


def digests_of(texts: Mapping[str, str] | Texts) -> dict[str, str]:
    """Return the digest of each text by its path."""
    if isinstance(texts, Texts):
        return texts.digests
    return {path: sha256_hex(text) for path, text in texts.items()}


class Problem(Value):
    path: str
    line: int | None
    message: str
    passes: bool = False
    """True if the next rendering repairs it without loss."""

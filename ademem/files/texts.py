"""Texts of files by their path, loaded on access: all at once may be too large."""

from __future__ import annotations

from itertools import repeat

from ademem.core.errors import AdememError, suppress
from ademem.core.text import of_stream, sha256_hex, slices
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

CACHED_CHARS = 32_000_000
"""Those of 20,000 memories twice; of what goes beyond a text is streamed at each access."""

SPLIT_CHARS = 2_000_000
"""Longest text whose lines are kept, as an import in a hook reads them several times."""

OVERSIZE = "\0oversize "
"""The text in place of a line that is too long to be read; its size in bytes follows."""


class FilesChanged(AdememError):
    hint = "run it again when nothing writes to it"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} was changed while it was read")


class BadLine(Exception):
    """A line that is not a valid record; the message gives the reason."""


class Problem(Value):
    path: str
    line: int | None
    message: str
    passes: bool = False
    """True if the next rendering repairs it without loss."""
    hint: str = ""
    """The command by which a person decides; empty for what only an edit of the file solves."""


class Texts:
    def __init__(
        self,
        stream: Callable[[str], Iterable[str]] = lambda _path: (),
        digests: Mapping[str, str] = {},
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        """*stream* yields the parts of a text; *on_change* is called where it is another one."""
        self._stream = stream
        self._on_change = on_change
        self.digests = dict(digests)
        self.states: dict[str, object] = {}
        """Of the files, by path, as they were before they were read."""
        self._small: dict[str, str] = {}
        self._held: dict[tuple[str, Sequence[str]], bool] = {}
        """Answers of `holds`, by digest."""
        self._split: dict[str, list[str]] = {}
        """Lines of texts, by digest."""
        self._room = CACHED_CHARS

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> Texts:
        found = cls()
        for path, text in texts.items():
            found.add(path, text)
        return found

    def add(self, path: str, text: str, digest: str = "") -> None:
        self.digests[path], self._small[path] = digest or sha256_hex(text), text

    def add_streamed(self, path: str) -> None:
        """Note the digest of the path's text; raises what *stream* raises."""
        text = self._load(path)
        if text is None:
            self.digests[path] = self._digest(path)
        else:
            self.digests[path] = sha256_hex(text)
            self._cache(path, text)

    def add_of(self, other: Texts, path: str) -> None:
        """Note a text of other texts, which is not read again."""
        self.digests[path] = other.digests[path]
        if (text := other._small.get(path)) is not None:
            self._cache(path, text)

    def is_text(self, path: str, text: str) -> bool:
        """Tell whether the path has this text; one that is not cached is not loaded for that."""
        if (small := self._small.get(path)) is not None:
            return small == text
        return path in self.digests and self.digests[path] == sha256_hex(text)

    def share(self, other: Texts) -> None:
        """Take from *other* the texts that are the same, so that they are not read twice."""
        for path, text in other._small.items():
            if path in self.digests and self.digests[path] == other.digests.get(path):
                self._small[path] = text
        other._held |= self._held
        other._split |= self._split
        self._held, self._split = other._held, other._split

    def only(self, paths: Iterable[str]) -> Texts:
        chosen = Texts(self._stream, {path: self.digests[path] for path in paths}, self._on_change)
        chosen._small, chosen.states = self._small, self.states
        chosen._held, chosen._split = self._held, self._split
        return chosen

    def __getitem__(self, path: str) -> str:
        if path not in self.digests:
            raise KeyError(path)
        if (text := self._small.get(path)) is None:
            with suppress(OSError, ValueError):
                text = "".join(self._stream(path))
            self._check(path, None if text is None else sha256_hex(text))
            self._cache(path, text or "")
        return text or ""

    def get(self, path: str) -> str | None:
        return self[path] if path in self.digests else None

    def parts(self, path: str) -> Iterator[str]:
        """Yield the text in parts, nothing for a missing file.

        Raises FilesChanged before the first part of another text than the one that was noted.
        """
        if path not in self.digests:
            return
        if path not in self._small:
            text = digest = None
            with suppress(OSError, ValueError):
                text = self._load(path)
                digest = self._digest(path) if text is None else sha256_hex(text)
            self._check(path, digest)
            if text is None:
                yield from self._stream(path)
                return
            self._cache(path, text)
        yield from slices(self._small[path])

    def lines(self, path: str) -> Iterable[str]:
        digest = self.digests.get(path, "")
        if digest in self._split:
            return self._split[digest]
        text = self._small.get(path) if digest else ""
        if text is None or len(text) > SPLIT_CHARS:
            return _clean(split_lines(self.parts(path)), has_returns=text is None or "\r" in text)
        return self._split.setdefault(digest, clean_lines(text))

    def lines_without(self, path: str, other: Texts) -> set[str]:
        """Return the lines that the path's text in *other* has not."""
        return {*self.lines(path)}.difference(other.lines(path))

    def has_oversize(self, path: str) -> bool:
        return self.holds(path, (OVERSIZE,)) and any(
            line.startswith(OVERSIZE) for line in self.lines(path)
        )

    def holds(self, path: str, marks: Sequence[str]) -> bool:
        """Tell whether one of the *marks* stands anywhere in the text."""
        asked = self.digests.get(path, ""), marks
        if asked not in self._held:
            self._held[asked] = self._search(path, marks)
        return self._held[asked]

    def _search(self, path: str, marks: Sequence[str]) -> bool:
        rest, most = "", max(map(len, marks)) - 1
        for part in self.parts(path):
            text = rest + part
            # A mark without its blank is found faster, as most texts are full of blanks.
            if any(mark.rstrip() in text and mark in text for mark in marks):
                return True
            rest = text[-most:]
        return False

    def __contains__(self, path: object) -> bool:
        return path in self.digests

    def __iter__(self) -> Iterator[str]:
        return iter(self.digests)

    def _check(self, path: str, digest: str | None) -> None:
        if digest != self.digests[path]:
            self._on_change()
            raise FilesChanged(path)

    def _load(self, path: str) -> str | None:
        """Return the text if there is room for it; raises what *stream* raises."""
        parts, length = [], 0
        for part in self._stream(path):
            length += len(part)
            if length > self._room:
                return None
            parts.append(part)
        return "".join(parts)

    def _digest(self, path: str) -> str:
        return of_stream(self._stream(path), sum(map(len, self._stream(path))))

    def _cache(self, path: str, text: str) -> None:
        if len(text) <= self._room:
            self._room -= len(text)
            self._small[path] = text


class CombinedTexts(Texts):
    """Each path's text from the last of *given* that has it, read and kept there."""

    def __init__(self, given: Iterable[Texts]) -> None:
        self._sources = {path: texts for texts in given for path in texts}
        digests = {path: source.digests[path] for path, source in self._sources.items()}
        super().__init__(digests=digests)

    def only(self, paths: Iterable[str]) -> Texts:
        return CombinedTexts([self._sources[path].only([path]) for path in paths])

    def __getitem__(self, path: str) -> str:
        return self._sources[path][path]

    def parts(self, path: str) -> Iterator[str]:
        return self._sources[path].parts(path) if path in self._sources else iter(())


def clean_lines(text: str) -> list[str]:
    """Return the lines without a byte order mark, carriage returns and trailing blanks."""
    return list(_clean(text.removeprefix("\ufeff").split("\n"), has_returns="\r" in text))


def _clean(lines: Iterable[str], *, has_returns: bool) -> Iterator[str]:
    """Clean each line, without a call of Python where no text has a carriage return."""
    return map(clean_line, lines) if has_returns else map(str.rstrip, lines, repeat(" \t"))


def split_lines(parts: Iterable[str]) -> Iterator[str]:
    left: list[str] = []
    is_first = True
    for part in parts:
        if is_first:
            part, is_first = part.removeprefix("\ufeff"), False
        *whole, rest = part.split("\n")
        if whole:
            yield "".join([*left, whole[0]])
            yield from whole[1:]
            left = []
        left.append(rest)
    yield "".join(left)


def clean_line(line: str) -> str:
    return line.removesuffix("\r").rstrip(" \t")

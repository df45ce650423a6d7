"""The texts of the tracked files: as they are now, and as they and the store last agreed."""

from __future__ import annotations

import codecs
import io
import os
import time

from ademem.core import confined
from ademem.core.errors import suppress
from ademem.core.json_text import compact, loads
from ademem.core.text import LONG, sha256_hex
from ademem.core.value import Value
from ademem.files import BRIEF, BRIEF_PAGE, FOLDER, INDEX, KNOWLEDGE
from ademem.files.markdown import split_regions
from ademem.files.texts import OVERSIZE, Problem, Texts
from ademem.store import agreements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ademem.core.project import Project
    from ademem.store import Store

NOT_TEXT = "\0"
"""The text in place of a file that is not UTF-8, or is refused."""

LINE_CHARS = 256 * 1024
FRESH_S = 1.0
"""Age up to which a file may be changed again within one tick of its times."""
NOTHING_READ = Texts()


def present(project: Project, earlier: Texts = NOTHING_READ) -> Texts:
    """Read the files that may be tracked ones, by path; NOT_TEXT for other encodings.

    A line that is too long reads as OVERSIZE and its size, and so does a file that is too large.
    Of *earlier* texts are those whose files did not change since.
    """
    texts = Texts(lambda path: _stream(project, path))
    for path in (*paths_of(project), BRIEF_PAGE, BRIEF):
        try:
            state = texts.states[path] = _state_of(project, path)
            if state and path in earlier and state == earlier.states.get(path):
                texts.add_of(earlier, path)
            else:
                texts.add_streamed(path)
        except FileNotFoundError:
            continue
        except (UnicodeDecodeError, OSError):
            texts.add(path, NOT_TEXT)
    return texts


def _state_of(project: Project, path: str) -> tuple[int, ...]:
    """Return the file's state; none of a fresh one, whose next change may have the same times."""
    there = confined.status(project.root, path)
    if there is None or time.time() - there.st_ctime < FRESH_S:
        return ()
    return there.st_mtime_ns, there.st_ctime_ns, there.st_size, there.st_ino


def present_text(project: Project) -> Texts:
    return only_text(present(project))


def only_text(texts: Texts) -> Texts:
    digest = sha256_hex(NOT_TEXT)
    return texts.only(path for path in texts if texts.digests[path] != digest)


def paths_of(project: Project) -> list[str]:
    try:
        names = confined.names(project.root, project.memory)
    except OSError:
        return []
    return [FOLDER + name for name in names if name.endswith((".md", ".jsonl"))]


def refused_lines(texts: Texts, refused: Sequence[Problem]) -> set[str]:
    numbers = {it.line for it in refused if it.path == KNOWLEDGE and it.line}
    if not numbers or KNOWLEDGE not in texts:
        return set()
    return {line for number, line in enumerate(texts.lines(KNOWLEDGE), 1) if number in numbers}


def _stream(project: Project, path: str) -> Iterator[str]:
    with confined.open_file(project.root, path) as file:
        size, most = os.fstat(file.fileno()).st_size, confined.limit_of(project.root, path)
        if size > most:
            yield f"{OVERSIZE}{size} of {most}"
            return
        if size <= LINE_CHARS:
            yield file.read(most + 1).decode("utf-8")
            return
        while block := file.read(LONG) + file.readline(LINE_CHARS + 1):
            if max(map(len, block.split(b"\n"))) > LINE_CHARS:
                file.seek(-len(block), os.SEEK_CUR)
                break
            yield block.decode("utf-8")
        lines = io.TextIOWrapper(file, encoding="utf-8", newline="")
        while part := lines.readline(LINE_CHARS + 1):
            if len(part) > LINE_CHARS and part[-1] not in "\r\n":
                length = len(part.encode())
                while part and part[-1] not in "\r\n":
                    part = lines.readline(LINE_CHARS + 1)
                    length += len(part.rstrip("\r\n").encode())
                end = part[len(part.rstrip("\r\n")) :]
                part = f"{OVERSIZE}{length} of {LINE_CHARS}{end}"
            yield part
        lines.detach()


_OFFSET_DIGITS = 20
"""Digits at the end of the record of the base: the offset of its last line."""
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError)


class MergeBase(Value):
    """The files as they and the store last agreed, in this worktree."""

    agreement: str = ""
    """Empty where this database agreed to none: see `ademem.store.agreements`."""
    commit: str | None = None
    """The commit checked out at the time; None without commits or git."""
    branch: str | None = None
    """The branch checked out; empty when detached, None if unknown."""
    texts: Texts = Texts()
    is_sound: bool = False
    """True if every line in them could be read."""
    refused: tuple[str, ...] = ()

    @property
    def has_fault(self) -> bool:
        """True if a line in texts that were agreed on could not be read."""
        return bool(self.agreement) and not self.is_sound


def load_base(project: Project, store: Store) -> MergeBase:
    with suppress(*_UNREADABLE), confined.open_file(project.root, base_path(project)) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(size - _OFFSET_DIGITS)
        start = int(file.read())
        file.seek(start)
        data = file.read(size - _OFFSET_DIGITS - start)
        recorded = loads(data.decode("utf-8", "surrogatepass"))
        if agreements.holds(store, recorded["agreement"]):
            return MergeBase(
                agreement=recorded["agreement"],
                commit=recorded["commit"],
                branch=recorded.get("branch"),
                texts=_texts(project, recorded["files"]),
                is_sound=recorded.get("is_sound") is True,
                refused=tuple(recorded.get("refused", ())),
            )
    return MergeBase()


def save_base(project: Project, base: MergeBase) -> None:
    """Write the texts one after the other, and their offsets in the last line."""
    names = ("agreement", "commit", "branch", "is_sound")
    recorded: dict[str, Any] = {name: getattr(base, name) for name in names}
    recorded["refused"] = sorted(base.refused)
    digests = base.texts.digests
    at = 0
    files = recorded["files"] = {}
    temporary = f"{base_path(project)}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        with confined.create_file(project.root, temporary) as file:
            for name in sorted(digests):
                parts = (one.encode("utf-8", "surrogatepass") for one in base.texts.parts(name))
                size = sum(map(file.write, parts))
                files[name] = [digests[name], at, size]
                at += size
            file.write(compact(recorded).encode("utf-8", "surrogatepass"))
            file.write(b"%020d" % at)
            file.flush()
            os.fsync(file.fileno())
        confined.rename(project.root, temporary, os.path.basename(base_path(project)))
    except BaseException:
        confined.remove(project.root, temporary)
        raise


def _texts(project: Project, files: Mapping[str, tuple[str, int, int]]) -> Texts:
    def stream(name: str) -> Iterator[str]:
        _, start, size = files[name]
        decoder = codecs.getincrementaldecoder("utf-8")("surrogatepass")
        with confined.open_file(project.root, base_path(project)) as file:
            file.seek(start)
            while data := file.read(min(size, LONG)):
                size -= len(data)
                yield decoder.decode(data, final=not size)

    # Of a damaged record nothing is read: there is no base any more.
    digests = {name: digest for name, (digest, _, _) in files.items()}
    return Texts(stream, digests, lambda: forget_base(project))


def forget_base(project: Project) -> None:
    """Remove the base: the next import reads all files as new."""
    confined.remove(project.root, base_path(project))


def base_path(project: Project) -> str:
    return os.path.join(project.run, "agreed")


RENDERINGS = 200
FINGERPRINT_CHARS = 16


def load_fingerprints(project: Project, store: Store) -> dict[str, list[str]]:
    """Read the fingerprints of the last renderings by path, newest last; none if damaged.

    Those of another database count for files alone that are not imported: no memory is lost there.
    """
    try:
        recorded = loads(confined.read_text(project.root, fingerprints_path(project)) or "{}")
        is_ours = agreements.holds(store, recorded.get("agreement", ""))
        return {
            str(path): [str(one)[:FINGERPRINT_CHARS] for one in prints]
            for path, prints in recorded.get("files", {}).items()
            if is_ours or path in (INDEX, BRIEF_PAGE)
        }
    except (ValueError, AttributeError, TypeError, confined.Refused):
        return {}


def save_fingerprints(project: Project, prints: Mapping[str, list[str]], agreement: str) -> None:
    newest = {path: found[-RENDERINGS:] for path, found in prints.items()}
    recorded = {"agreement": agreement, "files": dict(sorted(newest.items()))}
    text = compact(recorded) + "\n"
    confined.write_text(project.root, fingerprints_path(project), text)


def fingerprint(path: str, text: str, digest: str = "") -> str:
    """Return that of a text, by its *digest* where that is known."""
    if path == INDEX:
        text, digest = "\n".join(filter(None, split_regions(text)[1])), ""
    return (digest or sha256_hex(text))[:FINGERPRINT_CHARS]


def fingerprints_path(project: Project) -> str:
    return os.path.join(project.run, "mirror.json")


def read_rendered(project: Project) -> str:
    return _read_state(project, "rendered")


def save_rendered(project: Project, state: str) -> None:
    _save_state(project, "rendered", state)


def read_checked(project: Project) -> str:
    """Return the state in which a check found no problem last."""
    return _read_state(project, "checked")


def save_checked(project: Project, state: str) -> None:
    with suppress(OSError):  # of a project that cannot be written
        _save_state(project, "checked", state)


def _read_state(project: Project, name: str) -> str:
    try:
        return confined.read_text(project.root, os.path.join(project.run, name)) or ""
    except (UnicodeDecodeError, confined.Refused):
        return ""


def _save_state(project: Project, name: str, state: str) -> None:
    confined.write_text(project.root, os.path.join(project.run, name), state)

"""Lessons marked LEARNED, DECISION … in a command line."""

from __future__ import annotations

import os
import re
import stat

from ademem.capture.placeholders import is_placeholder
from ademem.core.memory import Category, Draft, Origin
from ademem.core.repository import first_line
from ademem.core.text import bounded_bytes, sha256_hex, slug
from ademem.core.untrusted import without_recalled
from ademem.core.value import Value, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ademem.guard.shell import Command, Word

    ReadFile = Callable[[str], str | None]
    from ademem.capture.gate import Written
    from ademem.core.client import Payload
    from ademem.store.runtime import Runtime

CATEGORY = {
    "LEARNED": Category.FACT,
    "INVESTIGATION": Category.FACT,
    "DECISION": Category.DECISION,
    "FACT": Category.FACT,
    "PATTERN": Category.PATTERN,
    "GOTCHA": Category.GOTCHA,
    "CONVENTION": Category.CONVENTION,
}
"""Markers before the colon, and their categories."""

VOCABULARY = tuple(
    """
    swift swiftui appkit menubar api security test database networking ui layout performance
    crash bug fix workaround gotcha pattern convention architecture auth middleware async
    concurrency model protocol adapter scanner engine
    """.split()
)
"""Words of the text that become tags, in singular or plural."""

COMMAND_CHARS = 100_000
"""Longest command that is parsed."""
MAX_ENTRIES = 20
BODY_BYTES = 4096
CONTENT_BYTES = 2048
FILE_BYTES = 64_000
"""Largest file that is read for `bd comment --file`."""
KEY_CHARS = 60
EMPHASIS_CHARS = 3

_EMPHASIS = "*_`~"
_MARKER = re.compile(rf"({'|'.join(CATEGORY)})[{_EMPHASIS}]{{0,3}}:", re.I)
_BEFORE_MARKER = r"[\s>#*+\u2022-]*(?:\d{1,3}[.)]|\[[ xX]?\])?[ \t]*"
"""Start of a line before the marker: quotes, headings and list items."""
_QUOTE = r"(?m)^[ \t]*>[ \t]?"
_NEXT_ITEM = r"\n[ \t>#*+\u2022-]*(?:\d{1,3}[.)]|\[[ xX]?\])?[ \t]*\Z"
_IDLE_FLAGS = frozenset({"--dry-run", "--help"})
_VALUED_FLAGS = frozenset({"--db", "--actor", "--author", "-a", "--dir", "--directory", "-C"})
_GIT_VALUED_FLAGS = frozenset({"-C", "-c", "--git-dir", "--work-tree"})


class Lesson(Value):
    """A sentence with its marker, from a command or from `ademem learn`."""

    content: str
    prefix: str
    bead: str | None = None
    key: str | None = None
    tags: tuple[str, ...] = ()


class Marker(Value):
    """A word of CATEGORY before a colon, with Markdown emphasis around it."""

    start: int
    end: int
    prefix: str
    opening: str
    """Emphasis that is not closed at the word; it may be at the end of the lesson."""


class Body(Value):
    text: str
    bead: str | None = None
    lines_only: bool = False
    """A marker counts at the beginning of a line only, as in the trailers of a commit."""


def may_have_lessons(text: str) -> bool:
    """False for a command that holds no lesson for sure."""
    return _MARKER.search(text) is not None or ("bd" in text and ("-f" in text or "--file" in text))


def marked_lessons(command: str, *, read_file: ReadFile) -> list[Lesson]:
    """Return the lessons in the commands that are sure to run, in order.

    *read_file* returns the text behind `--file`, or None if it must not be read.
    """
    from ademem.guard import shell

    script = shell.parse(command) if len(command) <= COMMAND_CHARS else None
    if script is None:
        return []
    found = [
        entry
        for written in script.commands
        if written.reached
        for plain in shell.unwrap(written)
        for body in (*_comments(plain, read_file), *_messages(plain, read_file))
        for entry in _parse_body(body)
    ]
    return list(dict.fromkeys(found))[:MAX_ENTRIES]


def key_of(prefix: str, content: str) -> str:
    """Return the prefix and the slug of the first 60 characters, or a digest without letters.

    Different texts may share a key; the write gate adds a suffix.
    """
    readable = slug(content, KEY_CHARS)
    return f"{prefix.lower()}-{readable or sha256_hex(content)[:12]}"


def tags_of(content: str, prefix: str) -> tuple[str, ...]:
    """Return the prefix, then words of `VOCABULARY` in its order."""
    words = set(re.findall(r"[a-z]+", content.lower()))
    return (prefix.lower(), *(tag for tag in VOCABULARY if tag in words or f"{tag}s" in words))


def source_of(cwd: str) -> str:
    """Return `supervisor` in a worktree, else `orchestrator`, as Beads names them."""
    if "/.worktrees/" in f"{cwd}/":
        return "supervisor"
    folder = os.path.realpath(cwd)
    while not os.path.exists(os.path.join(folder, ".git")) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    marker = first_line(os.path.join(folder, ".git"))
    return "supervisor" if "/worktrees/" in marker else "orchestrator"


def _comments(command: Command, read_file: ReadFile) -> Iterator[Body]:
    if command.name != "bd":
        return
    words, flags = _split(command.words[1:], _VALUED_FLAGS | {"-f", "--file"})
    if any(flag in _IDLE_FLAGS for flag, _ in flags):
        return
    verb = [word.text for word in words[:2]]
    if verb[:1] == ["comment"]:
        words = words[1:]
    elif verb == ["comments", "add"]:
        words = words[2:]
    else:
        return
    if not words:
        return
    bead, *said = words
    path = next((value.text for flag, value in flags if flag in ("-f", "--file")), None)
    if path is not None:
        text = read_file(path) or ""
    elif any(flag == "--stdin" for flag, _ in flags) or [word.text for word in said] == ["-"]:
        text = _written_out(command.stdin) if command.stdin else ""
    else:
        text = _written_out(*said)
    yield Body(text=text, bead=bead.text)


def _messages(command: Command, read_file: ReadFile) -> Iterator[Body]:
    if command.name != "git":
        return
    words, flags = _split(
        command.words[1:], _GIT_VALUED_FLAGS | {"-m", "--message", "-F", "--file", "-am"}
    )
    if not words or words[0].text != "commit" or any(flag in _IDLE_FLAGS for flag, _ in flags):
        return
    for flag, value in flags:
        if flag in ("-m", "--message", "-am"):
            yield Body(text=_written_out(value), lines_only=True)
        elif flag in ("-F", "--file") and value.text != "-":
            yield Body(text=read_file(value.text) or "", lines_only=True)
        elif flag in ("-F", "--file") and command.stdin:
            yield Body(text=_written_out(command.stdin), lines_only=True)


def _written_out(*words: Word) -> str:
    """Join the words; empty if a variable or a command's output is a part."""
    if any(word.expands and ("$" in word.text or "`" in word.text) for word in words):
        return ""
    return " ".join(word.text for word in words)


def _split(
    words: tuple[Word, ...], valued: frozenset[str]
) -> tuple[list[Word], list[tuple[str, Word]]]:
    """Return positional words, and flags with their values; `--` ends the flags."""
    plain: list[Word] = []
    flags: list[tuple[str, Word]] = []
    rest = iter(words)
    for word in rest:
        if word.text == "--" and not word.quoted:
            return [*plain, *rest], flags
        if not word.text.startswith("-") or word.text == "-" or _MARKER.search(word.text):
            plain.append(word)
            continue
        flag, _, value = word.text.partition("=")
        given = replace(word, text=value)
        flags.append((flag, next(rest, given) if flag in valued and not value else given))
    return plain, flags


def _parse_body(body: Body) -> Iterator[Lesson]:
    from ademem.core.redaction import (
        redact,  # before anything is cut: half a key is not known as one
    )

    text = bounded_bytes(redact(without_recalled(body.text)).text, BODY_BYTES)
    marks = [
        mark for mark in _markers(text) if not body.lines_only or _opens_line(text, mark.start)
    ]
    ends = [*(mark.start for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):
        content = text[mark.end : end]
        if body.lines_only:
            content = content.partition("\n\n")[0]
        content = bounded_bytes(_plain(content, mark), CONTENT_BYTES).strip()
        if not is_placeholder(content):
            yield Lesson(
                prefix=mark.prefix,
                content=content,
                bead=body.bead,
            )


def _markers(text: str) -> Iterator[Marker]:
    for found in _MARKER.finditer(text):
        start, end = found.span()
        before = text[:start].rstrip(_EMPHASIS)
        opening = text[len(before) : start][-EMPHASIS_CHARS:]
        if before[-1:].isalnum() and not opening.strip("_"):
            continue  # the end of a longer word
        if opening:
            behind = text[end : end + EMPHASIS_CHARS]
            closing = len(behind) - len(behind.lstrip(_EMPHASIS))
            start, end = start - len(opening), end + closing
            if closing or found[0][-2] in _EMPHASIS:
                opening = ""
        yield Marker(start=start, end=end, prefix=found[1].upper(), opening=opening)


def _plain(content: str, mark: Marker) -> str:
    """Remove the Markdown of the marker and of the next one."""
    if ">" in content:
        content = re.sub(_QUOTE, "", content)
    if "\n" in content:
        content = re.sub(_NEXT_ITEM, "", content)
    content = content.strip()
    if mark.opening and content.endswith(mark.opening):
        content = content.removesuffix(mark.opening).rstrip()
    return content


def _opens_line(text: str, at: int) -> bool:
    start = text.rfind("\n", 0, at) + 1
    return re.fullmatch(_BEFORE_MARKER, text[start:at]) is not None


def capture_lessons(payload: Payload, runtime: Runtime) -> list[Written]:
    """Write every lesson of the command once, however often the hook runs."""
    from ademem.capture import provenance, record

    origin = Origin(
        trust=provenance.trust_of(payload, runtime),
        source_type=source_of(payload.cwd),
        session_id=payload.session_id,
        agent_id=payload.agent_type or None,
    )
    found = marked_lessons(
        payload.command, read_file=lambda path: _small_file(path, payload, runtime)
    )
    written = []
    for at, lesson in enumerate(found):
        outcome = record.write_once(
            draft_of(lesson, origin), f"{payload.tool_use_id or payload.session_id}:{at}", runtime
        )
        if outcome:
            written.append(outcome)
    return written


def draft_of(lesson: Lesson, origin: Origin) -> Draft:
    return Draft(
        content=lesson.content,
        category=CATEGORY[lesson.prefix],
        tags=(*tags_of(lesson.content, lesson.prefix), *lesson.tags),
        bead=lesson.bead,
        knowledge_key=lesson.key or key_of(lesson.prefix, lesson.content),
        origin=origin,
    )


def _small_file(path: str, payload: Payload, runtime: Runtime) -> str | None:
    """Read a small regular file inside the project; None for anything else."""
    real = os.path.realpath(os.path.join(payload.cwd or runtime.project.root, path))
    if not real.startswith(runtime.project.root + os.sep):
        return None
    try:
        status = os.stat(real)
        if not stat.S_ISREG(status.st_mode) or status.st_size > FILE_BYTES:
            return None
        with open(real, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None

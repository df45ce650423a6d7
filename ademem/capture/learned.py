"""LEARNED and its relatives, read from a command line as the shell would read it."""

from __future__ import annotations

import os
import re

from ademem.digest import sha256_hex
from ademem.fence import without_recalled
from ademem.model import Category
from ademem.text import bounded_bytes, slug
from ademem.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ademem.shell import Command, Word

    ReadFile = Callable[[str], str | None]

CATEGORY = {
    "LEARNED": Category.FACT,
    "INVESTIGATION": Category.FACT,
    "DECISION": Category.DECISION,
    "FACT": Category.FACT,
    "PATTERN": Category.PATTERN,
    "GOTCHA": Category.GOTCHA,
    "CONVENTION": Category.CONVENTION,
}
"""What may stand before the colon, and the category it means."""

VOCABULARY = tuple(
    """
    swift swiftui appkit menubar api security test database networking ui layout performance
    crash bug fix workaround gotcha pattern convention architecture auth middleware async
    concurrency model protocol adapter scanner engine
    """.split()
)
"""Words that become tags when they stand in the text as words, plural included."""

COMMAND_CHARS = 100_000
"""Longest command that is read at all."""
MAX_ENTRIES = 20
BODY_BYTES = 4096
CONTENT_BYTES = 2048
KEY_CHARS = 60

_PREFIX = re.compile(rf"(?<!\w)({'|'.join(CATEGORY)}):", re.I)
_VALUED_FLAGS = frozenset({"--db", "--actor", "--author", "-a", "--dir", "--directory", "-C"})
_GIT_VALUED_FLAGS = frozenset({"-C", "-c", "--git-dir", "--work-tree"})


class Entry(Value):
    """One lesson. *unresolved*: part of it, or of its bead, only a running shell knows."""

    prefix: str
    content: str
    bead: str | None = None
    unresolved: bool = False


class Body(Value):
    """The text of one comment or commit message, as far as it is written out."""

    text: str
    bead: str | None = None
    unresolved: bool = False
    lines_only: bool = False
    """A prefix counts at the beginning of a line only, as in the trailers of a commit."""


def mentions(text: str) -> bool:
    """Whether reading the command can be worth it."""
    return _PREFIX.search(text) is not None or ("bd" in text and ("-f" in text or "--file" in text))


def entries(command: str, *, read_file: ReadFile) -> list[Entry]:
    """Lessons in what the command line surely runs, in order.

    *read_file* gives the text behind `--file`, or None when it is not to be followed.
    """
    from ademem import shell

    script = shell.parse(command) if len(command) <= COMMAND_CHARS else None
    if script is None:
        return []
    found = [
        entry
        for written in script.commands
        if written.reached
        for plain in shell.unwrapped(written)
        for body in (*_comments(plain, read_file), *_messages(plain, read_file))
        for entry in _lessons(body)
    ]
    return list(dict.fromkeys(found))[:MAX_ENTRIES]


def key_of(prefix: str, content: str) -> str:
    """`learned-` and the slug of the first 60 characters; text without letters gets a digest.

    Different texts may share a key; the one who stores them adds a suffix.
    """
    readable = slug(content, KEY_CHARS)
    return f"{prefix.lower()}-{readable or sha256_hex(content)[:12]}"


def tags_of(content: str, prefix: str) -> tuple[str, ...]:
    """The prefix, then the vocabulary in its own order."""
    words = set(re.findall(r"[a-z]+", content.lower()))
    return (prefix.lower(), *(tag for tag in VOCABULARY if tag in words or f"{tag}s" in words))


def source_of(cwd: str) -> str:
    """`supervisor` in a worktree, else `orchestrator`: the names Beads gives them."""
    if "/.worktrees/" in f"{cwd}/":
        return "supervisor"
    folder = os.path.realpath(cwd)
    while not os.path.exists(os.path.join(folder, ".git")) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    try:
        with open(os.path.join(folder, ".git"), encoding="utf-8") as file:
            return "supervisor" if "/worktrees/" in file.read() else "orchestrator"
    except OSError:
        return "orchestrator"


def _comments(command: Command, read_file: ReadFile) -> Iterator[Body]:
    """What `bd comment ID …` or `bd comments add ID …` says."""
    if command.name != "bd":
        return
    words, flags = _split(command.words[1:], _VALUED_FLAGS | {"-f", "--file"})
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
    path = next((value for flag, value in flags if flag in ("-f", "--file")), None)
    if path is not None:
        text, expands = read_file(path) or "", False
    elif any(flag == "--stdin" for flag, _ in flags) or [word.text for word in said] == ["-"]:
        text, expands = (
            (command.stdin.text, command.stdin.expands) if command.stdin else ("", False)
        )
    else:
        text, expands = " ".join(word.text for word in said), any(word.expands for word in said)
    yield Body(text=text, bead=bead.text, unresolved=expands or bead.expands)


def _messages(command: Command, read_file: ReadFile) -> Iterator[Body]:
    """What `git commit` says in its message."""
    if command.name != "git":
        return
    words, flags = _split(
        command.words[1:], _GIT_VALUED_FLAGS | {"-m", "--message", "-F", "--file", "-am"}
    )
    if not words or words[0].text != "commit":
        return
    for flag, value in flags:
        if flag in ("-m", "--message", "-am"):
            yield Body(text=value, lines_only=True)
        elif flag in ("-F", "--file") and value != "-":
            yield Body(text=read_file(value) or "", lines_only=True)
        elif flag in ("-F", "--file") and command.stdin:
            yield Body(text=command.stdin.text, lines_only=True)


def _split(
    words: tuple[Word, ...], valued: frozenset[str]
) -> tuple[list[Word], list[tuple[str, str]]]:
    """Positional words, and flags with their values; `--` ends the flags."""
    plain: list[Word] = []
    flags: list[tuple[str, str]] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word.text == "--" and not word.quoted:
            return plain + rest, flags
        if not word.text.startswith("-") or word.text == "-" or _PREFIX.search(word.text):
            plain.append(word)
            continue
        flag, _, value = word.text.partition("=")
        if flag in valued and not value and rest:
            value = rest.pop(0).text
        flags.append((flag, value))
    return plain, flags


def _lessons(body: Body) -> Iterator[Entry]:
    from ademem.redact import redact  # before anything is cut: half a key is not known as one

    text = bounded_bytes(redact(without_recalled(body.text)).text, BODY_BYTES)
    marks = [
        mark
        for mark in _PREFIX.finditer(text)
        if not body.lines_only or _opens_line(text, mark.start())
    ]
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):
        content = text[mark.end() : end]
        if body.lines_only:
            content = content.partition("\n\n")[0]
        content = bounded_bytes(content.strip(), CONTENT_BYTES).strip()
        if content:
            yield Entry(
                prefix=mark[1].upper(), content=content, bead=body.bead, unresolved=body.unresolved
            )


def _opens_line(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 : at].strip()

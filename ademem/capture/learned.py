"""Lessons marked LEARNED, DECISION … in a command line."""

from __future__ import annotations

import os
import stat

from ademem.capture import is_placeholder
from ademem.core import regex
from ademem.core.memory import Category, Draft, Origin
from ademem.core.repository import first_line
from ademem.core.text import sha256_hex, slug, truncate_bytes
from ademem.core.untrusted import without_recalled
from ademem.core.value import Value, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

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

VOCABULARY = tuple(
    """
    swift swiftui appkit menubar api security test database networking ui layout performance
    crash bug fix workaround gotcha pattern convention architecture auth middleware async
    concurrency model protocol adapter scanner engine
    """.split()
)
"""Words of the text that become tags, in singular or plural."""

COMMAND_CHARS = 100_000
MAX_ENTRIES = 20
BODY_BYTES = 4096
CONTENT_BYTES = 2048
FILE_BYTES = 64_000
"""Largest file that is read for `bd comment --file`."""
KEY_CHARS = 60
EMPHASIS_CHARS = 3

_EMPHASIS = "*_`~"
_MARKER = regex.compile(rf"({'|'.join(CATEGORY)})[{_EMPHASIS}]{{0,3}}:", regex.IGNORECASE)
_BEFORE_MARKER = r"[\s>#*+\u2022-]*(?:\d{1,3}[.)]|\[[ xX]?\])?[ \t]*"
"""Start of a line before the marker: quotes, headings and list items."""
_QUOTE = r"(?m)^[ \t]*>[ \t]?"
_NEXT_ITEM = r"\n[ \t>#*+\u2022-]*(?:\d{1,3}[.)]|\[[ xX]?\])?[ \t]*\Z"
_IDLE_OPTIONS = frozenset({"--dry-run", "--help", "--web"})
"""Options with which a command publishes nothing by itself."""


class MessageOptions(Value):
    """The options by which a program is given a message; letters may be joined: `-qam`."""

    text: str = ""
    file: str = ""
    """Options for a file with the text; `-` is the standard input."""
    valued: str = ""
    """Other options that take the next word, and may stand before the subcommand."""
    attached: str = ""
    """Options whose value, if any, is the rest of the word."""
    stdin: str = "--stdin"


_BD = MessageOptions(file="-f --file", valued="--db --actor --author -a --dir --directory -C")
OPTIONS = {
    "git": MessageOptions(
        text="-m --message --trailer",
        file="-F --file",
        valued="-C -c --git-dir --work-tree --namespace --ref",
        attached="-S -u",
    ),
    "jj": MessageOptions(
        text="-m --message",
        valued="-R --repository --config --config-file --at-op --at-operation --color",
    ),
    "gh": MessageOptions(text="-b --body", file="-F --body-file", valued="-R --repo"),
}
_MESSAGES = """
    git commit, git merge, git notes add, git notes append, jj describe, jj desc, jj commit, jj ci,
    jj new, jj squash, jj split, gh pr create, gh pr new, gh pr edit, gh pr comment, gh pr review,
    gh pr merge
"""
MESSAGES = frozenset(" ".join(_MESSAGES.split()).split(", "))
_PIPES = ("-", "/dev/stdin")
_NAMES_FILE = r"\s-(?:[A-Za-z]{0,4}F|-(?:body-)?file)"


class Lesson(Value):
    content: str
    prefix: str
    bead: str | None = None
    key: str | None = None
    tags: tuple[str, ...] = ()


def may_have_lessons(command: str) -> bool:
    """False for a command that holds no lesson for sure, or is too long to be parsed."""
    if len(command) > COMMAND_CHARS:
        return False
    if _MARKER.search(command) or ("bd" in command and " -f" in command):
        return True
    programs = ("bd", *OPTIONS)
    return (
        any(name in command for name in programs) and regex.search(_NAMES_FILE, command) is not None
    )


def marked_lessons(command: str, *, read_file: ReadFile) -> list[Lesson]:
    """Return the lessons in the commands that are sure to run, in order."""
    from ademem.guard import shell

    script = shell.parse(command, COMMAND_CHARS)
    if script is None:
        return []
    files: dict[str, str] = {}
    found: list[Lesson] = []

    def read(path: str) -> str | None:
        return files.get(path) or read_file(path)

    for written in script:
        if not written.reached:
            continue
        for plain in shell.unwrap(written):
            files |= _written_files(plain)
            if plain.name == "bd":
                found += _read_comment(plain, read)
            elif plain.name in OPTIONS:
                for message in _messages(plain, read):
                    found += _parse_body(message, lines_only=True)
    return list(dict.fromkeys(found))[:MAX_ENTRIES]


def key_of(prefix: str, content: str) -> str:
    """Return a key that texts may share; the gate adds a suffix then."""
    readable = slug(content, KEY_CHARS)
    return f"{prefix.lower()}-{readable or sha256_hex(content)[:12]}"


def tags_of(content: str, prefix: str) -> tuple[str, ...]:
    words = set(regex.findall(r"[a-z]+", content.lower()))
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


def _read_comment(command: Command, read_file: ReadFile) -> Iterable[Lesson]:
    words, options = _split(command.words[1:], _BD)
    words = _without_verb(words)
    given = {option for option, _ in options}
    if not words or given & _IDLE_OPTIONS:
        return ()
    bead, *texts = words
    text = _literal_text(*texts)
    path = next((value.text for option, value in options if option in _BD.file.split()), None)
    if path is not None:
        text = read_file(path) or ""
    elif _BD.stdin in given or text == "-":
        text = _piped_text(command)
    return _parse_body(text, bead.text)


def _without_verb(words: list[Word]) -> list[Word]:
    """Return what follows `comment` or `comments add`; nothing for other verbs."""
    verb = [word.text for word in words[:2]]
    if verb[:1] == ["comment"]:
        return words[1:]
    return words[2:] if verb == ["comments", "add"] else []


def _messages(command: Command, read_file: ReadFile) -> Iterator[str]:
    form = OPTIONS[command.name]
    words, options = _split(command.words[1:], form)
    if not _publishes(command.name, words, options):
        return
    for option, value in options:
        is_file = option in form.file.split()
        if option in form.text.split():
            yield _literal_text(value)
        elif option == form.stdin or (is_file and value.text in _PIPES):
            yield _piped_text(command)
        elif is_file and not value.expands:
            yield read_file(value.text) or ""


def _publishes(program: str, words: Iterable[Word], options: Iterable[tuple[str, Word]]) -> bool:
    """Tell whether a subcommand, of one word or two, writes a message that others read."""
    if any(option in _IDLE_OPTIONS for option, _ in options):
        return False
    verbs = [word.text for word in words]
    return any(" ".join((program, *verbs[:count])) in MESSAGES for count in (1, 2))


def _piped_text(command: Command) -> str:
    return _literal_text(command.stdin) if command.stdin else ""


def _written_files(command: Command) -> dict[str, str]:
    """Return the text of a file that this command writes, where the script has it."""
    targets = [each.target.text for each in command.redirects if each.operator in (">", ">|")]
    if len(targets) != 1 or len(command.redirects) > 2:
        return {}
    from ademem.guard.shell.grammar import printed_text

    others = tuple(each for each in command.redirects if ">" not in each.operator)
    text = printed_text(replace(command, redirects=others))
    return {targets[0]: _literal_text(text)} if text else {}


def _literal_text(*words: Word) -> str:
    """Join the words; empty if a variable or a command's output is a part."""
    if any(word.expands and ("$" in word.text or "`" in word.text) for word in words):
        return ""
    return " ".join(word.text for word in words)


def _split(
    words: tuple[Word, ...], form: MessageOptions
) -> tuple[list[Word], list[tuple[str, Word]]]:
    """Return positional words, and options with their values; `--` ends the options."""
    plain: list[Word] = []
    options: list[tuple[str, Word]] = []
    valued = {*form.text.split(), *form.file.split(), *form.valued.split()}
    attached = form.attached.split()
    rest = iter(words)
    for word in rest:
        text = word.text
        if text == "--" and not word.quoted:
            return [*plain, *rest], options
        if text.startswith("--"):
            name, equals, value = text.partition("=")
            inline = replace(word, text=value)
            follows = name in valued and not equals
            options.append((name, next(rest, inline) if follows else inline))
        elif text[:1] == "-" and text[1:2].isalpha():
            options += _split_letters(word, rest, valued, attached)
        else:
            plain.append(word)
    return plain, options


def _split_letters(
    word: Word, rest: Iterator[Word], valued: Container[str], attached: Container[str]
) -> Iterator[tuple[str, Word]]:
    """Yield the options of `-am text`; one that takes a value has the rest, or what follows."""
    for at, letter in enumerate(word.text[1:], 2):
        option, inline = f"-{letter}", replace(word, text=word.text[at:])
        takes = option in valued
        yield option, next(rest, inline) if takes and not inline.text else inline
        if takes or option in attached:
            return


def _parse_body(
    body: str, bead: str | None = None, *, lines_only: bool = False
) -> Iterator[Lesson]:
    """With *lines_only* a marker counts at the beginning of a line, as in trailers of a commit."""
    from ademem.core.redaction import redact  # before a cut: half a key is not recognized

    text = truncate_bytes(redact(without_recalled(body)).text, BODY_BYTES)
    marks = list(_find_marks(text, lines_only=lines_only))
    ends = [*(mark[0] for mark in marks[1:]), len(text)]
    for (_, start, prefix, opening), end in zip(marks, ends, strict=False):
        content = text[start:end]
        if lines_only:
            content = content.partition("\n\n")[0]
        content = _trim_lesson(content, opening)
        if not is_placeholder(content):
            yield Lesson(prefix=prefix, content=content, bead=bead)


def _find_marks(text: str, *, lines_only: bool) -> Iterator[tuple[int, int, str, str]]:
    """Yield begin and end of each marker with its emphasis, its name, and emphasis left open."""
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
        line = text[text.rfind("\n", 0, start) + 1 : start]
        if not lines_only or regex.fullmatch(_BEFORE_MARKER, line):
            # emphasis that is not closed at the word may be so at the end of the lesson
            yield start, end, found[1].upper(), opening


def _trim_lesson(content: str, opening: str) -> str:
    """Return it without marks of quotes, the next item of a list, and emphasis around it."""
    if ">" in content:
        content = regex.sub(_QUOTE, "", content)
    if "\n" in content:
        content = regex.sub(_NEXT_ITEM, "", content)
    content = content.strip()
    if opening:
        content = content.removesuffix(opening).rstrip()
    return truncate_bytes(content, CONTENT_BYTES).strip()


def capture_lessons(payload: Payload, runtime: Runtime) -> list[Written]:
    from ademem.capture import provenance, record

    origin = provenance.origin_of(payload, runtime, source_of(payload.cwd))
    found = marked_lessons(
        payload.command, read_file=lambda path: _small_file(path, payload, runtime)
    )
    call = payload.tool_use_id or payload.session_id
    written = [
        record.write_once(draft_of(lesson, origin), f"{call}:{at}", runtime)
        for at, lesson in enumerate(found)
    ]
    return list(filter(None, written))


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

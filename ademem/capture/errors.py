"""Reduce an error to its decisive line and to a fingerprint without varying details."""

from __future__ import annotations

from ademem.capture import EXTENSIONS
from ademem.core import regex
from ademem.core.redaction import redact
from ademem.core.text import fold, preview, sha256_hex, unique, whole_words
from ademem.core.untrusted import without_recalled

READ_CHARS = 20_000
LESSON_CHARS = 600
COMMAND_CHARS = 160
LINE_CHARS = 320

REFUSALS = (
    "ademem guard:",
    "interrupted by user",
    "doesn't want to proceed",
    "doesn't want to take this action",
    "<tool_use_error>",
    "permission to use",
    "hook error:",
)
"""Parts of the result of a call that was not carried out, which is not a failure of the tool."""
REFUSAL_CHARS = 2_000

_ESSENTIAL = regex.compile(
    r"^(?:\w[.\w]*(?:Error|Exception|Failure|Warning)\b.*"
    r"|.*\b(?:error|fatal|failed|cannot|can't|could ?n[o']t|not found|denied|refused|unknown"
    r"|invalid|no such|undefined|missing|panic|unable|timed? ?out)\b.*)$",
    regex.IGNORECASE,
)
_SPEAKER = regex.compile(r"^npm (?:error|ERR!)(?: code)? ?", regex.IGNORECASE)
"""Beginning of every line of an error, which says nothing about the line."""
_SUMMARY = regex.compile(
    r"^(?:g?make(?:\[\d+\])?: \*\*\* \[.*\] error \d+|npm (?:error|err!) a complete log\b.*"
    r"|.*\belifecycle\b.*|.*\b(?:command|process|recipe|script)\b.*\b(?:failed|exited|completed)\b"
    r"(?: on .*)? with (?:exit )?(?:code|status)\b.*)$",
    regex.IGNORECASE,
)
"""Pattern of a last line that only says that a command failed."""

_COUNT = (
    r"(?<![:.\w])(?!0 )(?:\d+ (?:errors|problems|failures|warnings)\b"
    r"|1 (?:error|problem|failure|warning)\b(?!:)"
    r"|(?:(?<=[^\w\s] )|(?<=  )|(?<=[^\w\s#/-])|(?<![^\n]))\d+ fail(?:ed|ing)\b(?!: \S| to )"
    r"|\d+ fail(?:ed|ing)\b(?=\|? +[|(]? *\d))"
)
"""Pattern of a summary of tests or checks.

The number of a port, a shard, a build or a line names that, and what is said behind it is why.
"""
_FILE_PLACE = (
    rf"[\w/.-]+\.(?:{'|'.join(sorted(EXTENSIONS))})[:(]\d+[:,)]"
    r"|[\w/.-]+\.[A-Za-z]\w{0,4}[:(]\d+[:,]\d+[:)]"
)
"""Pattern of a line of a file; the name of a host has a port behind it, and no column."""
_SLIP = regex.compile(
    r"^(?:(?:Uncaught )?(?:Name|Type|Key|Attribute|Syntax|Indentation|Tab|Index|Value|Assertion"
    r"|Reference|Range|UnboundLocal|ZeroDivision|NotImplemented|Recursion)Error\b"
    r"|.*(?:\berror(?:\[E\d+\]| (?:TS|CS)\d+)|\bcould not compile\b|\bpanicked at\b"
    rf"|{_FILE_PLACE}"
    rf"|{_COUNT}|\b(?:merge|automatic|fix) .*\bconflicts?\b|\bcould not apply\b"
    r"|\bnothing to commit\b|\bfailed to push some refs\b|\bhook (?:exited|failed|declined)\b))"
)
"""Pattern of errors in the code being written, and of git's everyday refusals."""

_EXIT_CODE = regex.compile(
    r"^\s*(?:exit code|command failed with exit code)\s*\d+\s*", regex.IGNORECASE
)
_VARYING = (
    (regex.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", regex.IGNORECASE), "<id>"),
    (regex.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*"), "<time>"),
    (regex.compile(r"(['\"`\u2018\u2019\u201c\u201d]).*?\1"), "<quoted>"),
    # Tried once for each run of signs; a text with its group would load `re`.
    (regex.compile(r"(?<![\w.~/-])[\w.~/-]*/([\w.-]+)"), lambda found: str(found[1])),
    (regex.compile(r"\b(?:0x)?[0-9a-f]{7,}\b", regex.IGNORECASE), "<hex>"),
    (regex.compile(r"\d+"), "<n>"),
)


def fingerprint(error: str) -> str:
    line = essential(error)
    for pattern, stand_in in _VARYING:
        line = pattern.sub(stand_in, line)
    return sha256_hex(fold(line))[:16]


def essential(error: str) -> str:
    text = _EXIT_CODE.sub("", error.strip())[:READ_CHARS]
    lines = list(filter(None, map(str.strip, text.splitlines())))
    lines = [line for line in lines if not _SUMMARY.match(line)] or lines
    named = [line for line in lines if _ESSENTIAL.match(_SPEAKER.sub("", line))]
    spoken = list(filter(_SPEAKER.match, lines))[:1]
    return (named or spoken or lines or [""])[-1]


_CODE = regex.compile(
    r"\b(?:[A-Z][A-Z0-9]*[-_]?\d[A-Z0-9]*|E[A-Z]{4,}\d*"  # E4020, EACCES
    r"|(?=\d*[A-Z])\d{2}[A-Z0-9]{2}\d|0x[0-9A-Fa-f]{4,})\b"  # of SQL: 42P01
    r"|\b(?:\w+\.)*[A-Z]\w*[a-z](?:Error|Exception|Warning|Failure|Fault|Timeout)\b"
    r"|\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b"  # CrashLoopBackOff
)
_QUOTED = regex.compile(r"[`\"“”']([^`\"“”'\n]{8,200})[`\"“”']")
_LAST_PART = regex.compile(r"[^.]+$")
MOST_CODES = 16
_NUMBER = regex.compile(r"(?<![\w.])\d{3,}(?![\w.]*\w)")
"""A number that may be a name: of a port, a status or an error."""


def find_codes(error: str) -> tuple[str, ...]:
    """Return the codes and names of exceptions, those of the decisive line first.

    The built-in exceptions of Python say nothing about a project.
    """
    import builtins

    found = _CODE.findall(f"{essential(error)}\n{error[:READ_CHARS]}")
    names = [name for code in found for name in _LAST_PART.findall(code)]
    return unique(name for name in names if not hasattr(builtins, name) and name != "ERROR")[
        :MOST_CODES
    ]


def find_details(error: str) -> tuple[str, ...]:
    """Return the codes and numbers of the decisive line, which other words for it have, too."""
    line = redact(essential(error)).text
    for pattern, stand_in in _VARYING[:2]:
        line = pattern.sub(stand_in, line)
    return unique((*find_codes(line), *_NUMBER.findall(line)))[:MOST_CODES]


def quotes(text: str, error: str) -> bool:
    """Tell whether the text cites a message of the error, between quotes or backticks."""
    said = " ".join(error[:READ_CHARS].lower().split())
    return any(
        " " in (cited := " ".join(match.lower().split())) and cited in said
        for match in _QUOTED.findall(text)
    )


def lesson(tool: str, command: str, error: str) -> str | None:
    line = essential(redact(without_recalled(whole_words(error, READ_CHARS))).text)
    if not line or is_refusal(error) or is_ordinary(line):
        return None
    shown = redact(whole_words(command, READ_CHARS)).text
    first = next((part.strip() for part in shown.splitlines() if part.strip()), "")
    what = f"`{preview(first, COMMAND_CHARS)}`" if first else tool
    return preview(f"{what} fails: {preview(line, LINE_CHARS)}", LESSON_CHARS)


def is_ordinary(line: str) -> bool:
    return _SLIP.match(line) is not None


def is_count(line: str) -> bool:
    """Tell whether the line counts what failed, and names no error besides."""
    rest, counts = regex.compile(_COUNT).subn("", line)
    return counts > 0 and not _ESSENTIAL.match(rest)


def is_refusal(error: str) -> bool:
    head = error[:REFUSAL_CHARS].lower()
    return any(refusal in head for refusal in REFUSALS)

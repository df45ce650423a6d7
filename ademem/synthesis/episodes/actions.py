"""A tool call in the words of an episode: what was done, and to what."""

from __future__ import annotations

import os

from ademem.capture.errors import COMMAND_CHARS, READ_CHARS
from ademem.core.redaction import redact
from ademem.core.text import preview, whole_words
from ademem.guard.mutation import judge
from ademem.guard.policy import OUR_SEARCHES, SHELL_TOOLS, WRITING_TOOLS
from ademem.store.episodes import Action
from ademem.synthesis.episodes.checks import is_test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.capture.transcript import Call

    Roots = tuple[str, ...]

KINDS = ("edit", "run", "test", "read", "search", "web", "delegate", "other")

READERS = frozenset({"Read", "Glob", "Grep", "LS", "NotebookRead", "BashOutput", "TaskOutput"})
WEB = frozenset({"WebFetch", "WebSearch"})
AGENTS = frozenset({"Agent", "Task"})
ASIDE = frozenset(
    {"TodoWrite", "TodoRead", "ToolSearch", "ExitPlanMode", "EnterPlanMode", "AskUserQuestion"}
)
"""How the model keeps order; nothing is done by them."""

_TARGETS = ("file_path", "notebook_path", "path", "pattern", "url", "query", "skill", "description")
"""Where tools other than a shell say what they are pointed at."""


def action(call: Call, roots: Roots) -> Action | None:
    """None for what does nothing to speak of."""
    if call.tool in ASIDE:
        return None
    if call.tool in SHELL_TOOLS:
        return _ran(call)
    target = next((given for name in _TARGETS if (given := _text(call, name))), "")
    return Action(tool=call.tool, target=_shown(relative(target, roots)), kind=_kind(call.tool))


def command(call: Call) -> str:
    """What a shell was asked to run, redacted, on one line that ends between two words."""
    written = _text(call, "command")[: 2 * READ_CHARS]
    lines = [line.strip() for line in redact(written).text.splitlines() if line.strip()]
    return preview(whole_words("; ".join(lines), COMMAND_CHARS), COMMAND_CHARS)


def file_of(call: Call, roots: Roots) -> str:
    """The file that a writing tool changes, as the project calls it; empty for other tools."""
    if call.tool not in WRITING_TOOLS:
        return ""
    path = _text(call, "file_path") or _text(call, "notebook_path")
    return _shown(relative(path, roots))


def relative(path: str, roots: Roots) -> str:
    """A path inside one of the folders without that; anything else stays as it is."""
    for root in roots:
        inside = root.rstrip(os.sep) + os.sep
        if root and path.startswith(inside):
            return path[len(inside) :]
    return path


def _ran(call: Call) -> Action:
    line, written = command(call), _text(call, "command")
    if is_test(written):
        kind = "test"
    elif _recalls(line):
        kind = "search"
    else:
        kind = "run" if judge(written).mutates else "read"
    return Action(tool=call.tool, target=line, kind=kind)


def _recalls(line: str) -> bool:
    words = line.split()[:2]
    return len(words) == 2 and words[0].endswith("ademem") and words[1] in ("recall", "search")


def _kind(tool: str) -> str:
    if tool in WRITING_TOOLS:
        return "edit"
    if tool in OUR_SEARCHES:
        return "search"
    if tool in READERS:
        return "read"
    if tool in WEB:
        return "web"
    return "delegate" if tool in AGENTS else "other"


def _shown(text: str) -> str:
    return preview(redact(text[:READ_CHARS]).text, COMMAND_CHARS)


def _text(call: Call, name: str) -> str:
    value = call.input.get(name)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""

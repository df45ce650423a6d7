"""Tool calls as actions of an episode, and the results of test runs."""

from __future__ import annotations

import os
import re
from itertools import takewhile

from ademem.capture.errors import COMMAND_CHARS, READ_CHARS, essential
from ademem.core.redaction import redact
from ademem.core.text import preview, whole_words
from ademem.guard import shell
from ademem.guard.mutation import judge
from ademem.guard.policy import OUR_SEARCHES, SHELL_TOOLS, WRITING_TOOLS
from ademem.store.episodes import Action, Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.capture.transcript import Call
    from ademem.guard.shell import Command

    Roots = tuple[str, ...]

_KINDS = {
    **dict.fromkeys(("Read", "Glob", "Grep", "LS", "NotebookRead"), "read"),
    **dict.fromkeys(("BashOutput", "TaskOutput"), "read"),
    **dict.fromkeys(("WebFetch", "WebSearch"), "web"),
    **dict.fromkeys(("Agent", "Task"), "delegate"),
    **dict.fromkeys(OUR_SEARCHES, "search"),
    **dict.fromkeys(WRITING_TOOLS, "edit"),
}
_BOOKKEEPING = frozenset(
    {"TodoWrite", "TodoRead", "ToolSearch", "ExitPlanMode", "EnterPlanMode", "AskUserQuestion"}
)
"""Tools that do nothing to the project."""
_TARGETS = ("file_path", "notebook_path", "path", "pattern", "url", "query", "skill", "description")
"""Inputs that name the target of a tool other than a shell."""

ERROR_CHARS = 300
TAIL_CHARS = 4_000
"""The end of an output, where test runners print their counts."""
LEADING_WORDS = 4
"""First words of a task runner's command that may name a test task."""

_RUNNERS = """
    pytest py.test tox nox unittest nosetests jest vitest mocha ava tap karma cypress rspec minitest
    phpunit pest ctest gotestsum nextest behave cucumber bats robot ginkgo
"""
RUNNERS = frozenset(_RUNNERS.split())
"""Programs that do nothing but run tests."""
_TASK_RUNNERS = """
    bun cargo deno dotnet go gradle gradlew hatch just lein make meson mise mix mvn mvnw npm nx
    ninja pdm playwright pnpm poetry rails rake rye sbt swift task turbo uv xcodebuild yarn zig
"""
TASK_RUNNERS = frozenset(_TASK_RUNNERS.split())
"""Programs that run tests when one of their first words says so."""
INSTALLING = frozenset("add ci create i init install new remove uninstall update upgrade".split())
"""Subcommands that are followed by names of packages, not of tasks."""
INTERPRETERS = ("sh", "bash", "zsh", "node", "python", "python3", "ruby", "php", "perl")

_TEST_NAME = re.compile(r"(?:.*[/:._-])?(?:tests?|check|specs?|e2e|verify)(?:[:._-].*)?$")
_PASSED = re.compile(
    r"\b(\d+) (?:tests? |specs? |examples? )?(?:passed|passing|succeeded)\b|^# pass (\d+)",
    re.I | re.M,
)
_FAILED = re.compile(
    r"\b(\d+) (?:tests? |specs? |examples? )?(?:failed|failing|failures?|errors?)\b"
    r"|\b(?:failed|failures|errors)[:=] *(\d+)|^# fail (\d+)",
    re.I | re.M,
)
_RAN = re.compile(r"^(?:Ran (\d+) tests?|Tests run: (\d+))", re.M)
_FAILURE_LINE = re.compile(
    r"^(?:FAILED|ERROR|FAIL:|ERROR:|--- FAIL:|E  |✕|✗|×|●|not ok|test .+ \.\.\. FAILED).*", re.M
)
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def action_of(call: Call, roots: Roots) -> Action | None:
    """Return None for a call that changes and reads nothing."""
    if call.tool in _BOOKKEEPING:
        return None
    if call.tool in SHELL_TOOLS:
        line, script = command_line(call), _input(call, "command")
        words = line.split()[:2]
        if is_test(script):
            kind = "test"
        elif words and words[0].endswith("ademem") and words[1:] in (["recall"], ["search"]):
            kind = "search"
        else:
            kind = "run" if judge(script).mutates else "read"
        return Action(tool=call.tool, target=line, kind=kind)
    target = next((given for name in _TARGETS if (given := _input(call, name))), "")
    kind = _KINDS.get(call.tool, "other")
    return Action(tool=call.tool, target=_shorten(relative(target, roots)), kind=kind)


def command_line(call: Call) -> str:
    """Return a shell command redacted, on one line, cut between two words."""
    script = _input(call, "command")[: 2 * READ_CHARS]
    lines = [line.strip() for line in redact(script).text.splitlines() if line.strip()]
    return preview(whole_words("; ".join(lines), COMMAND_CHARS), COMMAND_CHARS)


def changed_file(call: Call, roots: Roots) -> str:
    """Return the file that a writing tool changes, relative to the project; empty for others."""
    if call.tool not in WRITING_TOOLS:
        return ""
    path = _input(call, "file_path") or _input(call, "notebook_path")
    return _shorten(relative(path, roots))


def relative(path: str, roots: Roots) -> str:
    """Return a path relative to the first of the folders that contains it, else unchanged."""
    for root in roots:
        inside = root.rstrip(os.sep) + os.sep
        if root and path.startswith(inside):
            return path[len(inside) :]
    return path


def _shorten(text: str) -> str:
    return preview(redact(text[:READ_CHARS]).text, COMMAND_CHARS)


def _input(call: Call, name: str) -> str:
    value = call.input.get(name)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def is_test(command: str) -> bool:
    """Tell whether one of the commands in a shell script runs tests."""
    script = shell.parse(command)
    if script is None:
        return False
    return any(_runs_tests(plain) for each in script.commands for plain in shell.unwrap(each))


def _runs_tests(command: Command) -> bool:
    name = command.name.rpartition("/")[2]
    words = [w.text for w in command.words[1 : 1 + LEADING_WORDS] if w.text[:1] != "-"]
    if name in RUNNERS:
        return True
    if name in TASK_RUNNERS:
        tasks = takewhile(lambda word: word not in INSTALLING, words)
        return any(word in RUNNERS or _TEST_NAME.match(word) for word in tasks)
    script = command.name if "/" in command.name else ""
    if name in INTERPRETERS:
        script = words[0] if words and ("/" in words[0] or "." in words[0]) else ""
    return bool(script and _TEST_NAME.match(script.rpartition("/")[2].partition(".")[0]))


def parse_test_run(command: str, output: str, *, failed: bool) -> Run:
    """Return a test run with its counts; they tell a failure whose exit code a pipe hides."""
    output = _ANSI.sub("", output)
    tail = output[-TAIL_CHARS:]
    bad, good = _count(_FAILED, tail), _count(_PASSED, tail)
    ran = _count(_RAN, tail)
    if good is None and ran is not None:
        good = max(0, ran - (bad or 0))
    error = ""
    if failed or bad:
        lines = _FAILURE_LINE.findall(output)
        error = preview(lines[0] if lines else essential(output), ERROR_CHARS) or "it failed"
    elif bad is None and good is not None:
        bad = 0
    return Run(command=command, passed=good, failed=bad, error=error)


def _count(pattern: re.Pattern[str], text: str) -> int | None:
    """Return the sum of the counts on the last line that has any."""
    for line in reversed(text.splitlines()):
        found = [next(filter(None, match.groups())) for match in pattern.finditer(line)]
        if found:
            return sum(map(int, found))
    return None

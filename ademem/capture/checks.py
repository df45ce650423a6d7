"""Commands that test or check code, and the result of a test run."""

from __future__ import annotations

from itertools import takewhile

from ademem.capture.errors import essential
from ademem.core import regex
from ademem.core.text import preview
from ademem.guard import shell
from ademem.store.episodes import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ademem.guard.shell import Command

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
_CHECKERS = """
    ademem bd biome black clippy-driver eslint flake8 golangci-lint isort ktlint mypy nbqa oxlint
    pre-commit prettier pylint pyright rubocop ruff semgrep shellcheck standard stylelint swiftlint
    tsc vulture yamllint
"""
CHECKERS = frozenset(_CHECKERS.split())
_TASK_RUNNERS = """
    bun cargo deno dotnet go gradle gradlew hatch just lein make meson mise mix mvn mvnw npm nx
    ninja pdm playwright pnpm poetry rails rake rye sbt swift task turbo uv xcodebuild yarn zig
"""
TASK_RUNNERS = frozenset(_TASK_RUNNERS.split())
"""Programs that run tests when one of their first words says so."""
INSTALLING = frozenset("add ci create i init install new remove uninstall update upgrade".split())
"""Subcommands that are followed by names of packages, not of tasks."""
INTERPRETERS = ("sh", "bash", "zsh", "node", "python", "python3", "ruby", "php", "perl")

_TESTS = "tests?|check|specs?|e2e|verify"
_TEST_NAME = regex.compile(rf"(?:.*[/:._-])?(?:{_TESTS})(?:[:._-].*)?$")
_CHECK_NAME = regex.compile(
    rf"(?:.*[/:._-])?(?:{_TESTS}|lint|types?|typecheck|fmt|format|vet|clippy|audit)(?:[:._-].*)?$"
)
_PASSED = regex.compile(
    r"\b(\d+) (?:tests? |specs? |examples? )?(?:passed|passing|succeeded)\b|^# pass (\d+)",
    regex.IGNORECASE | regex.MULTILINE,
)
_FAILED = regex.compile(
    r"\b(\d+) (?:tests? |specs? |examples? )?(?:failed|failing|failures?|errors?)\b"
    r"|\b(?:failed|failures|errors)[:=] *(\d+)|^# fail (\d+)",
    regex.IGNORECASE | regex.MULTILINE,
)
_RAN = regex.compile(r"^(?:Ran (\d+) tests?|Tests run: (\d+))", regex.MULTILINE)
_FAILURE_LINE = regex.compile(
    r"^(?:FAILED|ERROR|FAIL:|ERROR:|--- FAIL:|E  |✕|✗|×|●|not ok|test .+ \.\.\. FAILED).*",
    regex.MULTILINE,
)
_ANSI = regex.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def is_test(command: str) -> bool:
    return _runs(command, RUNNERS, _TEST_NAME)


def is_check(command: str) -> bool:
    """True for tests, linters and type checkers, whose failure is a result and no error."""
    return _runs(command, RUNNERS | CHECKERS, _CHECK_NAME)


def _runs(command: str, programs: frozenset[str], task: regex.Pattern[str]) -> bool:
    script = shell.parse(command)
    return script is not None and any(
        _is_one_of(plain, programs, task) for each in script for plain in shell.unwrap(each)
    )


def _is_one_of(command: Command, programs: frozenset[str], task: regex.Pattern[str]) -> bool:
    name = command.name.rpartition("/")[2]
    words = [w.text for w in command.words[1 : 1 + LEADING_WORDS] if w.text[:1] != "-"]
    if name in programs:
        return True
    if name in TASK_RUNNERS:
        tasks = takewhile(lambda word: word not in INSTALLING, words)
        return any(word in programs or task.match(word) for word in tasks)
    script = _script_of(command.name, name, words)
    return bool(script and task.match(script.rpartition("/")[2].partition(".")[0]))


def _script_of(called: str, name: str, words: Sequence[str]) -> str:
    """Return the path of the script that is run, by itself or by an interpreter."""
    if name in INTERPRETERS:
        return words[0] if words and ("/" in words[0] or "." in words[0]) else ""
    return called if "/" in called else ""


def parse_test_run(command: str, output: str, *, failed: bool) -> Run:
    """Recognize a failure by its counts, too, as a pipe hides the exit code."""
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


def _count(pattern: regex.Pattern[str], text: str) -> int | None:
    for line in reversed(text.splitlines()):
        found = [next(filter(None, match.groups())) for match in pattern.finditer(line)]
        if found:
            return sum(map(int, found))
    return None

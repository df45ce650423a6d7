"""Which commands run tests, and what their output says of how it went."""

from __future__ import annotations

import re
from itertools import takewhile

from ademem.capture.errors import essential
from ademem.core.text import preview
from ademem.guard import shell
from ademem.store.episodes import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.guard.shell import Command

ERROR_CHARS = 300
TAIL_CHARS = 4_000
"""Where runners sum up."""
AHEAD = 4
"""First words of a command of many uses that are looked at."""

_RUNNERS = """
    pytest py.test tox nox unittest nosetests jest vitest mocha ava tap karma cypress rspec minitest
    phpunit pest ctest gotestsum nextest behave cucumber bats robot ginkgo
"""
RUNNERS = frozenset(_RUNNERS.split())
"""Programs that do nothing else."""

_TASKS = """
    bun cargo deno dotnet go gradle gradlew hatch just lein make meson mise mix mvn mvnw npm nx
    ninja pdm playwright pnpm poetry rails rake rye sbt swift task turbo uv xcodebuild yarn zig
"""
TASKS = frozenset(_TASKS.split())
"""Programs that do it when one of their first words says so."""

INSTALLING = frozenset("add ci create i init install new remove uninstall update upgrade".split())
"""What stands behind these is a name."""

_TESTING = re.compile(r"(?:.*[/:._-])?(?:tests?|check|specs?|e2e|verify)(?:[:._-].*)?$")
_PASSED = re.compile(
    r"\b(\d+) (?:tests? |specs? |examples? )?(?:passed|passing|succeeded)\b|^# pass (\d+)",
    re.I | re.M,
)
_FAILED = re.compile(
    r"\b(\d+) (?:tests? |specs? |examples? )?(?:failed|failing|failures?|errors?)\b"
    r"|\b(?:failed|failures|errors)[:=] *(\d+)|^# fail (\d+)",
    re.I | re.M,
)
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_FAILURE = re.compile(
    r"^(?:FAILED|ERROR|FAIL:|ERROR:|--- FAIL:|E  |✕|✗|×|●|not ok|test .+ \.\.\. FAILED).*", re.M
)
"""How runners begin a line that names what failed."""
_RAN = re.compile(r"^(?:Ran (\d+) tests?|Tests run: (\d+))", re.M)


def is_test(command: str) -> bool:
    """Whether one of the commands in it runs tests."""
    script = shell.parse(command)
    if script is None:
        return False
    return any(_tests(plain) for each in script.commands for plain in shell.unwrap(each))


def outcome(command: str, output: str, *, failed: bool) -> Run:
    """How the run ended: by its exit code, and by its counts where a pipe hides that."""
    output = _ANSI.sub("", output)
    tail = output[-TAIL_CHARS:]
    bad, good = _last(_FAILED, tail), _last(_PASSED, tail)
    ran = _last(_RAN, tail)
    if good is None and ran is not None:
        good = max(0, ran - (bad or 0))
    error = _error(output) if failed or bad else ""
    if bad is None and good is not None and not failed:
        bad = 0
    return Run(command=command, passed=good, failed=bad, error=error)


def _error(output: str) -> str:
    named = _FAILURE.findall(output)
    return preview(named[0] if named else essential(output), ERROR_CHARS) or "it failed"


def _tests(command: Command) -> bool:
    name = command.name.rpartition("/")[2]
    words = [word.text for word in command.words[1 : 1 + AHEAD] if word.text[:1] != "-"]
    if name in RUNNERS:
        return True
    if name in TASKS:
        asked = takewhile(lambda word: word not in INSTALLING, words)
        return any(word in RUNNERS or _TESTING.match(word) for word in asked)
    script = command.name if "/" in command.name else ""
    if name in ("sh", "bash", "zsh", "node", "python", "python3", "ruby", "php", "perl"):
        script = words[0] if words and ("/" in words[0] or "." in words[0]) else ""
    return bool(script) and _TESTING.match(script.rpartition("/")[2].partition(".")[0]) is not None


def _last(pattern: re.Pattern[str], text: str) -> int | None:
    """What the last line with such counts adds up to; None: there is none."""
    for line in reversed(text.splitlines()):
        found = [next(filter(None, match.groups())) for match in pattern.finditer(line)]
        if found:
            return sum(map(int, found))
    return None

"""Summarize a conversation by rules: prompts, actions, test runs, errors and decisions.

Memory is bounded, however long the conversation is.
"""

from __future__ import annotations

import os
import re
from itertools import takewhile

from ademem.capture import errors
from ademem.capture.errors import COMMAND_CHARS, READ_CHARS, essential
from ademem.capture.prompt_lessons import corrections
from ademem.capture.transcript import Call, Event, Interruption, Message, Prompt, Result
from ademem.core.memory import Category
from ademem.core.redaction import redact
from ademem.core.text import fold, preview, whole_words
from ademem.guard import shell
from ademem.guard.mutation import judge
from ademem.guard.policy import OUR_SEARCHES, SHELL_TOOLS, WRITING_TOOLS
from ademem.guard.prompts import TurnClass, classify
from ademem.store.episodes import Action, Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.memory import Memory
    from ademem.core.settings import GuardSettings
    from ademem.guard.shell import Command

    Roots = tuple[str, ...]

ACTIONS = 200
TESTS = 40
FILES = 100
ITEMS = 20
"""Most errors, decisions, corrections and prompts. Of these the newest are kept, as of tests; of
actions and files the first."""
PENDING = 500
"""Most calls without a result; beyond it the oldest is dropped."""
SENTENCE_CHARS = 300
PROMPT_CHARS = 600

_DECISION = re.compile(
    r"^\W*(?:decisions?|decided|entscheidung|décision|decisión)\s*:\W*(?P<named>\S.{7,})$"
    r"|^\W*(?P<stated>(?:so\W+)?(?:we|i)(?:['’]ve| have)? (?:decided|chose|agreed|settled) "
    r"(?:to|on|that|for)\b.{7,})$",
    re.I,
)
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
_DELIVERS = re.compile(r"\bgit (?:\S+ )*?(?:commit|push)\b|\bgh pr (?:create|merge)\b|\bpublish\b")

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


class Conversation:
    """The events so far, each text redacted."""

    def __init__(self, roots: Roots, guard: GuardSettings, *, prompts: bool = True) -> None:
        self._roots = roots
        self._guard = guard
        self._keeps_prompts = prompts
        self._pending: dict[str, Call] = {}
        self._fingerprints: set[str] = set()
        self.task = ""
        self.last_instruction = ""
        self._task_is_instruction = False
        self.prompts: list[str] = []
        self.actions: list[Action] = []
        self.files: dict[str, None] = {}
        self.tests: list[Run] = []
        self.errors: list[str] = []
        self.decisions: dict[str, str] = {}
        self.corrections: dict[str, str] = {}
        self._changed_since_test = False
        self.last_message = ""
        self.interrupted = False
        self.started_at = ""
        self.ended_at = ""

    @property
    def is_empty(self) -> bool:
        return not (self.actions or self.tests or self.errors or self.decisions or self.corrections)

    @property
    def outcome(self) -> str:
        """Judge by the last test run; without tests, a commit or push counts as success.

        A change after a failed run may have mended it, so that the outcome is unknown.
        """
        if self.tests and not self.tests[-1].error:
            return "succeeded"
        if self.tests:
            return "unknown" if self._changed_since_test else "failed"
        delivered = any(
            action.kind == "run" and _DELIVERS.search(action.target) for action in self.actions
        )
        return "succeeded" if delivered and not self.interrupted else "unknown"

    def add(self, event: Event) -> None:
        if event.at:
            self.started_at = min(self.started_at or event.at, event.at)
            self.ended_at = max(self.ended_at, event.at)
        match event:
            case Prompt():
                self._add_prompt(event)
            case Interruption():
                self.interrupted = True
            case Message():
                text = redact(event.text).text
                self.last_message = preview(whole_words(text, PROMPT_CHARS), PROMPT_CHARS)
                for sentence in _SENTENCES.split("".join(text.split("```")[::2])):
                    if found := _DECISION.match(sentence.strip()):
                        _add(self.decisions, (found["named"] or found["stated"]).strip(" *_"))
            case Call() if event.id and event.id not in self._pending:
                self._pending[event.id] = event
                if len(self._pending) > PENDING:
                    del self._pending[next(iter(self._pending))]
            case Result():
                self._add_result(event)

    def add_memory(self, memory: Memory) -> None:
        """Add a memory that hooks captured in the session: it outlives the transcript."""
        if memory.hidden or memory.quarantine_reason or memory.deleted_at:
            return
        if memory.source_type == "intervention":
            _add(self.corrections, memory.content)
        elif memory.source_type == "error_capture":
            self._add_error(memory.source_id or "", memory.content)
        elif memory.category is Category.DECISION:
            _add(self.decisions, memory.content)

    def _add_prompt(self, prompt: Prompt) -> None:
        self.interrupted = False
        if not self._keeps_prompts:
            return
        text = redact(prompt.text).text
        turn = classify(text, settings=self._guard).turn
        shown = preview(whole_words(text, PROMPT_CHARS), PROMPT_CHARS)
        if shown not in self.prompts and turn is not TurnClass.NONE:
            self.prompts = [*self.prompts, shown][-ITEMS:]
        is_instruction = turn is TurnClass.REQUIRED
        corrected = corrections(text)
        if is_instruction and not corrected:
            self.last_instruction = shown
        if turn is not TurnClass.NONE and (
            not self.task or (is_instruction and not self._task_is_instruction)
        ):
            self.task, self._task_is_instruction = shown, is_instruction
        for sentence in corrected:
            _add(self.corrections, sentence)

    def _add_result(self, result: Result) -> None:
        call = self._pending.pop(result.call_id, None)
        if call is None or (result.failed and errors.is_refusal(result.text)):
            return
        action = action_of(call, self._roots)
        if action is None:
            return
        if action.kind == "test":
            output = redact(result.text).text
            run = parse_test_run(action.target, output, failed=result.failed)
            self.tests = [*self.tests, run][-TESTS:]
            self._changed_since_test = False
            if not run.error:
                self._add_action(action, call)
        elif result.failed and action.kind != "search":  # a failed search found nothing
            line = command_line(call) if call.tool in SHELL_TOOLS else ""
            if lesson := errors.lesson(call.tool, line, result.text):
                self._add_error(errors.fingerprint(result.text[: errors.READ_CHARS]), lesson)
        else:
            self._add_action(action, call)

    def _add_action(self, action: Action, call: Call) -> None:
        if len(self.actions) < ACTIONS and self.actions[-1:] != [action]:
            self.actions.append(action)
        if path := changed_file(call, self._roots):
            self._changed_since_test = True
            if len(self.files) < FILES:
                self.files[path] = None

    def _add_error(self, fingerprint: str, text: str) -> None:
        if fingerprint not in self._fingerprints:
            self._fingerprints.add(fingerprint)
            self.errors = [*self.errors, preview(text, SENTENCE_CHARS)][-ITEMS:]


def _add(items: dict[str, str], text: str) -> None:
    """Add a text under its folded words, and drop the oldest of more than ITEMS."""
    shown = preview(text, SENTENCE_CHARS)
    items.setdefault(fold(shown), shown)
    if len(items) > ITEMS:
        del items[next(iter(items))]


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

"""Summarize a conversation of any length by rules, in bounded memory."""

from __future__ import annotations

import os
import re

from ademem.capture import errors
from ademem.capture.checks import is_check, is_test, parse_test_run
from ademem.capture.errors import COMMAND_CHARS, READ_CHARS
from ademem.capture.teaching import may_teach, objects
from ademem.capture.transcript import Call, Event, Interruption, Message, Prompt, Result
from ademem.core import client
from ademem.core.memory import HEARD, Category, Memory
from ademem.core.redaction import redact
from ademem.core.settings import GuardSettings
from ademem.core.text import fold, preview, whole_words
from ademem.core.value import Value, replace
from ademem.guard.mutation import judge
from ademem.guard.policy import SEARCHES, SHELL_TOOLS, WRITING_TOOLS, own_tool
from ademem.guard.prompts import TurnClass, classify
from ademem.guard.touch import touch
from ademem.store import ledger
from ademem.store.episodes import Action, Run
from ademem.synthesis.steps import command_steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")
    Roots = tuple[str, ...]

ACTIONS = 200
TESTS = 40
FILES = 100
ITEMS = 20
"""Most errors, decisions, corrections and prompts. Of these the newest are kept, as of tests; of
actions and files the first."""
MOST_PENDING = 500
SENTENCE_CHARS = 300
PROMPT_CHARS = 600

_DECISION = re.compile(
    r"^\W*(?:decisions?|decided|entscheidung|décision|decisión)\s*:\W*(?P<named>\S.{7,})$"
    r"|^\W*(?P<stated>(?:so\W+)?(?:we|i)(?:['’]ve| have)? (?:decided|chose|agreed|settled) "
    r"(?:to|on|that|for)\b.{7,})$",
    re.I,
)
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
_DOCUMENT = re.compile(
    r"""(<<-?[ ]*(['"]?)(\w+)\2[^\n]*\n).*?(\n[ \t]*\3[ \t]*(?=\n|$))""", re.DOTALL
)
"""A document in a command, from its mark to the line that closes it."""
_DELIVERS = re.compile(r"\bgit (?:\S+ )*?(?:commit|push)\b|\bgh pr (?:create|merge)\b|\bpublish\b")

_KINDS = {
    **dict.fromkeys(("Read", "Glob", "Grep", "LS", "NotebookRead"), "read"),
    **dict.fromkeys(("BashOutput", "TaskOutput"), "read"),
    **dict.fromkeys(("WebFetch", "WebSearch"), "web"),
    **dict.fromkeys(("Agent", "Task"), "delegate"),
    **dict.fromkeys(SEARCHES, "search"),
    **dict.fromkeys(WRITING_TOOLS, "edit"),
}
_BOOKKEEPING = frozenset(
    {"TodoWrite", "TodoRead", "ToolSearch", "ExitPlanMode", "EnterPlanMode", "AskUserQuestion"}
)
_TARGETS = ("file_path", "notebook_path", "path", "pattern", "url", "query", "skill", "description")


CAUSE_MARKS = ("remedy", "cause")
LIST_TOOL = "TodoWrite"
"""Tool by which an agent keeps a list of what is to be done."""
REMEDY_ACTIONS = 2
"""Most changes between a failure and the success of the same command that count as its remedy."""
MESSAGES_ON_ERROR = 5


CAUSE_CHARS = 200
_CAUSE = re.compile(
    r"^\W*(?:root cause|cause|reason|ursache|causa)\W{0,4}[:=]\W*(?P<named>\S.*)$"
    r"|^(?P<explained>.*\b(?:because|caused by|due to|the (?:cause|reason|culprit) (?:is|was)"
    r"|turns? out|turned out|weil|wegen|parce que|porque|debido a)\b.*)$",
    re.I,
)
_STEM = 4


class Failure(Value):
    lesson: str
    line: str
    signatures: frozenset[str] = frozenset()
    changes: tuple[str, ...] = ()
    """Commands and edits since then."""
    messages: int = 0
    cause: str = ""
    """Begins with one of CAUSE_MARKS and a colon."""

    @property
    def text(self) -> str:
        return f"{self.lesson}; {self.cause}" if self.cause else self.lesson


class Conversation:
    """The events so far, each text redacted."""

    def __init__(self, roots: Roots, guard: GuardSettings, *, prompts: bool = True) -> None:
        self._roots = roots
        self._guard = guard
        self._keeps_prompts = prompts
        self._pending: dict[str, Call] = {}
        self.task = ""
        self.last_instruction = ""
        self._task_is_instruction = False
        self.prompts: list[str] = []
        self.actions: list[Action] = []
        self.files: dict[str, None] = {}
        self.runs: list[tuple[str, str]] = []
        """When commands that may change files began and ended, as stamps."""
        self.tests: list[Run] = []
        self.failures: dict[str, Failure] = {}
        """By fingerprint of the error, oldest first."""
        self.decisions: dict[str, str] = {}
        self.corrections: dict[str, str] = {}
        self._changed_since_prompt: set[str] = set()
        self._stated: tuple[str, frozenset[str]] = "", frozenset()
        """A statement, and files that were changed before it: it corrects, if one is again."""
        self._changed_since_test = False
        self._open_items = 0
        """Of the agent's list of what is to be done."""
        self.last_message = ""
        self.interrupted = False
        self.started_at = ""
        self.ended_at = ""

    @property
    def errors(self) -> list[str]:
        return [preview(failure.text, SENTENCE_CHARS) for failure in self.failures.values()]

    @property
    def is_empty(self) -> bool:
        return not (self.actions or self.tests or self.errors or self.decisions or self.corrections)

    @property
    def outcome(self) -> str:
        """Judge by the last test run, unless a change followed its failure, else by a commit.

        What was begun is partial if tests fail at the end, the person broke off, or items of the
        agent's own list are open.
        """
        if self.actions and (self.interrupted or self._open_items):
            return "partial"
        if self.tests:
            return self._outcome_of_tests
        return "succeeded" if self._has_delivered else "unknown"

    @property
    def _outcome_of_tests(self) -> str:
        if not self.tests[-1].error:
            return "succeeded"
        if self._changed_since_test:
            return "unknown"
        return "partial" if self.files else "failed"

    @property
    def _has_delivered(self) -> bool:
        return any(
            action.kind == "run" and _DELIVERS.search(action.target) for action in self.actions
        )

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
                self._add_message(redact(event.text).text)
            case Call():
                self._add_call(event)
            case Result():
                self._add_result(event)

    def _add_call(self, call: Call) -> None:
        if call.tool == LIST_TOOL:
            self._open_items = _count_open(call.input.get("todos"))
        if call.id:
            _keep(self._pending, call.id, call, MOST_PENDING)

    def _add_message(self, text: str) -> None:
        self.last_message = preview(whole_words(text, PROMPT_CHARS), PROMPT_CHARS)
        self._find_cause(text)
        for sentence in _SENTENCES.split("".join(text.split("```")[::2])):
            if found := _DECISION.match(sentence.strip()):
                _add(self.decisions, (found["named"] or found["stated"]).strip(" *_"))

    def add_memory(self, memory: Memory) -> None:
        """Add a memory that hooks captured in the session: it outlives the transcript."""
        if memory.hidden or memory.quarantine_reason or memory.deleted_at:
            return
        if memory.source_type == HEARD:  # what it was said about stands in the transcript alone
            return
        if memory.source_type == ledger.ERROR:
            _keep(self.failures, memory.source_id or "", Failure(lesson=memory.content, line=""))
        elif memory.category is Category.DECISION:
            _add(self.decisions, memory.content)

    def _add_prompt(self, prompt: Prompt) -> None:
        self.interrupted = False
        if not self._keeps_prompts or prompt.text.startswith(client.SLASH):
            return
        text = redact(prompt.text).text
        self._find_cause(text)
        turn = classify(text, settings=self._guard).turn
        shown = preview(whole_words(text, PROMPT_CHARS), PROMPT_CHARS)
        is_instruction = turn is TurnClass.REQUIRED
        corrected = may_teach(text)
        if is_instruction and not corrected:
            self.last_instruction = shown
        if turn is not TurnClass.NONE:
            self._add_wish(shown, is_instruction)
        before, self._changed_since_prompt = self._changed_since_prompt, set()
        self._stated = corrected or "", frozenset(before)
        if corrected and objects(text):
            _add(self.corrections, corrected)

    def _add_wish(self, shown: str, is_instruction: bool) -> None:
        """Add what a person asked for; the task is the first instruction, else the first wish."""
        if shown not in self.prompts:
            self.prompts = [*self.prompts, shown][-ITEMS:]
        if not self.task or (is_instruction and not self._task_is_instruction):
            self.task, self._task_is_instruction = shown, is_instruction

    def _add_result(self, result: Result) -> None:
        call = self._pending.pop(result.call_id, None)
        if call is None or (result.failed and errors.is_refusal(result.text)):
            return
        if action := action_of(call, self._roots):
            self._add_done(call, action, result)

    def _add_done(self, call: Call, action: Action, result: Result) -> None:
        is_run = action.kind == "run" and call.tool in SHELL_TOOLS
        if is_run and call.at and result.at:
            self.runs = [*self.runs, (call.at, result.at)][-ACTIONS:]
        if action.kind == "test":
            self._add_test(call, action, result)
        elif result.failed and is_run:
            self._add_failure(call, action, result.text)
        elif not result.failed or action.kind == "search":  # a failed search found nothing
            self._find_remedy(action)
            self._add_action(action, call)

    def _add_test(self, call: Call, action: Action, result: Result) -> None:
        run = parse_test_run(action.target, redact(result.text).text, failed=result.failed)
        self.tests = [*self.tests, run][-TESTS:]
        self._changed_since_test = False
        if not run.error:
            self._add_action(action, call)

    def _add_failure(self, call: Call, action: Action, output: str) -> None:
        """Add it, unless a check failed, or a command that only reads: that is a result."""
        lesson = errors.lesson(call.tool, action.target, output)
        if lesson and not is_check(call.text("command")):
            signatures = frozenset(step.signature for step in command_steps(action.target))
            failure = Failure(lesson=lesson, line=action.target, signatures=signatures)
            _keep(self.failures, errors.fingerprint(output[: errors.READ_CHARS]), failure)

    def _find_remedy(self, action: Action) -> None:
        """Explain open failures by a command that succeeds, or by the changes before it."""
        if action.kind not in ("run", "edit", "test") or not self.failures:
            return
        signatures = {step.signature for step in command_steps(action.target)}
        change = f"edit {action.target}" if action.kind == "edit" else f"`{action.target}`"
        for fingerprint, failure in self.failures.items():
            if failure.cause or not failure.line:
                continue
            changes = (*failure.changes, change)[: REMEDY_ACTIONS + 1]
            remedy = "" if action.kind == "edit" else _remedy_of(failure, action, signatures)
            self.failures[fingerprint] = replace(failure, changes=changes, cause=remedy)

    def _find_cause(self, message: str) -> None:
        fingerprint = next(reversed(self.failures), "")
        failure = self.failures.get(fingerprint)
        if failure and failure.line and failure.messages < MESSAGES_ON_ERROR:
            found = None if "cause: " in failure.cause else cause_in(message, failure.lesson)
            cause = f"cause: {found}" if found else failure.cause
            self.failures[fingerprint] = replace(
                failure, cause=cause, messages=failure.messages + 1
            )

    def _add_action(self, action: Action, call: Call) -> None:
        if len(self.actions) < ACTIONS and self.actions[-1:] != [action]:
            self.actions.append(action)
        for path in changed_files(call, self._roots):
            self._changed_since_test = True
            self._changed_since_prompt.add(path)
            statement, before = self._stated
            if statement and path in before:
                _add(self.corrections, statement)
            if len(self.files) < FILES:
                self.files[path] = None


def describe_run(run: Run) -> str:
    return f"`{run.command}` {run.error or 'passed'}"


def is_explained(lesson: str) -> bool:
    """Tell whether an error has what made it work, or its cause, behind it."""
    return any(f"; {mark}: " in lesson for mark in CAUSE_MARKS)


def _count_open(items: object) -> int:
    rows = items if isinstance(items, list) else []
    return sum(isinstance(row, dict) and row.get("status") != "completed" for row in rows)


def _remedy_of(failure: Failure, action: Action, signatures: set[str]) -> str:
    """Return what a command that succeeds says of a failure: what went before it, or itself."""
    if action.target == failure.line:
        has_few = 0 < len(failure.changes) <= REMEDY_ACTIONS
        return f"remedy: {', then '.join(failure.changes)} first" if has_few else ""
    is_alike = not failure.signatures.isdisjoint(signatures)
    return f"remedy: `{action.target}`" if is_alike else ""


def cause_in(message: str, lesson: str) -> str | None:
    """Return the sentence called the cause, or one that explains and has a word of *lesson*."""
    subject = _stems(lesson)
    for sentence in _SENTENCES.split("".join(message.split("```")[::2])):
        found = _CAUSE.match(sentence.strip())
        if found and len(sentence) <= CAUSE_CHARS and not sentence.rstrip().endswith(("?", ":")):
            if found["named"]:
                return found["named"].strip(" *_.")
            if not subject.isdisjoint(_stems(sentence)):
                return found["explained"].strip(" *_.-")
    return None


def _stems(text: str) -> set[str]:
    words = (word for word in re.findall(r"\w+", text.lower()) if len(word) >= _STEM)
    return {word[:_STEM] for word in words} - {"fail", "erro", "with", "that", "this", "have"}


def _add(items: dict[str, str], text: str) -> None:
    shown = preview(text, SENTENCE_CHARS)
    _keep(items, fold(shown), shown)


def _keep(items: dict[str, T], key: str, item: T, most: int = ITEMS) -> None:
    items.setdefault(key, item)
    if len(items) > most:
        del items[next(iter(items))]


def action_of(call: Call, roots: Roots) -> Action | None:
    """Return None for a call that changes and reads nothing."""
    if call.tool in _BOOKKEEPING:
        return None
    if call.tool in SHELL_TOOLS:
        line = command_line(call, roots)
        return Action(tool=call.tool, target=line, kind=_kind_of(line, call.text("command")))
    target = next((given for name in _TARGETS if (given := call.text(name))), "")
    kind = _KINDS.get(own_tool(call.tool) or call.tool, "other")
    return Action(tool=call.tool, target=_shorten(relative(target, roots)), kind=kind)


def _kind_of(line: str, script: str) -> str:
    words = line.split()[:2]
    if is_test(script):
        return "test"
    if words and words[0].endswith("ademem") and words[1:] in (["recall"], ["search"]):
        return "search"
    return "run" if judge(script).mutates else "read"


def command_line(call: Call, roots: Roots) -> str:
    """Return a shell command on one line, redacted, without documents, with relative paths."""
    script = _DOCUMENT.sub(r"\1…\4", redact(call.text("command")[: 2 * READ_CHARS]).text)
    for root in filter(None, roots):
        script = script.replace(root.rstrip(os.sep) + os.sep, "")
    lines = [line.strip() for line in script.splitlines() if line.strip()]
    return preview(whole_words("; ".join(lines), COMMAND_CHARS), COMMAND_CHARS)


def changed_files(call: Call, roots: Roots) -> list[str]:
    """Return the files below *roots* that a call names and changes; what is named in whole is none.

    A file that an editing tool writes counts wherever it is.
    """
    folder = call.folder or next(iter(roots), "") or os.sep
    paths = touch(call.tool, call.input, folder, GuardSettings()).writes
    inside = [relative(path, roots) for path in paths if path not in roots]
    if call.tool not in WRITING_TOOLS:
        inside = [path for path in inside if not os.path.isabs(path) and "*" not in path]
    return [_shorten(path) for path in inside]


def relative(path: str, roots: Roots) -> str:
    for root in roots:
        inside = root.rstrip(os.sep) + os.sep
        if root and path.startswith(inside):
            return path[len(inside) :]
    return path


def _shorten(text: str) -> str:
    return preview(redact(text[:READ_CHARS]).text, COMMAND_CHARS)

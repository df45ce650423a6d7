"""A conversation folded into what an episode says of it, in bounded memory however long it was."""

from __future__ import annotations

import re

from ademem.capture import errors
from ademem.capture.corrections import corrections
from ademem.capture.transcript import Call, Event, Interruption, Message, Prompt, Result
from ademem.core.memory import Category
from ademem.core.redaction import redact
from ademem.core.text import fold, preview, whole_words
from ademem.guard.policy import SHELL_TOOLS
from ademem.guard.prompts import TurnClass, classify
from ademem.store.episodes import Action, Run
from ademem.synthesis.episodes import actions, checks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.memory import Memory
    from ademem.core.settings import GuardSettings

ACTIONS = 200
TESTS = 40
FILES = 100
ITEMS = 20
"""Most errors, decisions, corrections and prompts: the newest, and of actions the first."""
PENDING = 500
"""Calls whose result is waited for at once; of those that never get one, the oldest is dropped."""
SENTENCE_CHARS = 300
PROMPT_CHARS = 600

REFUSALS = (
    "ademem guard:",
    "doesn't want to proceed",
    "doesn't want to take this action",
    "<tool_use_error>",
    "permission to use",
    "hook error:",
)
"""What is in the result of a call that was never carried out."""

_DECISION = re.compile(
    r"^\W*(?:decisions?|decided|entscheidung|décision|decisión)\s*:\W*(?P<said>\S.{7,})$"
    r"|^\W*(?P<told>(?:so\W+)?(?:we|i)(?:['’]ve| have)? (?:decided|chose|agreed|settled) "
    r"(?:to|on|that|for)\b.{7,})$",
    re.I,
)
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")


class Gathering:
    """What happened so far. Every text in it is redacted."""

    def __init__(
        self, roots: tuple[str, ...], guard: GuardSettings, *, prompts: bool = True
    ) -> None:
        self._roots = roots
        self._guard = guard
        self._keeps_prompts = prompts
        self._pending: dict[str, Call] = {}
        self._fingerprints: set[str] = set()
        self.task = ""
        self.last_order = ""
        self._task_is_order = False
        self.prompts: list[str] = []
        self.actions: list[Action] = []
        self.files: dict[str, None] = {}
        self.tests: list[Run] = []
        self.errors: list[str] = []
        self.decisions: dict[str, str] = {}
        self.corrections: dict[str, str] = {}
        self._changed_since = False
        """Whether a file was written after the last run of tests."""
        self.last_said = ""
        self.interrupted = False
        self.started_at = ""
        self.ended_at = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was done, settled or put right."""
        return not (self.actions or self.tests or self.errors or self.decisions or self.corrections)

    @property
    def outcome(self) -> str:
        """By the last tests that ran; without any, a commit or push speaks for success.

        What was changed after tests had failed may have mended it: nobody knows.
        """
        if self.tests and not self.tests[-1].error:
            return "succeeded"
        if self.tests:
            return "unknown" if self._changed_since else "failed"
        delivered = any(
            action.kind == "run" and _DELIVERS.search(action.target) for action in self.actions
        )
        return "succeeded" if delivered and not self.interrupted else "unknown"

    def take(self, event: Event) -> None:
        if event.at:
            self.started_at = min(self.started_at or event.at, event.at)
            self.ended_at = max(self.ended_at, event.at)
        match event:
            case Prompt():
                self._prompt(event)
            case Interruption():
                self.interrupted = True
            case Message():
                self._message(event)
            case Call():
                self._call(event)
            case Result():
                self._result(event)

    def learned(self, memory: Memory) -> None:
        """What the session's hooks captured, which is there when the transcript is gone."""
        if memory.hidden or memory.quarantine_reason or memory.deleted_at:
            return
        if memory.source_type == "intervention":
            _add(self.corrections, memory.content)
        elif memory.source_type == "error_capture" and memory.source_id not in self._fingerprints:
            self._fingerprints.add(memory.source_id or "")
            self.errors = [*self.errors, preview(memory.content, SENTENCE_CHARS)][-ITEMS:]
        elif memory.category is Category.DECISION:
            _add(self.decisions, memory.content)

    def _prompt(self, prompt: Prompt) -> None:
        self.interrupted = False
        if not self._keeps_prompts:
            return
        typed = redact(prompt.text).text
        turn = classify(typed, settings=self._guard).turn
        said = preview(whole_words(typed, PROMPT_CHARS), PROMPT_CHARS)
        if said not in self.prompts and turn is not TurnClass.NONE:
            self.prompts = [*self.prompts, said][-ITEMS:]
        orders = turn is TurnClass.REQUIRED
        put_right = corrections(typed)
        if orders and not put_right:
            self.last_order = said
        if turn is not TurnClass.NONE and (not self.task or (orders and not self._task_is_order)):
            self.task, self._task_is_order = said, orders
        for sentence in put_right:
            _add(self.corrections, sentence)

    def _message(self, message: Message) -> None:
        said = redact(message.text).text
        self.last_said = preview(whole_words(said, PROMPT_CHARS), PROMPT_CHARS)
        for sentence in _SENTENCES.split("".join(said.split("```")[::2])):
            if found := _DECISION.match(sentence.strip()):
                _add(self.decisions, (found["said"] or found["told"]).strip(" *_"))

    def _call(self, call: Call) -> None:
        if not call.id or call.id in self._pending:
            return
        self._pending[call.id] = call
        if len(self._pending) > PENDING:
            del self._pending[next(iter(self._pending))]

    def _result(self, result: Result) -> None:
        call = self._pending.pop(result.call_id, None)
        if call is None or (result.failed and _refused(result.text)):
            return
        action = actions.action(call, self._roots)
        if action is None:
            return
        if action.kind == "test":
            output = redact(result.text).text
            run = checks.outcome(action.target, output, failed=result.failed)
            self.tests = [*self.tests, run][-TESTS:]
            self._changed_since = False
            failed = bool(run.error)
        else:
            failed = result.failed and action.kind != "search"  # it found nothing
        if not failed:
            self._done(action, call)
        elif action.kind != "test":
            self._failed(call, result.text)

    def _done(self, action: Action, call: Call) -> None:
        if len(self.actions) < ACTIONS and self.actions[-1:] != [action]:
            self.actions.append(action)
        path = actions.file_of(call, self._roots)
        if path:
            self._changed_since = True
            if len(self.files) < FILES:
                self.files[path] = None

    def _failed(self, call: Call, text: str) -> None:
        written = actions.command(call) if call.tool in SHELL_TOOLS else ""
        lesson = errors.lesson(call.tool, written, text)
        mark = errors.fingerprint(text[: errors.READ_CHARS])
        if lesson and mark not in self._fingerprints:
            self._fingerprints.add(mark)
            self.errors = [*self.errors, preview(lesson, SENTENCE_CHARS)][-ITEMS:]


_DELIVERS = re.compile(r"\bgit (?:\S+ )*?(?:commit|push)\b|\bgh pr (?:create|merge)\b|\bpublish\b")


def _refused(text: str) -> bool:
    head = text[:2_000].lower()
    return any(refusal in head for refusal in REFUSALS)


def _add(items: dict[str, str], text: str) -> None:
    """By their folded words, each once; beyond ITEMS the oldest goes."""
    said = preview(text, SENTENCE_CHARS)
    items.setdefault(fold(said), said)
    if len(items) > ITEMS:
        del items[next(iter(items))]

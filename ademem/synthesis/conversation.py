"""Summarize a conversation by rules, in bounded memory however long it is."""

from __future__ import annotations

import re

from ademem.capture import errors
from ademem.capture.prompt_lessons import corrections
from ademem.capture.transcript import Call, Event, Interruption, Message, Prompt, Result
from ademem.core.memory import Category
from ademem.core.redaction import redact
from ademem.core.text import fold, preview, whole_words
from ademem.guard.policy import SHELL_TOOLS
from ademem.guard.prompts import TurnClass, classify
from ademem.store.episodes import Action, Run
from ademem.synthesis import actions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.memory import Memory
    from ademem.core.settings import GuardSettings

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

REFUSALS = (
    "ademem guard:",
    "doesn't want to proceed",
    "doesn't want to take this action",
    "<tool_use_error>",
    "permission to use",
    "hook error:",
)
"""Texts in the result of a call that was never carried out."""
REFUSAL_CHARS = 2_000

_DECISION = re.compile(
    r"^\W*(?:decisions?|decided|entscheidung|décision|decisión)\s*:\W*(?P<named>\S.{7,})$"
    r"|^\W*(?P<stated>(?:so\W+)?(?:we|i)(?:['’]ve| have)? (?:decided|chose|agreed|settled) "
    r"(?:to|on|that|for)\b.{7,})$",
    re.I,
)
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
_DELIVERS = re.compile(r"\bgit (?:\S+ )*?(?:commit|push)\b|\bgh pr (?:create|merge)\b|\bpublish\b")


class Conversation:
    """The events so far, each text redacted."""

    def __init__(
        self, roots: tuple[str, ...], guard: GuardSettings, *, prompts: bool = True
    ) -> None:
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
        head = result.text[:REFUSAL_CHARS].lower()
        if call is None or (result.failed and any(refusal in head for refusal in REFUSALS)):
            return
        action = actions.action_of(call, self._roots)
        if action is None:
            return
        if action.kind == "test":
            output = redact(result.text).text
            run = actions.parse_test_run(action.target, output, failed=result.failed)
            self.tests = [*self.tests, run][-TESTS:]
            self._changed_since_test = False
            if not run.error:
                self._add_action(action, call)
        elif result.failed and action.kind != "search":  # a failed search found nothing
            line = actions.command_line(call) if call.tool in SHELL_TOOLS else ""
            if lesson := errors.lesson(call.tool, line, result.text):
                self._add_error(errors.fingerprint(result.text[: errors.READ_CHARS]), lesson)
        else:
            self._add_action(action, call)

    def _add_action(self, action: Action, call: Call) -> None:
        if len(self.actions) < ACTIONS and self.actions[-1:] != [action]:
            self.actions.append(action)
        if path := actions.changed_file(call, self._roots):
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

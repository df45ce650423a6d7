"""What kind of turn a prompt starts: does it order a change, ask something, or neither?"""

from __future__ import annotations

import re
from enum import StrEnum

from ademem.guard.vocabulary import (
    ADVICE,
    CHANGE,
    CLAUSES,
    DICTATION,
    GO_AHEAD,
    LEAD_INS,
    LOOK,
    NO_CHANGE,
    OPENERS,
    QUESTIONS,
    SMALL_TALK,
    SUGGESTIONS,
    TROUBLE,
    WANTING,
    WANTS,
    WISHES,
)
from ademem.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MAX_CHARS = 4000
"""How much of a prompt is read; orders stand early."""


class TurnClass(StrEnum):
    """none: small talk. soft: memory may help. required: memory comes before changes."""

    NONE = "none"
    SOFT = "soft"
    REQUIRED = "required"


class Classified(Value):
    turn: TurnClass
    why: str
    """Ends the sentence "this turn is … because": "it asks to fix"."""


def nothing_was_typed(prompt: Prompt) -> Classified | None:
    if not prompt.text or prompt.text.startswith(("/", "<task-notification>")):
        return _none("it is a command of the client")
    return None


def dictated(prompt: Prompt) -> Classified | None:
    if prompt.low.startswith(DICTATION) and len(prompt.sentences) == 1:
        return _none("it dictates a memory")
    return None


def small_talk(prompt: Prompt) -> Classified | None:
    words = [word for word in prompt.words if word.isalpha()]
    talk = prompt.words and len(words) <= 8 and all(word in SMALL_TALK for word in words)
    return _none("it is small talk") if talk and prompt.text.isascii() else None


def goes_ahead(prompt: Prompt) -> Classified | None:
    """An order to do what was talked about."""
    opening = prompt.low
    for word in filter(str.isalpha, prompt.words):
        if opening.startswith(GO_AHEAD):
            return _required("it tells to go on with what was discussed")
        if word not in OPENERS and word not in SMALL_TALK:
            return None
        opening = opening.partition(word)[2].lstrip(" ,.!:-")
    return None


def orders(prompt: Prompt) -> Classified | None:
    """A clause that opens with a change, as a command or as a polite question."""
    for sentence in prompt.sentences:
        words = _tokens(sentence)
        if _is_open_question(words, sentence):
            continue
        starts = [0, *(at + 1 for at, word in enumerate(words) if word in CLAUSES)]
        for start in starts:
            verb = _opening_verb(words[start:])
            if verb:
                return _required(f"it asks to {verb}")
    return None


def asks(prompt: Prompt) -> Classified | None:
    """A question, or a wish to be told something."""
    for sentence in prompt.sentences:
        words = _tokens(sentence)
        if sentence.endswith("?") or _is_open_question(words, sentence):
            return _soft("it asks a question")
        rest = _after_openers(words)
        if rest and not LOOK.isdisjoint(_bases(rest[0])):
            return _soft("it asks to be told something")
    return None


def wishes(prompt: Prompt) -> Classified | None:
    """How things should be, or a thing that somebody wants."""
    if any(wish in prompt.low for wish in WISHES):
        return _required("it says how things should be")
    words = prompt.words
    for at, word in enumerate(words[:-1]):
        wanted = word in WANTS and at and words[at - 1] in WANTING
        if wanted and words[at + 1] != "to":
            return _required("it asks for something to be there")
    return None


def reports_trouble(prompt: Prompt) -> Classified | None:
    if any(word in prompt.low for word in TROUBLE):
        return _required("it reports something broken")
    return None


def says_something(prompt: Prompt) -> Classified | None:
    """Code, or anything longer in whatever language, may be answered by memory."""
    if "```" in prompt.text or "/" in prompt.text:
        return _soft("it names code")
    if len(prompt.words) >= 4 or (len(prompt.text) >= 4 and not prompt.text.isascii()):
        return _soft("it is more than small talk")
    return None


RULES: tuple[Callable[[Prompt], Classified | None], ...] = (
    nothing_was_typed,
    dictated,
    small_talk,
    goes_ahead,
    orders,
    asks,
    wishes,
    reports_trouble,
    says_something,
)


class Prompt:
    """What was typed, cut up once for all rules."""

    def __init__(self, text: str) -> None:
        self.text = text[:MAX_CHARS].replace("\u2019", "'").strip()
        self.low = self.text.lower()
        self.words = _tokens(self.low)
        self.sentences = _sentences(self.low)


def classify(prompt: str, *, plan_mode: bool = False) -> Classified:
    """The first rule that knows; in plan mode nothing is changed, so at most soft."""
    read = Prompt(prompt)
    outcomes = (rule(read) for rule in RULES)
    found = next(filter(None, outcomes), _none("it says too little to tell"))
    if plan_mode and found.turn is TurnClass.REQUIRED:
        return _soft("the session is in plan mode")
    return found


def _sentences(text: str) -> list[str]:
    """Sentences, lines and parts between semicolons; code between fences is no prose."""
    prose = " ".join(text.split("```")[::2])
    for end in (". ", "! ", "? ", "; "):
        prose = prose.replace(end, f"{end}\n")
    return [part.strip(" ;") for part in prose.splitlines() if part.strip(" ;")]


def _tokens(text: str) -> list[str]:
    return re.findall(r"[^\W_][\w']*|[,:()*;]|(?<=\s)-(?=\s)|^-", text)


def _is_open_question(words: list[str], sentence: str) -> bool:
    """How, why, what, is it, do I …: it asks for words even where it names a change."""
    rest = list(words)
    while rest and rest[0] in LEAD_INS:
        rest.pop(0)
    opening = " ".join(rest[:3])
    if opening.startswith(SUGGESTIONS):
        return False
    asks_advice = opening.startswith(ADVICE) and sentence.endswith("?")
    return bool(rest) and (rest[0] in QUESTIONS or asks_advice)


def _opening_verb(words: list[str]) -> str | None:
    """The change that the clause opens with, past politeness."""
    rest = _after_openers(words)
    if not rest or " ".join(rest[:6]).startswith(NO_CHANGE):
        return None
    return next((base for base in _bases(rest[0]) if base in CHANGE), None)


def _after_openers(words: list[str]) -> list[str]:
    at = 0
    while at < len(words) and (words[at] in OPENERS or words[at] in CLAUSES or words[at].isdigit()):
        at += 1
    return words[at:]


def _bases(word: str) -> tuple[str, ...]:
    """What the word may be a form of: "renaming" of "rename", "fixes" of "fix"; not past tenses."""
    if word.endswith("ing") and len(word) > 5:
        stem = word[:-3]
        return (word, stem, stem + "e", *((stem[:-1],) if stem[-1] == stem[-2] else ()))
    if word.endswith("s") and len(word) > 3:
        return (word, word[:-1], word[:-2])
    return (word,)


def _none(why: str) -> Classified:
    return Classified(turn=TurnClass.NONE, why=why)


def _soft(why: str) -> Classified:
    return Classified(turn=TurnClass.SOFT, why=why)


def _required(why: str) -> Classified:
    return Classified(turn=TurnClass.REQUIRED, why=why)

"""What kind of turn a prompt starts: does it order a change, ask something, or neither?"""

from __future__ import annotations

from enum import StrEnum

from ademem.core.value import Value
from ademem.guard import vocabulary as v
from ademem.guard.prompt import (
    CLIENT,
    DICTATION,
    Prompt,
    after_openers,
    bases,
    is_a_subject,
    is_told_in_words,
    mentions,
    opening_verb,
    tokens,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ademem.core.settings import GuardSettings

FEW_WORDS = 8
"""Longest small talk besides set phrases, and longest wish told without a verb."""
CLAUSE_WORDS = 24
"""Words of a clause that are looked at; its verb stands among the first."""
LIST_LINES = 2
"""So many lines with a bullet are a specification."""

UNTOLD = v.words("i we you they i'm that's")
"""Whoever "doesn't" after one of them reports no defect of a thing."""


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
    if not prompt.text or prompt.text.startswith("<task-notification>"):
        return _none("it is no prompt of a person")
    if prompt.slash in CLIENT:
        return _none("it is a command of the client")
    return None


def dictated(prompt: Prompt) -> Classified | None:
    if prompt.low.startswith(DICTATION) and len(prompt.sentences) == 1:
        return _none("it dictates a memory")
    return None


def consents(prompt: Prompt) -> Classified | None:
    """Yes, or the number of a choice: what was proposed goes on."""
    if not prompt.words or prompt.text.endswith("?"):
        return None
    said = set(prompt.words)
    if said <= v.CONSENT | v.COURTESY and not said.isdisjoint(v.CONSENT):
        return _required("it consents to what was proposed")
    chosen = {word for word in said if word in v.CHOICE or word.isdigit()}
    if chosen and said - chosen <= v.CHOOSING:
        return _required("it chooses what is to be done")
    return None


def small_talk(prompt: Prompt) -> Classified | None:
    """Nothing but set phrases and words of courtesy."""
    left = f" {' '.join(prompt.words)} "
    for phrase in v.TALK:
        left = left.replace(f" {phrase} ", " ")
    rest = left.split()
    if not rest and prompt.names_a_file:
        return None
    known = v.SMALL_TALK | prompt.talk
    rest = [word for word in rest if not word.isdigit()]
    if len(rest) <= FEW_WORDS and known.issuperset(rest):
        return _none("it is small talk")
    greeted = next((at for at, word in enumerate(prompt.words) if word not in known), 0)
    for start in {0, greeted}:
        opening = " ".join(prompt.words[start:]) + " "
        social = opening.startswith(v.SOCIAL)
        social = social or (opening.startswith("let me ") and opening.endswith(" first "))
        if social and len(prompt.words) <= FEW_WORDS:
            return _none("it is small talk")
    return None


def goes_ahead(prompt: Prompt) -> Classified | None:
    """An order to do what was talked about."""
    for sentence in prompt.sentences:
        if sentence.endswith("?"):
            continue
        if sentence.rstrip(" .!").endswith((" and do it", " and do that", " then do it")):
            return _required("it tells to go on with what was discussed")
        words = [word for word in tokens(sentence) if word[0].isalnum()][:CLAUSE_WORDS]
        while words:
            if f"{' '.join(words)} ".startswith(v.GO_AHEAD):
                return _required("it tells to go on with what was discussed")
            if words[0] not in v.OPENERS and words[0] not in v.SMALL_TALK:
                break
            words = words[1:]
    return None


def forbids(prompt: Prompt) -> Classified | None:
    """Nothing is to be changed: what else is asked is a question."""
    if prompt.bans_all:
        return _soft("it forbids changes")
    return None


def tells_a_rule(prompt: Prompt) -> Classified | None:
    if prompt.low.startswith(v.RULES_TOLD):
        return _soft("it tells what holds in the project")
    return None


def types_a_command(prompt: Prompt) -> Classified | None:
    """A line for the shell."""
    words = prompt.low.split()
    if len(words) < 2 or words[0] not in v.SHELL or "\n" in prompt.text:
        return None
    verb = next((word for word in words[1:] if not word.startswith("-")), "")
    if verb in ("run", "compose", "exec"):
        verb = next((word for word in words[2:] if not word.startswith("-") and word != verb), verb)
    if verb in v.SHELL_LOOK:
        return _soft(f"it asks for {words[0]} {verb}")
    stem = verb.partition("-")[0]
    if stem in v.SHELL_CHANGE or stem in v.CHANGE:
        return _required(f"it asks to {words[0]} {verb}")
    return None


def orders(prompt: Prompt) -> Classified | None:
    """A clause that opens with a change, as a command or as a polite question."""
    for sentence in prompt.sentences:
        if not prompt.is_open_question(sentence):
            verb = _ordered(tokens(sentence), in_words=not prompt.names_a_file)
            if verb:
                return _required(f"it asks to {verb}")
    return None


def orders_in_other_words(prompt: Prompt) -> Classified | None:
    """Orders of other languages: those we know, and those of the settings."""
    for sentence in prompt.sentences:
        words = tokens(sentence)
        if not prompt.is_open_question(sentence) and not prompt.asks_abroad(words):
            verb = mentions(words, prompt.orders)
            if verb:
                return _required(f"it says {verb!r}")
    return None


def asks(prompt: Prompt) -> Classified | None:
    """A question, or a wish to be told something."""
    for sentence in prompt.sentences:
        words = tokens(sentence)
        if sentence.endswith(("?", "\uff1f")) or prompt.is_open_question(sentence):
            return _soft("it asks a question")
        rest = after_openers(words)
        if rest and rest[0] in v.ANSWERING and is_told_in_words(rest):
            return _soft("it asks for something in words")
        if rest and not v.LOOK.isdisjoint(bases(rest[0])) and not is_a_subject(rest):
            return _soft("it asks to be told something")
        if prompt.asks_abroad(words):
            return _soft("it asks a question")
    return None


def wishes(prompt: Prompt) -> Classified | None:
    """How things should be, or a thing that somebody wants."""
    words = prompt.words
    if any(word in v.WISHES for word in words):
        return _required("it says how things should be")
    short = len(words) <= FEW_WORDS and after_openers(words)[:1]
    if short and short[0] in v.SHORT_WISHES:
        return _required("it says how things should be")
    for at, word in enumerate(words[:-1]):
        wanted = word in v.WANTS and at and words[at - 1] in v.WANTING
        if wanted and words[at + 1] != "to":
            return _required("it asks for something to be there")
    return None


def amends(prompt: Prompt) -> Classified | None:
    """What was done is to be done otherwise."""
    if any(f" {phrase} " in f" {' '.join(prompt.words)} " for phrase in v.AMENDMENTS):
        return _required("it corrects the work")
    opening = prompt.words[0] if prompt.words else ""
    if opening in ("no", "don't", "never") and len(prompt.words) >= 3:
        return _required("it corrects the work")
    return None


def reports_trouble(prompt: Prompt) -> Classified | None:
    if any(word in prompt.low for word in v.TROUBLE):
        return _required("it reports something broken")
    for at, word in enumerate(prompt.words):
        if at and word.endswith("n't") and prompt.words[at - 1] not in UNTOLD:
            return _required("it reports something broken")
    return None


def specifies(prompt: Prompt) -> Classified | None:
    bullets = [line for line in prompt.low.splitlines() if line.lstrip().startswith(("- ", "* "))]
    if len(bullets) >= LIST_LINES:
        return _required("it lists what is wanted")
    return None


def says_something(prompt: Prompt) -> Classified | None:
    """Code, or anything longer in whatever language, may be answered by memory."""
    if "```" in prompt.text or "/" in prompt.text:
        return _soft("it names code")
    if len(prompt.words) >= 2 or (len(prompt.text) >= 4 and not prompt.text.isascii()):
        return _soft("it is more than small talk")
    return None


RULES: tuple[Callable[[Prompt], Classified | None], ...] = (
    nothing_was_typed,
    dictated,
    consents,
    small_talk,
    forbids,
    tells_a_rule,
    types_a_command,
    goes_ahead,
    orders,
    orders_in_other_words,
    asks,
    wishes,
    amends,
    reports_trouble,
    specifies,
    says_something,
)


def classify(
    prompt: str, *, plan_mode: bool = False, settings: GuardSettings | None = None
) -> Classified:
    """The first rule that knows; in plan mode nothing is changed, so at most soft."""
    read = Prompt(prompt, settings)
    outcomes = (rule(read) for rule in RULES)
    found = next(filter(None, outcomes), _none("it says too little to tell"))
    if plan_mode and found.turn is TurnClass.REQUIRED:
        return _soft("the session is in plan mode")
    return found


def _ordered(words: list[str], *, in_words: bool) -> str | None:
    """The change that one of the sentence's clauses opens with."""
    how = False
    for start in (0, *(at + 1 for at, word in enumerate(words) if word in v.CLAUSES)):
        how = how or "how" in words[:start]
        joined = start and words[start - 1] in ("and", "or", "but", "so", "also")
        clause = words[start : start + CLAUSE_WORDS]
        verb = opening_verb(clause, bare=bool(joined))
        if joined and verb in v.NOUNS and v.OBJECTS.isdisjoint(clause[1:2]):
            continue
        if verb in v.ANSWERING and in_words and is_told_in_words(clause):
            continue
        if verb and not (how and joined and clause[0] != "then"):
            return verb
    if words and words[0] in v.CONDITIONS:
        for at, word in enumerate(words[1:]):
            before = words[at]
            if word in v.CHANGE and before not in v.NOT_BEFORE_A_VERB and before[0].isalnum():
                return word
    return None


def _none(why: str) -> Classified:
    return Classified(turn=TurnClass.NONE, why=why)


def _soft(why: str) -> Classified:
    return Classified(turn=TurnClass.SOFT, why=why)


def _required(why: str) -> Classified:
    return Classified(turn=TurnClass.REQUIRED, why=why)

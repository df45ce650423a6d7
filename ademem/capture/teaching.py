"""Tell whether a typed prompt may state what outlives its task.

It decides only if Claude is asked: nothing is stored as true by it, and an error costs one line.
"""

from __future__ import annotations

from ademem.core import regex
from ademem.core.untrusted import without_recalled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ademem.core.judge import Judge

READ_CHARS = 4000
JUDGED_CHARS = 1200
"""Characters of a prompt that are judged; the rest of a longer one is mostly pasted."""
LONGEST = 400
"""Characters of a sentence that is looked at; a longer one is pasted."""
TAG_WORDS = 2
MARGIN = 1.0
"""How far below the limit of a question words of a person still count as a statement.

Of 100 statements beside orders that strangers typed 98 lie above it, and of their 57 orders 21.
"""
_FENCED = r"(?s)(```|~~~).*?(?:\1|\Z)|<(\w[\w-]*)[^<>]*>.*?</\2>"
_NOT_TYPED = (">", "    ", "\t", "|", "#", "<", "+", "/")
_ENDS = r"(?<=[.!?;])\s+|\s+[–—-]\s+|(?<=[。！？；])\s*"
_QUESTION = ("?", "？")
_PRINTED = ("Error:", "Exception:", "Warning:", "ERR!", "FAILED", "Traceback (")
"""Signs of a line of the output of a program."""
_OBJECTIONS = frozenset("no nope wrong actually nein doch stop".split())


def may_teach(prompt: str) -> str | None:
    """Return the sentence of a typed prompt that most likely holds beyond its task, if any may.

    The judge `states` scores each alone, as a statement is often half of a prompt that orders.
    """
    states = _load_judge()
    if states is None:
        return None
    stated = [each for each in _first_of(sentences(prompt)) if not each.endswith(_QUESTION)]
    best = max(stated, key=states.score_sentence, default="")
    return best if states.score_sentence(best) > states.limit else None


def may_state(quote: str) -> bool:
    """Tell whether quoted words of a person may say what holds; a name or an order does not."""
    states = _load_judge()
    return states is not None and states.score_sentence(quote) > states.limit - MARGIN


def _load_judge() -> Judge | None:
    from ademem.core import judge

    try:
        return judge.load("states")
    except judge.DamagedJudge:  # `doctor` reports it
        return None


def objects(prompt: str) -> bool:
    """Tell whether a typed prompt begins with an objection, in English or German."""
    words = regex.findall(r"[^\W_]+", next(sentences(prompt), "").lower())
    return bool(words) and words[0] in _OBJECTIONS


def sentences(prompt: str) -> Iterator[str]:
    """Yield the sentences that were typed, without code, quoted lines and output of programs."""
    text = without_recalled(prompt[:READ_CHARS])
    if "```" in text or "~~~" in text or "<" in text:
        text = regex.sub(_FENCED, "\n", text)
    for line in filter(_is_typed, text.splitlines()):
        for part in regex.split(_ENDS, line):
            sentence = _without_tag(part.strip(" \t*•"))
            if sentence and len(sentence) <= LONGEST:
                yield sentence


def _is_typed(line: str) -> bool:
    return not line.startswith(_NOT_TYPED) and not any(sign in line for sign in _PRINTED)


def _without_tag(sentence: str) -> str:
    """Take off a question of a word or two behind a statement: "it is 5433, ok?"."""
    stated, _, tag = sentence.rpartition(",")
    is_tag = tag.endswith(_QUESTION) and len(tag.split()) <= TAG_WORDS
    return stated if stated and is_tag else sentence


def _first_of(typed: Iterator[str]) -> Iterator[str]:
    left = JUDGED_CHARS
    for sentence in typed:
        left -= len(sentence)
        if left < 0:
            return
        yield sentence

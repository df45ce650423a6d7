"""Corrections: what a person says about how things are done, while correcting or steering.

A rule for good is kept; an order for the task at hand, or a report, is not. Precision goes first.
"""

from __future__ import annotations

from ademem.core.untrusted import without_recalled

MAX_CHARS = 240
MIN_WORDS = 3
MOST = 4
"""Corrections of one prompt that are kept."""

CUES = (
    "use ",
    "we ",
    "rather",
    "n't ",
    "n’t ",
    "do not ",
    "always",
    "never",
    "instead",
    "prefer",
    "stop ",
    "avoid ",
    "from now on",
    "in future",
    "in the future",
    "immer",
    "nie ",
    "niemals",
    "siempre",
    "nunca",
    "toujours",
    "jamais",
)
"""Without any of them there is nothing to read more closely."""

_OPENING = (
    r"(?:(?:no+|nope|wrong|nein|non|actually|sorry|wait|stop)\b[\s,.!:–—-]*)*"
    r"(?:(?:please|and|so|but|also|then|ok(?:ay)?|bitte|por favor|s'il te plaît)[\s,]+)*"
)
"""What may stand before it."""

BEFORE = frozenset(
    "no nope wrong nein non actually sorry wait stop please and so but also then ok okay"
    " bitte por favor s'il te plaît".split()
)
"""The same, as words."""

FIRST = frozenset(
    "always never immer nie niemals siempre nunca toujours jamais here we use take call run write"
    " import nimm verwende nutze benutze usa utilise utilisez don't don’t dont do stop avoid quit"
    " i i'd i’d we'd we’d from in next ab".split()
)
"""First words of all rules."""

_MARKS = str.maketrans(dict.fromkeys(",.!:–—-", " "))

PERFECT = (
    "mind|been|seen|had|has|heard|wanted|thought|knew|got|gotten|worked|works|fails?|failed|happens?"
    "|happened|returns?|crash\\w*|gets?|is|was|were|the|a|an|that|this|in|used|did|does|said|liked"
)
"""After "always" and "never" these tell what happened, and set no rule."""

HARMLESS = (
    "worry|bother|forget|know|think|see|understand|have|need|want|care|mind|get|remember|believe"
    "|change\\s+(?:anything|any\\s+code|the\\s+code|it|code|that|this)|touch\\s+(?:anything|it|that)"
    "|do\\s+(?:anything|it|that|this)|edit\\s+(?:anything|files|it)|fix\\s+(?:it|anything|that)|stop"
    "|start|continue|apply|implement|write\\s+(?:any\\s+)?code|there|here|now|it|that|this|the|and|or|for|at"
)
"""After "don't" and "stop" these speak of the task at hand, or of nothing."""

RULES = (
    (
        "a rule for good",
        rf"(?:always|never(?:\s+ever)?|immer|nie|niemals|siempre|nunca|toujours|jamais)\s+(?!(?:{PERFECT})\b)\w+",
    ),
    (
        "how we do it",
        r"(?:here\s+)?we\s+(?:always|never|only|don['’]?t|do\s+not|use|prefer|keep|write|name|call"
        r"|test|deploy|run|put)\b.*",
    ),
    (
        "one thing instead of another",
        r"(?:use|take|call|run|write|import|nimm|verwende|nutze|benutze|usa|utilisez?)\s.+"
        r"(?:\binstead\b|\brather\s+than\b|,\s*not\s|\bstatt\b|\ben\s+vez\s+de\b|\bau\s+lieu\s+d)",
    ),
    (
        "what not to do",
        rf"(?:don['’]?t(?:\s+ever)?|do\s+not(?:\s+ever)?|stop|avoid|quit)\s+(?!(?:{HARMLESS})\b)\w+.*",
    ),
    ("a preference", r"(?:i|we)(?:['’]d|\s+would)?\s+(?:rather|prefer|like\s+it\s+better)\b.+"),
    ("from now on", r"(?:from\s+now\s+on|in\s+(?:the\s+)?future|next\s+time|ab\s+jetzt)\b.+"),
)
"""What a sentence is, and how it begins after a "no" or a "please"."""

ONCE = (
    r"\b(?:yet|for\s+now|right\s+now|this\s+time|(?:just\s+)?this\s+once|for\s+th(?:is|e)\s+"
    r"(?:run|task|time|test|session|demo|ticket|one|branch|pr|release|moment)|temporar\w+|today|tonight|tomorrow"
    r"|until|till|meanwhile|in\s+this\s+(?:session|turn|run|branch|pr)|before\s+(?:you|i|we)\b"
    r"|while\s+i|when\s+you(?:['’]re|\s+are)\s+done|(?:in|before)\s+anything|everything\s+else|unless\s+i|only\s+explain)\b"
)
"""Words of an order for once."""

SENTENCE_END = r"(?<=[.!?;])\s+|\n+|\s+[–—]\s+"
_END_SIGNS = frozenset(".!?;\n–—")


def corrections(prompt: str) -> list[str]:
    """The sentences that say how things are done here, as they were typed."""
    low = prompt.lower()
    if not any(cue in low for cue in CUES):
        return []
    prose = " ".join(without_recalled(prompt).split("```")[::2])
    parts = [prose] if _END_SIGNS.isdisjoint(prose) else _sentences(prose)
    sentences = [part.strip(" -*\u2022\t") for part in parts]
    return [sentence for sentence in dict.fromkeys(sentences) if why(sentence)][:MOST]


def _sentences(prose: str) -> list[str]:
    import re

    return re.split(SENTENCE_END, prose)


def why(sentence: str) -> str | None:
    """Which rule takes the sentence for a correction; None for anything else."""
    import re

    if len(sentence) > MAX_CHARS or len(sentence.split()) < MIN_WORDS:
        return None
    if sentence.endswith(("?", ":")) or sentence.startswith((">", "/", "#", "<", "|")):
        return None
    if not may_open(sentence) or re.search(ONCE, sentence, re.I):
        return None
    return next((name for name, rule in RULES if re.match(_OPENING + rule, sentence, re.I)), None)


def may_open(sentence: str) -> bool:
    """Whether a rule can match; compiling the rules for every prompt would cost it 3 ms."""
    for word in sentence.lower().translate(_MARKS).split():
        if word in FIRST:
            return True
        if word not in BEFORE and word.strip("o") != "n":
            return False
    return False

"""Lessons in a prompt: dictations ("remember: …") and corrections."""

from __future__ import annotations

from ademem.core.untrusted import without_recalled

DICTATION_CUES = ("remember", "note ", "merk", "recuerda", "souviens", "ricorda", "lembra")
"""Parts of which every dictation has one; without them no pattern is compiled."""

DICTATION = (
    r"(?i)\s*(?:please\s+)?"
    r"(?:remember(?:\s+that\b|(?P<duty>\s+to\b)|\s*:)"
    r"|note\s+(?:for|to)\s+(?:the\s+)?(?:future|memory|self)\s*:"
    r"|(?:merke?|recuerda|souviens-toi|ricorda|lembra)\s*:)"
    r"\s*(?P<said>.*)"
)
"""At the beginning of a line only, and never a question."""

MIN_DICTATION_CHARS = 8

_BULLET = r"\s*(?:[-*+\u2022]|\d+[.)])\s+(.*)"


def dictations(prompt: str) -> list[str]:
    """Return the dictated texts in order: the rest of a line, or the list below "remember:"."""
    low = prompt.lower()
    if not any(cue in low for cue in DICTATION_CUES):
        return []
    import re

    found: list[str] = []
    lines = without_recalled(prompt).splitlines()
    for at, line in enumerate(lines):
        dictation = re.match(DICTATION, line)
        if dictation and not line.rstrip().endswith("?"):
            said = dictation["said"].strip()
            if dictation["duty"] and said:
                said = f"Remember to {said}"
            found += [said] if said else _list_below(lines[at + 1 :])
    from ademem.capture.placeholders import is_placeholder

    return [
        text
        for text in dict.fromkeys(found)
        if len(text) >= MIN_DICTATION_CHARS and not is_placeholder(text)
    ]


def _list_below(lines: list[str]) -> list[str]:
    import re

    items: list[str] = []
    for line in lines:
        bullet = re.match(_BULLET, line)
        if not bullet:
            break
        items.append(bullet[1].strip())
    return items


MAX_CORRECTION_CHARS = 240
MIN_CORRECTION_WORDS = 3
MAX_CORRECTIONS = 4
"""Number of corrections that are kept of one prompt."""

CORRECTION_CUES = (
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
"""Parts of which every prompt with a correction has one."""

_OPENING = (
    r"(?:(?:no+|nope|wrong|nein|non|actually|sorry|wait|stop)\b[\s,.!:–—-]*)*"
    r"(?:(?:please|and|so|but|also|then|ok(?:ay)?|bitte|por favor|s'il te plaît)[\s,]+)*"
)
"""Words that may precede a rule."""

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
"""Words after "always" and "never" that report events instead of a rule."""

HARMLESS = (
    "worry|bother|forget|know|think|see|understand|have|need|want|care|mind|get|remember|believe"
    "|change\\s+(?:anything|any\\s+code|the\\s+code|it|code|that|this)|touch\\s+(?:anything|it|that)"
    "|do\\s+(?:anything|it|that|this)|edit\\s+(?:anything|files|it)|fix\\s+(?:it|anything|that)|stop"
    "|start|continue|apply|implement|write\\s+(?:any\\s+)?code|there|here|now|it|that|this|the|and|or|for|at"
)
"""Words after "don't" and "stop" that concern the current task only."""

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
"""Kinds of corrections, and the pattern of each behind `_OPENING`."""

ONCE = (
    r"\b(?:yet|for\s+now|right\s+now|this\s+time|(?:just\s+)?this\s+once|for\s+th(?:is|e)\s+"
    r"(?:run|task|time|test|session|demo|ticket|one|branch|pr|release|moment)|temporar\w+|today|tonight|tomorrow"
    r"|until|till|meanwhile|in\s+this\s+(?:session|turn|run|branch|pr)|before\s+(?:you|i|we)\b"
    r"|while\s+i|when\s+you(?:['’]re|\s+are)\s+done|(?:in|before)\s+anything|everything\s+else|unless\s+i|only\s+explain)\b"
)
"""Words of an instruction for the current task only."""

SENTENCE_END = r"(?<=[.!?;])\s+|\n+|\s+[–—]\s+"
_END_SIGNS = frozenset(".!?;\n–—")


def corrections(prompt: str) -> list[str]:
    """Return the sentences that state how things are done, as typed.

    Rules for good are kept; orders for the current task and reports are not.
    """
    low = prompt.lower()
    if not any(cue in low for cue in CORRECTION_CUES):
        return []
    prose = " ".join(without_recalled(prompt).split("```")[::2])
    parts = [prose] if _END_SIGNS.isdisjoint(prose) else _sentences(prose)
    sentences = [part.strip(" -*\u2022\t") for part in parts]
    return [sentence for sentence in dict.fromkeys(sentences) if correction_kind(sentence)][
        :MAX_CORRECTIONS
    ]


def _sentences(prose: str) -> list[str]:
    import re

    return re.split(SENTENCE_END, prose)


def correction_kind(sentence: str) -> str | None:
    """Return the kind of correction of a sentence; None if it is none."""
    import re

    if len(sentence) > MAX_CORRECTION_CHARS or len(sentence.split()) < MIN_CORRECTION_WORDS:
        return None
    if sentence.endswith(("?", ":")) or sentence.startswith((">", "/", "#", "<", "|")):
        return None
    if not may_open(sentence) or re.search(ONCE, sentence, re.I):
        return None
    return next((name for name, rule in RULES if re.match(_OPENING + rule, sentence, re.I)), None)


def may_open(sentence: str) -> bool:
    """False if no rule can match; compiling them costs 3 ms."""
    for word in sentence.lower().translate(_MARKS).split():
        if word in FIRST:
            return True
        if word not in BEFORE and word.strip("o") != "n":
            return False
    return False

"""Lessons in a prompt: dictations ("remember: …") and corrections."""

from __future__ import annotations

from ademem.core.text import is_cjk
from ademem.core.typed_text import COLONS, read_dictation
from ademem.core.untrusted import without_recalled
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

MIN_DICTATION_CHARS, MIN_CJK_CHARS = 8, 4
"""Length of a dictated text of one word."""

WRAP_CHARS = range(72, 101)
"""Widths at which editors wrap. A line that the next word would have brought there goes on."""

_BULLET = r"\s*(?:[-*+\u2022]|\d+[.)])\s+(.*)"
_QUESTION = ("?", "\uff1f")


def dictations(prompt: str) -> list[str]:
    """Return the texts dictated by `remember:`, with which a typed prompt begins, in order.

    A text is the rest of its line, or the list below it; each line directly below may dictate
    another one. Behind any other line nothing is dictated.
    """
    lines = prompt.strip().splitlines()
    if not lines or read_dictation(lines[0]) is None:
        return []
    found: list[str] = []
    lines = without_recalled("\n".join(lines)).splitlines()
    at = 0
    while at < len(lines) and (text := read_dictation(lines[at])) is not None:
        end, texts = _read_texts(text, lines, at)
        is_question = lines[at].rstrip().endswith(_QUESTION)
        found += [] if is_question else filter(_says_something, texts)
        at = end
    from ademem.capture import is_placeholder

    return [text for text in dict.fromkeys(found) if not is_placeholder(text)]


def _read_texts(text: str, lines: list[str], at: int) -> tuple[int, list[str]]:
    """Return the number of the line behind a dictation, and its texts: one, or those of a list."""
    import re

    at += 1
    while text and at < len(lines) and _is_wrapped(lines[at - 1].rstrip(), lines[at]):
        text = f"{text} {lines[at].rstrip()}"
        at += 1
    listed = []
    while (not text or text.endswith(tuple(COLONS))) and at < len(lines):
        bullet = re.match(_BULLET, lines[at])
        if not bullet:
            break
        listed.append(bullet[1].strip())
        at += 1
    if text and listed:  # a sentence that the list ends
        text = "\n".join((text, *(f"- {each}" for each in listed)))
    return at, [text] if text else listed


def _is_wrapped(above: str, below: str) -> bool:
    if above.endswith((".", "!", "?", ":", ";")) or not below[:1].islower():
        return False
    if read_dictation(below) is not None:
        return False
    return len(above) + 1 + len(below.split(None, 1)[0]) in WRAP_CHARS


def _says_something(text: str) -> bool:
    return len(text) >= (MIN_CJK_CHARS if is_cjk(text) else MIN_DICTATION_CHARS) or (
        len(text.split()) > 1
    )


MAX_CORRECTION_CHARS = 400
MIN_CORRECTION_WORDS = 3
MAX_CORRECTIONS = 4


class Rule(Value):
    pattern: str
    """Pattern behind `_OPENING`, with the group *rule* or *preferred*."""
    cues: tuple[str, ...]
    """Phrases, each between two blanks; without any of them the pattern is not compiled."""


class Correction(Value):
    rule: str
    """The sentence without what addresses the listener: "Use pnpm, not npm"."""
    sentence: str


CORRECTION_CUES = (
    *("use ", "we ", "rather", "n't ", "n’t ", " not ", "always", "never", "instead", "prefer"),
    *("stop ", "avoid ", "from now on", "future", "next time", "must", "should", " to ", "belong"),
    *("convention", " go in", " go through", "immer", "nie ", "niemals", "kein", "nimm ", "nutze"),
    *("verwende", "wir ", "ab jetzt", "siempre", "nunca", "toujours", "jamais", "utilise", "on "),
    *("ne ", "n'", "usa", "no uses", "partir de"),
)

_OPENING = (
    r"(?:(?:stop|wait)\s*[,.!:–—-]+\s*|(?:(?:no+|nope|wrong(?:\s+\w+)?|nein|non|actually|sorry"
    r"|(?:that|this)(?:['’]?s|\s+is)(?:\s+not|n['’]t)?\s+(?:wrong|right|correct|true)"
    r"|i\s+(?:meant|mean|said|told\s+you)(?:\s+(?:to|that))?)\b[\s,.!:–—-]*)|(?:please|and|so|but"
    r"|also|then|ok(?:ay)?|bitte|por\s+favor|s['’]il\s+te\s+pla[iî]t|remember)[\s,:]+)*"
)
_OBJECTIONS = frozenset(
    "no nope wrong actually sorry that's that’s meant nein non it's it’s".split()
)
_DENYING = _OBJECTIONS | {"not", "isn't", "isn’t"}
_MARKS = str.maketrans(dict.fromkeys(",.!:–—-", " "))

_REPORTED = (
    r"(?:mind|been|seen?|had|has|have|heard|wanted|thought|knew|know|get|got|gotten|gets|hit|run\s+into"
    r"|end\s+up|lose|lost|work\w*|fail\w*|happen\w*|returns?|crash\w*|is|was|were|the|a|an|that|this"
    r"|in|used|did|does|said|liked?|need|understand|care|want\s+to|find|look|check|be\s+able)\b"
)
"""Words after "always", "we" or "should" that report events instead of a rule."""
_HARMLESS = (
    r"(?:worry|bother|forget|know|think|see|understand|have|need|want|care|mind|get|remember|believe"
    r"|(?:change|touch|do|edit|fix|commit|push)(?:\s+(?:anything|any\s+\w+|the\s+code|files|it|code"
    r"|that|this)\b|,|$)|stop|start|continue|apply|implement|wait|write\s+(?:any\s+)?code|there|here"
    r"|now|it|that|this|the|and|or|for|at)\b"
)
"""Words after "don't" and "stop" that concern the current task only."""
_CONTRAST = r"(?:\binstead\s+of\b|\brather\s+than\b|,\s*(?:and\s+)?(?:not|never)\s)"
_VERBS = r"(?:use|take|call|run|write|import)"


def _rule(pattern: str, cues: str) -> Rule:
    phrases = (f" {phrase.replace('_', ' ')} " for phrase in cues.split())
    return Rule(pattern=pattern, cues=tuple(phrases))


RULES = (
    _rule(rf"(?P<rule>(?:always|never(?:\s+ever)?)\s+(?!{_REPORTED})\w+.*)", "always never"),
    _rule(
        rf"(?:here[\s,]+)?we\s+(?P<rule>(?:(?:always|never|only|don['’]?t|do\s+not)\s+(?!{_REPORTED})"
        rf"|(?:use|prefer|keep|write|name|call|test|deploy|run|put)\s).*)",
        "we",
    ),
    _rule(
        rf"(?P<rule>(?:{_VERBS}|prefer|we\s+want|it['’]s)\s(?!an?\s).+(?:{_CONTRAST}|\binstead$).*)",
        "instead rather not never",
    ),
    _rule(
        rf"(?P<rule>(?:don['’]?t(?:\s+ever)?|do\s+not(?:\s+ever)?|stop|avoid|quit)\s+"
        rf"(?!{_HARMLESS})\w+.*)",
        "don't don’t dont do_not stop avoid quit",
    ),
    _rule(
        rf"you\s+(?:should|must|need\s+to|have\s+to)\s+(?P<rule>(?:(?:always|never|only|not)\s+)?"
        rf"(?!{_REPORTED})\w+\s.*(?:\b(?:always|never|not|instead|only)\b|{_CONTRAST}).*"
        rf"|(?:always|never|only|not)\s+(?!{_REPORTED})\w+.*)",
        "you_should you_must you_need_to you_have_to",
    ),
    _rule(
        r"(?:i|we)(?:['’]d|\s+would)?\s+(?:rather\s+(?:have|use)|prefer)\s+"
        r"(?P<preferred>(?!to\b|you\b|that\b).+)",
        "rather prefer",
    ),
    _rule(
        r"(?:from\s+now\s+on|in\s+(?:the\s+)?future|next\s+time|ab\s+jetzt|in\s+zukunft|künftig"
        r"|désormais|à\s+partir\s+de\s+maintenant|a\s+partir\s+de\s+ahora|de\s+ahora\s+en\s+adelante)"
        r"[\s,:]+(?P<rule>(?!i\b|i['’]|ich\b).+)",
        "from_now_on in_future in_the_future next_time ab_jetzt in_zukunft künftig désormais"
        " à_partir_de a_partir_de de_ahora",
    ),
    _rule(
        r"(?P<rule>(?!(?:the|this|that|these|those|it|you|he|she|they|there|i|we|what|who|why|how|if"
        r"|something|nothing|everything)\b)(?:[\w/.-]+\s+){1,4}?(?:must(?:\s+not)?|should(?:\s+not)?"
        r"|(?:have|has)\s+to|(?:are|is)\s+(?:always|never|only)|(?:go(?:es)?|belongs?|lives?)\s+"
        r"(?:in|into|through|to|under|on|behind)\b)\s*(?!pass\b|work\b).+)",
        "must should have_to has_to always never only go goes belong belongs live_in lives_in"
        " live_under lives_under live_on lives_on live_behind lives_behind",
    ),
    _rule(
        r"(?P<rule>(?:the|our)\s+(?:\w+\s+)?(?:convention|rule|policy|style|standard)\s+(?:here\s+)?"
        r"is\s.+)",
        "convention rule policy style standard",
    ),
    _rule(
        r"(?P<rule>(?:immer|nie|niemals)\s+\w+.*|(?:nimm|verwende|nutze|benutze)\s.*"
        r"(?:\bstatt\b|,\s*nicht\s|\bkeine?n?\b).*|wir\s+(?:benutzen|verwenden|nutzen|nehmen|schreiben"
        r"|machen)\s.*(?:\b(?:immer|nie|niemals|nur|statt|keine?n?)\b|,\s*nicht\s).*"
        r"|[\w-]+\s+(?:schreiben|benutzen|verwenden|nutzen|machen)\s+wir\s.+)",
        "immer nie niemals wir nimm verwende nutze benutze",
    ),
    _rule(
        r"(?P<rule>(?:toujours|jamais)\s+\w+.*|(?:on\s+)?utilise[sz]?\s.*(?:\bau\s+lieu\s+d|\bplutôt\s+qu"
        r"|,\s*pas\s|\btoujours\b|\bjamais\b).*|(?:on\s+)?n['’]utilise[sz]?\s+(?:jamais|pas|plus)\s.+"
        r"|ne\s+\w+\s+(?:jamais|pas|plus)\s.+|il\s+(?:ne\s+)?faut\s+(?:toujours|jamais)\s.+)",
        "toujours jamais utilise utilises utilisez ne n'utilise n’utilise n'utilisez n’utilisez",
    ),
    _rule(
        r"(?P<rule>(?:siempre|nunca|jamás)\s+\w+.*|(?:aquí\s+)?usamos\s.*(?:,\s*no\s|\ben\s+vez\s+de\b"
        r"|\bsiempre\b).*|usad?\s.*(?:\ben\s+(?:vez|lugar)\s+de\b|,\s*no\s).*"
        r"|no\s+(?:uses|utilices|hagas|subas|pongas|escribas|cambies|toques|añadas)\s.+)",
        "siempre nunca jamás usamos usa usad uses utilices hagas subas pongas escribas cambies"
        " toques añadas",
    ),
)
_CORRECTED = _rule(
    r"(?P<rule>(?!(?:i|you|that|this|he|she|they|we)\b|(?:the|my|your)\s+(?:\w+\s+)?(?:bug|cause|error"
    r"|failure|goal|issue|mistake|point|problem|question|reason|task)\b)[\w\"'`/.-]+\s.*\b(?:is|are|lives?|go(?:es)?|belongs?"
    r"|comes?|means?|spelled|called|named)\b.*,\s*not\s.+)",
    "not",
)
"""A fact that contradicts what was done; it needs an opening, or a sentence before it, as "no"."""

ONCE = (
    r"\b(?:yet|for\s+now|right\s+now|this\s+time|(?:just\s+)?this\s+once|for\s+th(?:is|e)\s+"
    r"(?:run|task|time|test|session|demo|ticket|one|branch|pr|release|moment|experiment)|temporar\w+"
    r"|today|tonight|tomorrow|yesterday|last\s+(?:week|month|time|year)|ago|until|till|meanwhile"
    r"|in\s+this\s+(?:session|turn|run|branch|pr|function|file|class|component|method|test|line|script)"
    r"|on\s+this\s+page|lines?\s+\d+|before\s+(?:i|we)\b|while\s+i|i(?:['’]ll|\s+will)|wait\s+for|let['’]?s|still"
    r"|when\s+you(?:['’]re|\s+are)\s+done|(?:in|before)\s+anything|everything\s+else|unless\s+i"
    r"|(?:only|just)\s+(?:analy|answer|change|edit|explain|fix|look|plan|read|review|update)\w*|noch\s+nicht|diesmal|für\s+diese\w?|todavía|aún|esta\s+vez|por\s+ahora"
    r"|pas\s+encore|cette\s+(?:fois|tâche))\b"
)
"""Words of an instruction for the current task, or of a report."""

_PASTED = r"(?s)```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<(\w[\w-]*)[^<>]*>.*?</\1>"
_QUOTED = r"[\"“«](?:[^\s\"”»]+\s+){3,}[^\"”»]*[\"”»]"
"""A quotation of four words or more: another's, or a text to be written."""
_NOT_TYPED = (">", "/", "#", "<", "|", "    ", "\t", '"', "“", "«", "'")
_COURTESY = r"(?:[\s,]+(?:please|instead|ever|thanks|bitte))?[\s.!;,]*$"
_INSTEAD_OF = r",?\s+(?:instead\s+of|rather\s+than)\s+(?!\w+ing\b)"
_SENTENCE_END = r"(?<=[.!?])\s+|\s+[–—]\s+"


def corrections(prompt: str) -> list[Correction]:
    """Return the rules that a person seems to state, which are candidates at most."""
    low = prompt.lower()
    if not any(cue in low for cue in CORRECTION_CUES):
        return []
    import re

    found: dict[str, Correction] = {}
    was_denied = False
    for line in re.sub(_PASTED, "\n", without_recalled(prompt)).splitlines():
        typed = not line.startswith(_NOT_TYPED)
        for part in re.split(_SENTENCE_END, line) if typed else ():
            sentence = part.strip(" -*\u2022\t")
            if not sentence:
                continue
            rule = state_rule(sentence, was_denied=was_denied)
            words = sentence.lower().translate(_MARKS).split()
            denies = not _DENYING.isdisjoint(words)
            # it says no more than that, as "No, that is wrong."
            was_denied = denies and re.fullmatch(_OPENING, sentence, re.I) is not None
            if rule:
                found.setdefault(rule, Correction(rule=rule, sentence=sentence))
    return list(found.values())[:MAX_CORRECTIONS]


def state_rule(sentence: str, *, was_denied: bool = False) -> str | None:
    """Word the rule of a sentence as a command; *was_denied*: an objection stood before it."""
    if len(sentence) > MAX_CORRECTION_CHARS or len(sentence.split()) < MIN_CORRECTION_WORDS:
        return None
    if sentence.endswith(("?", ":")) or sentence.startswith(_NOT_TYPED):
        return None
    rules = possible_rules(sentence)
    if not rules:
        return None
    import re

    opening = re.match(_OPENING, sentence, re.I)
    said = opening[0] if opening else ""
    first = len(said.translate(_MARKS).split())
    words = sentence.lower().translate(_MARKS).split()[: first + 1]
    denies = was_denied or not _OBJECTIONS.isdisjoint(words)
    matches = (
        re.match(rule.pattern, text, re.I)
        for text in dict.fromkeys((sentence[len(said) :], sentence))  # "No uses var" is Spanish
        for rule in rules
        if denies or rule is not _CORRECTED
    )
    found = next(filter(None, matches), None)
    if found is None or re.search(ONCE, sentence, re.I) or re.search(_QUOTED, sentence):
        return None
    return _as_command(found)


def _as_command(found: re.Match[str]) -> str:
    import re

    rule = found.groupdict().get("rule") or f"prefer {found['preferred']}".replace(" than ", " to ")
    rule = re.sub(r"^not\s+", "don't ", rule, flags=re.I)
    rule = re.sub(_COURTESY, "", rule, flags=re.I)
    if re.match(rf"(?:(?:always|only)\s+)?(?:{_VERBS}|prefer)\b", rule, re.I):
        rule = re.sub(_INSTEAD_OF, ", not ", rule, count=1, flags=re.I)
    return rule[:1].upper() + rule[1:]


def possible_rules(text: str) -> list[Rule]:
    """Return the rules that the words allow: compiling all of their patterns costs 5 ms."""
    words = f" {' '.join(text.lower().translate(_MARKS).split())} "
    return [rule for rule in (*RULES, _CORRECTED) if any(cue in words for cue in rule.cues)]

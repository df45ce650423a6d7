"""Tell from its words whether a typed prompt may state what outlives its task.

It decides only if Claude is asked: nothing is stored as true by it, and an error costs one line.
The words are English and German; prompts in other languages are for the judge `states` alone.
"""

from __future__ import annotations

from ademem.core.untrusted import without_recalled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

READ_CHARS = 4000
JUDGED_CHARS = 1200
"""Characters of a prompt that are judged; the rest of a longer one is mostly pasted."""
BESIDE = 0.0
"""Score above which a sentence beside others counts: where the judge itself changes sides. A whole
prompt needs more, so that few harmless ones are asked about."""
FEWEST_WORDS = 4
LONGEST = 400
"""Characters of a sentence that is looked at; a longer one is pasted."""
REACH = 9
"""Words within which the verb of a statement stands."""
_FENCED = r"(?s)(```|~~~).*?(?:\1|\Z)|<(\w[\w-]*)[^<>]*>.*?</\2>"
_NOT_TYPED = (">", "    ", "\t", "|", "#", "<", "+", "/")
_ENDS = r"(?<=[.!?;])\s+|\s+[–—-]\s+"
_PRINTED = ("Error:", "Exception:", "Warning:", "ERR!", "FAILED", "Traceback (")
"""Signs of a line of the output of a program."""
_QUOTED = r"\"[^\"]{8,}\"|“[^”]{8,}”|„[^“]{8,}“"
_WORD = r"[^\W_][\w'’./@-]*"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    """Return phrases, as they stand between blanks in a text of words alone."""
    return tuple(f" {' '.join(line.split())} " for line in text.split(","))


_QUESTION = _words("""
    what why how where when who whose which is are am was were do does did can could should
    would will shall has had may was warum wieso weshalb wie wo wer wem welche welcher welches
    kann können könnte ist sind soll sollen sollte hat darf
""")
"""First words of a question, also of one without its sign."""
_TAGS = r"(?:,\s*)?\b(?:ok|okay|right|alright|ja|klar|oder|gell|verstanden|got it)\s*\?+$"
_SELF = _words("i i'd i'm i'll i've ich mir it it's that's there you you're everything something")
_SELF |= _words("nothing anyone es du das's")
"""Subjects of what a person reports, asks for or complains about."""
_POINTING = _words("this that these those here das dies dieser diese dieses")
"""Such subjects where a verb follows at once."""
_OPENERS = _words("""
    no nope wrong actually sorry oh ah hm hmm well ok okay and but also so then please btw yes
    careful hey nein doch ach aber und bitte übrigens naja stop wait yesterday already
    gestern schon
""")
_OBJECTIONS = _words("no nope wrong actually nein doch stop")
_TOLD = _phrases("i told you, i said, i meant, ich habe gesagt, ich sagte")
_ANNOUNCED = _phrases("""
    mind you, fyi, for the record, just so you know, good to know, note that, keep in mind,
    remember that, for later, for this repo, for this project, for the future, in future, from
    now on, as a rule, in the future, the rule is, the convention is, i prefer, we prefer, zur
    info, merk dir, that's what, denk dran, denk daran, für später, ab jetzt, ab sofort, von
    jetzt an, künftig, in zukunft, grundsätzlich, you must not, you must never, you must always,
    you should never, you should always
""")
"""Words that announce what lasts, of any subject."""
_ONCE = _phrases("""
    for now, right now, just now, this time, just this, this once, for this commit, for this pr,
    for this branch, for this task, for this run, for this one, for this release, for this
    ticket, today, tonight, tomorrow, until the, until i, until we, until lunch, until tomorrow,
    meanwhile, later on, in a minute, once more, on this page, in this form, in this test,
    let's, never mind, never seen, don't forget, no worries, used to, yet, just run, just look,
    just fix, diesmal, heute, jetzt mal, kurz, fürs erste, vorerst, noch nicht, vergiss nicht,
    ab hier, im leben, for the demo, still, would be nice, i wish, maybe, perhaps, someday, some
    day, would like, i want, i hope, vielleicht, wäre schön, hätte gern, ich will, ich möchte
""")
"""Words of what is over with the task, or only wished for."""
_TROUBLE = _words("""
    again broken breaks broke bug crash crashes crashed fail fails failed failing flaky slow
    slower stuck hangs missing ignored lost loses vanishes disappeared disappears error weird
    forgot nothing too rejected clicks cuts red late kidding kaputt fehler langsam schlägt hängt
    rot
""")
"""Words of a complaint of the moment."""
_ALWAYS = _phrases("always, never, ever, immer, nie, niemals, nie wieder")
_LASTING = _phrases("""
    whenever, every time, each time, nobody, no one, by convention, convention, policy, agreed,
    decided, must not, mustn't, may not, must be, has to be, have to be, must never, not
    allowed, only ever, before you, before we, before any, before every, before each, after
    every, after each, in this repo, in this project, in this codebase, here we, here it's, over
    here, belongs in, belong in, belongs to, belong to, gilt, geeinigt, bei uns, bevor du, bevor
    wir, nur noch, auf keinen fall, darf nicht, dürfen nicht, darf kein
""")
_REASONS = _phrases("""
    because, that's why, that is why, the reason it, the reason is, the reason why, the reason
    for, otherwise, or else, the law, weil, deswegen, deshalb, sonst, der grund
""")
_CONTRAST = _words("instead not rather statt nicht lieber")
_ORDERS = _words("""
    add align apply bump build call change check clean close commit compare compute convert copy
    create debug delete deploy describe detect disable document draft draw drop edit enable
    explain export extract find fix format generate get give go help implement import improve
    increase install let list look make merge move open parse plan plot print put push record
    refactor reject release remove rename render reorder replace resize revert rewrite rotate
    run schedule set show skip solve split start summarise summarize support swap switch take
    tell test translate try undo update upgrade use write zeig zeige mach mache füge schreib
    schreibe nimm lass lösche prüf prüfe teste erkläre erklär benutze ändere öffne bau baue gib
    setz setze entferne verschiebe
""")
"""Verbs with which people begin orders."""
_FORBIDS = _words("don't dont avoid quit prefer")
_HARMLESS = _words("""
    worry bother have see think know understand get mind forget want need care believe remember
""")
_NARROW = _words("anything anyone just only")
"""Words behind "don't" that concern the moment alone."""
_STATES = _words("""
    is isn't has hasn't can can't cannot needs must mustn't doesn't won't only lives belongs
    goes comes uses runs means counts takes gets requires expects accepts answers returns sends
    holds calls contains reads writes knows looks rolls signs shares keeps stores starts stays
    waits allows forbids owns points listens speaks serves ships ist sind hat haben kann können
    muss müssen darf dürfen wird werden heißt heißen liegt liegen kommt kommen läuft laufen
    liefert liefern braucht brauchen gehört gehören gelten steht stehen nutzt nutzen verwendet
    verwenden liest schreibt macht machen geht gehen bleibt bleiben erwartet akzeptiert zählt
    heisst
""")
"""Verbs of what holds."""
_STATE_ALL = _words("""
    are aren't have haven't don't need needn't live belong go come use run mean count take get
    require expect accept send hold lie stay wait
""")
"""Such verbs behind a subject of several."""
_AFTER = _words(
    "a an the its their his her by from with without in on at for no to under over into"
)
"""Words behind any other verb of one subject."""
_SUBORDINATE = _words("""
    that which if whether when where who so how what to until while as and dass ob wenn wo um
""")
_DETERMINERS = _words("""
    the our a an all every each any no most both their only anyone der die das ein eine unser
    unsere unserem unseren alle jede jeder jedes kein keine im beim am zum
""")
_WE = _words("we wir")
_PLANS = _words("""
    should could can need want might were will would must shall just sollten könnten müssen
    wollen müssten can't cannot get got see
""")
"""Verbs after "we" that tell of plans and troubles."""
_MINE = _words("i my me mine please ich mein meine mir bitte now jetzt should sollte would")
"""Words of an order or a report, in what is else a statement."""


def may_teach(prompt: str) -> str | None:
    """Return a sentence of a typed prompt that may hold beyond its task.

    It is the first that reads so by its words, which are English and German; of a prompt without
    one, that which the judge `states` finds, trained on prompts in ten languages.
    """
    typed = list(_sentences(prompt))
    return next(filter(_states, typed), None) or _find_judged(typed)


def objects(prompt: str) -> bool:
    """Tell whether a typed prompt begins with an objection, in English or German."""
    import re

    words = re.findall(_WORD, next(_sentences(prompt), "").lower().replace("’", "'"))
    return _begins_with_objection(words, f" {' '.join(words)} ")


def _find_judged(sentences: Sequence[str]) -> str | None:
    """Judge a prompt as a whole, and of several sentences each; return what scores highest.

    In half a sentence beside an order little of a statement is left in the score of the whole.
    """
    from ademem.core import judge

    stated = [sentence for sentence in sentences if not sentence.endswith(("?", "？"))]
    try:
        states = judge.load("states")
        if not stated:
            return None
        scores = {each: states.highest(each) for each in _first_of(stated, JUDGED_CHARS)}
        best = max(scores, key=scores.__getitem__)
        is_beside = len(sentences) > 1 and scores[best] > BESIDE
        whole = "\n".join(sentences)[:JUDGED_CHARS]
        return best if is_beside or states.holds(whole) else None
    except judge.DamagedJudge:
        return None


def _first_of(texts: Iterable[str], most: int) -> Iterator[str]:
    """Yield the first text, and those behind it up to so many characters."""
    left = most
    for text in texts:
        if left < most and len(text) > left:
            return
        left -= len(text)
        yield text


def _sentences(prompt: str) -> Iterator[str]:
    import re

    text = without_recalled(prompt[:READ_CHARS])
    if "```" in text or "~~~" in text or "<" in text:
        text = re.sub(_FENCED, "\n", text)
    for line in text.splitlines():
        if line.startswith(_NOT_TYPED) or any(sign in line for sign in _PRINTED):
            continue
        for part in re.split(_ENDS, line):
            sentence = part.strip(" \t*•")
            if sentence.endswith("?"):
                sentence = re.sub(_TAGS, "", sentence)
            if sentence and len(sentence) <= LONGEST:
                yield sentence


def _states(sentence: str) -> bool:
    if sentence.endswith(("?", "？")):
        return False
    said = _Said(sentence)
    for rule in RULES:
        answer = rule(said)
        if answer is not None:
            return answer
    return _MINE.isdisjoint(said.words) and _holds(said.words)


class _Said:
    """A sentence in lower case, all of it as `spoken`, and its words behind what leads in."""

    def __init__(self, sentence: str) -> None:
        import re

        self.text = sentence.lower().replace("’", "'").replace("by the way", "btw")
        if any(sign in self.text for sign in '"“„'):
            self.text = re.sub(_QUOTED, " ", self.text)
        words = re.findall(_WORD, self.text)
        self.spoken = f" {' '.join(words)} "
        self.objects = _begins_with_objection(words, self.spoken)
        told = next((phrase for phrase in _TOLD if phrase in self.spoken), "")
        self.words = self.spoken.partition(told)[2].split() if told else words
        while self.words and self.words[0] in _OPENERS:
            self.words = self.words[1:]

    def has(self, phrases: Iterable[str]) -> bool:
        return _has(self.spoken, phrases)


def _is_over_soon(said: _Said) -> bool | None:
    return False if said.has(_ONCE) else None


def _is_question(said: _Said) -> bool | None:
    is_short = len(said.words) < FEWEST_WORDS
    return False if is_short or _asks(said.words) else None


def _announces(said: _Said) -> bool | None:
    return True if said.has(_ANNOUNCED) else None


def _forbids(said: _Said) -> bool | None:
    """Let "don't X" and "no, Xing" hold, but not "don't worry" and "don't X anything"."""
    first, second = said.words[:2]
    is_gerund = said.objects and first.endswith("ing")
    if not (first in _FORBIDS or (first, second) == ("do", "not") or is_gerund):
        return None
    return second not in _HARMLESS and _NARROW.isdisjoint(said.words)


def _orders(said: _Said) -> bool | None:
    """Let an order hold if it is for more than the task."""
    first, second = said.words[:2]
    has_object = first not in _DETERMINERS | _WE and second in _DETERMINERS | _POINTING
    if not (has_object or first in _ORDERS):
        return None
    if said.objects and not _CONTRAST.isdisjoint(said.words):
        return True
    return _has(f" {first} {second} ", _ALWAYS) or said.has(_LASTING[:3])


def _reports(said: _Said) -> bool | None:
    """Let what tells of the speaker, or of what is at hand, hold with its reason alone."""
    if said.objects or not (said.words[0] in _SELF or _points(said.words)):
        return None
    return said.has(_REASONS)


def _asks_a_favour(said: _Said) -> bool | None:
    return False if "please" in said.words else None


def _lasts(said: _Said) -> bool | None:
    return True if said.has(_LASTING) or said.has(_REASONS) else None


def _begins_with_always(said: _Said) -> bool | None:
    first, second = said.words[:2]
    return True if _has(f" {first} ", _ALWAYS) and second not in _DETERMINERS else None


def _complains(said: _Said) -> bool | None:
    return None if _TROUBLE.isdisjoint(said.words) else False


def _is_always(said: _Said) -> bool | None:
    return True if said.has(_ALWAYS) else None


def _tells_of_us(said: _Said) -> bool | None:
    return said.words[1] not in _PLANS if said.words[0] in _WE else None


def _corrects(said: _Said) -> bool | None:
    """Let an objection hold whose later clause does: "no, not 5432: the port is 5433"."""
    import re

    if not said.objects:
        return None
    later = (re.findall(_WORD, clause) for clause in re.split(r"[,:]\s", said.text)[1:])
    return True if any(_holds(clause) for clause in later if len(clause) > 2) else None


RULES: tuple[Callable[[_Said], bool | None], ...] = (
    _is_over_soon,
    _is_question,  # and whatever has too few words: the rules below look at the first two
    _announces,
    _forbids,
    _orders,
    _reports,
    _asks_a_favour,
    _lasts,
    _begins_with_always,
    _complains,
    _is_always,
    _tells_of_us,
    _corrects,
)
"""The first that knows whether a sentence states what outlives its task; None is not concerned."""


def _begins_with_objection(words: Sequence[str], spoken: str) -> bool:
    return _has(spoken, _TOLD) or (bool(words) and words[0] in _OBJECTIONS)


def _has(spoken: str, phrases: Iterable[str]) -> bool:
    return any(phrase in spoken for phrase in phrases)


def _asks(words: Sequence[str]) -> bool:
    turned = words[0].endswith("n't") and words[1] in (*_SELF, *_WE, "they")
    return turned or (words[0] in _QUESTION and words[:2] != ["do", "not"])


def _points(words: Sequence[str]) -> bool:
    return words[0] in _POINTING and (words[1] in _STATES or words[1] in _STATE_ALL)


def _holds(words: Sequence[str]) -> bool:
    """Tell whether the words are a subject and a verb of what holds."""
    is_named = words[0] in _DETERMINERS or words[0] in _POINTING
    for at, word in enumerate(words[:REACH]):
        if not at:
            continue
        if word in _SUBORDINATE:
            return False
        if word in _STATES:
            return True
        if word in _STATE_ALL and any(each.endswith("s") for each in words[:at]):
            return True
        is_verb = at > 1 and word[-1:] == "s" and word[-2:] != "ss"
        if is_named and is_verb and not _AFTER.isdisjoint(words[at + 1 : at + 2]):
            return True
    return False

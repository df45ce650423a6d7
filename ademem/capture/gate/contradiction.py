"""How likely two texts give different values to one subject, so that both cannot hold today."""

from __future__ import annotations

import math
import re
from difflib import SequenceMatcher
from functools import lru_cache

from ademem.capture.gate.duplicates import find_opposition
from ademem.capture.gate.slots import PLAIN_WORDS, SLOTS
from ademem.core.text import fold, unique
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CACHED = 4096
"""Texts that are kept as they were read: a batch compares each with many."""
MOST_FRAME_TOKENS = 25
"""Tokens of a text above which it is no plain sentence."""
SHARED_FRAME = 0.4
"""Share of the shorter sentence that keeps its place around what is exchanged."""
LONGEST_COMPLEMENT = 3
"""Tokens of a complement of which one takes the place of another."""
SUBJECT, COMPLEMENT = "subject", "complement"
"""Roles of exchanged words: another subject, or what is said of the same one."""
MOST_CHARS = 600
"""Characters of a text that are read: a longer one is about more than one matter."""

_STOP = frozenset(
    """
    a an and any are as at be been being both but by can could did do does each every for from had
    has have her his i if in into is it its itself may might more most must my of off on one only or
    other our out over own shall should so some such than that the their them then there these they
    this those three through to too two under up us use used uses using very via want was we were
    what when where which while who whom why will with within would you your not no nor never
    always all go goes going went gone come comes came get gets got live lives living lie lies run
    runs running ran keep keeps kept put puts take takes taken took make makes made need needs
    needed require requires required happen happens happened set sets sit sits speak speaks talk
    talks now then today currently since instead longer anymore again last lasts begin begins start
    starts least maximum minimum called named name year per also still about because after before
    until about spring summer autumn winter january february march april june july august september
    october november december switched switch moved move replaced replaces replace retired removed
    dropped renamed migrated converted ported rewritten ended changed raised lowered cut enlarged
    shifted upgraded closed sold forbidden allowed hand manual manually wir der die das ist sind
    und nehmen jetzt statt auf mit zu laufen werden usamos el la los de en lugar es
    """.split()
)
"""Words that say nothing about the subject."""
_CHANGE = re.compile(
    r"\b(?:switch(?:ed|ing)|mov(?:ed|ing)|replac(?:ed|es|ing)|no longer"
    r"|any ?(?:more|longer)|retired|instead|since|removed|dropp\w+|renamed|deleted"
    r"|migrated|migrating|converted|ported|rewritten|rewrote"
    r"|now|these days|upgraded|handed over|took over|threw out|raised|lowered|reduced"
    r"|cut (?:to|from)"
    r"|enlarged|shifted|deprecated|abandoned|ended|gone|sold|closed|used to|formerly|previously"
    r"|abgelöst|ersetzt|umgestiegen|umgestellt|statt|nicht mehr|jetzt|nun|seit"
    r"|en lugar de|ya no|ahora|remplac\w+|au lieu de|désormais)\b",
    re.IGNORECASE,
)
"""Words by which people say that something changed."""
_NAMED = r"([\w.@/+-]+(?: (?-i:[A-Z0-9])[\w.+-]*)*)"
_SUBJECT = rf"(?<![\w.@/+-]){_NAMED}"
_ENDED = r"retired|removed|replaced|dropped|sold|closed|deleted|deprecated|abandoned|shut down"
_GONE = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:instead of|in place of|rather than|in lieu of|no longer(?: \w+ing)?|statt"
        rf"|en lugar de|au lieu de) (?:the |an? |our )?{_NAMED}",
        r"\b(?:replac(?:ed|es)|renamed|dropped|removed|retired|threw out|abandoned|deprecated"
        rf"|away from|moved out of|not) (?:the |our )?{_NAMED}",
        r"\b(?:switch\w*|mov(?:ed|ing)|migrat(?:ed|ing)|converted|ported|upgraded|cut|went|renamed"
        rf"|changed|raised|lowered)\b[^.;,]*? from (?:the )?{_NAMED}",
        rf"{_SUBJECT}(?: \w+){{0,2}} (?:was|were|has been|have been|got) (?:{_ENDED})\b",
        rf"{_SUBJECT}(?: \w+){{0,2}} (?:is|are) (?:gone|retired|deprecated|forbidden|out\b"
        r"|no longer|not (?:\w+ )?(?:used|supported|needed)|not used)",
        rf"{_SUBJECT} (?:support )?ended\b",
        rf"{_SUBJECT} (?:left|quit)\b",
    )
)
"""Where a sentence names the thing that is no longer used."""

_FORBIDDEN = re.compile(
    r"\b(?:never|do not|don't|must not|mustn't|should not|shouldn't|may not|avoid|nie|niemals|nunca"
    r"|jamais)\b([^.,;:!?]*)",
    re.IGNORECASE,
)
"""A ban: the thing that it names may be in use elsewhere, and says nothing of today's choice."""

_UNITS = {
    **dict.fromkeys(
        "ms s sec second min minute h hour day week month year stunde tag".split(), "time"
    ),
    **dict.fromkeys("b kb mb gb tb kib mib gib byte kilobyte megabyte".split(), "size"),
    **dict.fromkeys(("%", "percent"), "share"),
    **dict.fromkeys(("cent", "euro", "dollar"), "money"),
}
_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
}
_OFTEN = frozenset(
    "nightly daily weekly hourly monthly yearly annually quarterly täglich wöchentlich".split()
)
_DAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
_MONTHS = frozenset(
    "january february march april may june july august september october november december".split()
)
_ORDINALS = frozenset("first second third fourth fifth".split())
BY_HAND = "by hand"
_MANNERS = {
    **dict.fromkeys(("hand", "manual", "manually"), BY_HAND),
    **dict.fromkeys(("automatic", "automatically", "automated"), "automatically"),
}
_KINDS = frozenset(kind for kinds in SLOTS.values() for kind in kinds)
_MEASURES = frozenset("time size share money clock date number port".split())
_VERSIONED = frozenset(
    """
    alpine android angular centos chrome debian django dotnet elixir fedora firefox go ios java
    kotlin kubernetes laravel macos net node nodejs openssl php python rails ruby rust safari scala
    spring swift terraform typescript ubuntu windows xcode
    """.split()
)
"""Names of things that have versions, besides those of SLOTS."""
_NUMBERED = (
    frozenset(
        """
    batch bucket case chapter code error exit group instance issue layer lesson level line machine
    module node number page part partition phase pod priority queue region replica room row rule
    section server severity shard slot stage step table team tenant ticket tier worker zone
    """.split()
    )
    - _VERSIONED
)
"""Nouns that a number follows to tell one of several."""
_TOKEN = re.compile(r"[\w/.$@#+-]*\w%?|%")
_PATH = re.compile(
    r"/[\w.-]+(?:/[\w.-]+)*/?"
    r"|(?:[\w.-]+/)*[\w-]+\.(?:py|js|ts|tsx|toml|ini|cfg|conf|ya?ml|json|xml|md|txt|sql|sh|html|rs|go)"
)
_ENDINGS = "ments ment ations ation ings ing ies ied ed es s ly".split()


_ARTICLES = frozenset("a an the our your my their its".split())
NAME_OF = "name of "
_CREWS = frozenset("team squad crew group department desk guild".split())
"""Nouns that the name of a group of people stands before."""
_THINGS = frozenset(
    """
    branch bucket channel cluster container gateway namespace pool profile protocol queue region
    registry schema scheme solver subnet topic track vault volume workspace zone
    """.split()
)
"""Nouns that the name of a thing stands before or behind: `the topic orders`."""
_RUNNERS = frozenset("make just task rake nox tox invoke".split())
"""Programs whose first argument names what is done."""
_SCRIPTED = frozenset("npm yarn pnpm bun".split())
_CALLED_BY = frozenset("with through via by using run runs call calls".split())
_TRIGGERS = frozenset(
    """
    night morning evening day weekday week weekend month quarter year hour minute sprint release
    deploy deployment build commit push merge import start boot
    """.split()
)
"""Nouns that `each` or `every` stands before where it says how often."""
_REASONS = ("differ", "complement", "ended", "ended_word", "oppose")
"""Features without any of which two texts say nothing else about their subject."""


class Facts(Value):
    """One text, taken apart."""

    subject: tuple[str, ...]
    """Stems of the words that say what it is about, in order."""
    values: Mapping[str, frozenset[str]]
    """Its values of today, by kind."""
    parts: frozenset[str]
    """Stems of its values but those it forbids."""
    words: tuple[str, ...]
    """All of its words but articles, in order."""
    tokens: tuple[str, ...]
    """The stems of these words."""
    stems: frozenset[str]
    changes: bool
    """It says that something changed."""
    gone: frozenset[str]
    """Stems of what it says is no longer used."""


def likelihood(one: str, other: str, cosine: float | None = None) -> float:
    """Return how likely two texts, in any order, cannot both hold today, 0 to 1.

    *cosine* is that of their vectors, if there are any. A logistic function of the features.
    """
    return score(features(one, other, cosine), WEIGHTS if cosine is not None else WEIGHTS_OF_WORDS)


def score(found: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Weigh the features; 0 without a reason."""
    if not has_reason(found):
        return 0.0
    return 1 / (1 + math.exp(-sum(weights[name] * value for name, value in found.items())))


def has_reason(found: Mapping[str, float]) -> bool:
    """True if the two texts share a subject and differ in what they say of it."""
    names_one_place = (found["slot"] or found["version"]) and not found["unlike"]
    has_subject = found["common"] or found["ended"] or names_one_place
    is_a_change = found["ended"] or (found["slot"] and found["change"])
    is_of_another = found["exchanged"] or (
        found["apart"] > 0.5 and found["common"] < 0.5 and not is_a_change
    )
    return bool(has_subject and not is_of_another and any(found[name] for name in _REASONS))


def features(one: str, other: str, cosine: float | None = None) -> dict[str, float]:
    """Return what speaks for or against a contradiction, each 0 to 1."""
    left, right = read(one), read(other)
    subject, mine, theirs = compare_subjects(left, right)
    apart = min(len(mine), len(theirs))
    differing, agreeing = _compare_values(left, right)
    ended = bool(left.gone & right.parts or right.gone & left.parts)
    ended_word = bool(left.gone & right.stems or right.gone & left.stems)
    exchange = _find_exchange(left, right)
    named = {kind for kind in differing if kind.startswith(NAME_OF)}
    shared = len(subject - {stem(kind.removeprefix(NAME_OF)) for kind in named})
    common = min(shared, 3) / 3
    share = min(1.0, shared / max(1, min(len(left.subject), len(right.subject))))
    change = float(left.changes or right.changes)
    measure = float(any(kind.partition(" ")[0] in _MEASURES for kind in differing))
    slot = float(not _KINDS.isdisjoint(differing))
    name = float("name" in differing and not ended)
    oppose = float(
        share >= 0.5 and (_turns_off(left, right) or find_opposition(one, other) is not None)
    )
    found = {
        "bias": 1.0,
        "common": common,
        "share": share,
        "apart": min(apart, 3) / 3,
        "long": min(1.0, max(len(left.subject), len(right.subject)) / 12),
        "unlike": float(not shared and bool(left.subject) and bool(right.subject)),
        "exchanged": float(exchange == SUBJECT and apart > 0 and shared > 0 and not ended),
        "complement": float(exchange == COMPLEMENT),
        "heads": float(_have_other_heads(left, right)),
        "differ": float(bool(differing)),
        "measure": measure,
        "version": float(any(kind.startswith("version ") for kind in differing)),
        "path": float("path" in differing),
        "name": name,
        "manner": float("manner" in differing),
        "named": float(bool(named)),
        "named_apart": float(bool(named) and apart > 0),
        "several": float(len({kind.partition(" ")[0] for kind in differing}) > 1),
        "many": float(not _MANY.isdisjoint((*left.words, *right.words))),
        "slot": slot,
        "agree": float(bool(agreeing) and not differing),
        "ended": float(ended),
        "ended_word": float(ended_word and not ended),
        "change": change,
        "oppose": oppose,
        "slot_common": slot * common,
        "measure_share": measure * share,
        "ended_common": ended * common,
        "name_share": name * share,
        "path_share": float("path" in differing) * share,
        "change_share": change * share,
        "oppose_share": oppose * share,
    }
    if cosine is not None:
        found |= {"cosine": cosine, "near": max(0.0, cosine - 0.5)}
    return found


@lru_cache(maxsize=CACHED)
def read(text: str) -> Facts:
    text = re.sub(r"\b(front|back) end\b", r"\1end", text[:MOST_CHARS])
    raw = [token.strip(".-") or token for token in _TOKEN.findall(text)]
    folded = [fold(token) for token in raw]
    values: set[tuple[str, str]] = set()
    subject: list[str] = []
    changes = _CHANGE.search(text) is not None
    at = 0
    while at < len(raw):
        if not changes and "version" not in folded and _is_label(raw, folded, at):
            subject.append(folded[at])
            at += 1
            continue
        found, width = _read_value(raw, folded, at)
        values.update(found)
        if not found and folded[at] not in _STOP and len(folded[at]) > 1:
            subject.append(stem(folded[at]))
        at += width
    gone = {
        stem(fold(part))
        for pattern in _GONE
        for match in pattern.finditer(text)
        for part in re.findall(r"[\w.-]*\w", match[1])
        if fold(part) not in _STOP
    }
    allowed = _stems(_FORBIDDEN.sub(" ", text))
    banned = {stem for ban in _FORBIDDEN.findall(text) for stem in _stems(ban)} - allowed
    words = [word for word in folded if word not in _ARTICLES]
    kinds: dict[str, frozenset[str]] = {}
    for kind, value in values:
        if (gone | banned).isdisjoint(_parts(value)):
            kinds[kind] = kinds.get(kind, frozenset()) | {value}
    return Facts(
        subject=unique(subject),
        values=kinds,
        parts=frozenset(part for _, value in values for part in _parts(value)) - banned,
        words=tuple(words),
        tokens=tuple(map(stem, words)),
        stems=frozenset(map(stem, folded)) - banned,
        changes=changes,
        gone=frozenset(gone),
    )


@lru_cache(maxsize=CACHED)
def stem(word: str) -> str:
    """Return a short form that most inflections of an English word share; a path as it is."""
    if "/" in word:
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word.rstrip("ey")[:5] if len(word) > 3 else word


_COMPLETED = frozenset("is are was were be been gets get".split())
"""Verbs that only one complement follows, with a participle or without."""
_PLACED = frozenset(
    """
    begin begins close closes come comes end ends go goes live lives open opens run runs sit sits
    start starts stay stays
    """.split()
)
"""Verbs that a preposition and one complement follow."""
_LEADS = frozenset("by with through via to into onto as at in on from before after under".split())
"""Prepositions before a complement of a verb; `of` and `for` say which thing is meant."""
_MANY = frozenset(
    """
    accept accepts allow allows also can cannot contain contains could handle handles include
    includes may might need needs never not offer offers provide provides require requires support
    supports
    """.split()
)
"""Words of sentences that hold of several things at once: `needs redis`, `never print names`."""


def _read_value(raw: list[str], folded: list[str], at: int) -> tuple[list[tuple[str, str]], int]:
    """Return the values that begin at a token, and the number of tokens they take."""
    token = folded[at]
    before = folded[at - 1] if at else ""
    after = folded[at + 1] if at + 1 < len(folded) else ""
    if joined := SLOTS.get(f"{token}-{after}"):
        return [(kind, f"{token}-{after}") for kind in joined], 2
    if token in SLOTS and (token not in PLAIN_WORDS or (at and raw[at][:1].isupper())):
        called = _name_kind(raw, folded, at)
        return [(kind, token) for kind in (*SLOTS[token], *([called] if called else []))], 1
    if measured := re.fullmatch(r"(\d+(?:[.,]\d+)*)([a-z]+|%)", token):
        kind = _UNITS.get(measured[2])
        return ([(kind, f"{measured[1]} {measured[2]}")], 1) if kind else ([("name", token)], 1)
    if re.fullmatch(r"\d{1,2}:\d\d", token):
        return [("clock", token)], 1
    if token in _NUMBERS or re.fullmatch(r"v?\d+(?:[.,]\d+)*", token):
        return _read_number(raw, folded, at)
    if token in _OFTEN:
        return [("time", token)], 1
    if token in ("each", "every") and after in _TRIGGERS:
        return [("time", f"each {after}")], 2
    if token in _DAYS:
        return [("date", token)], 1
    if token in _ORDINALS and after in ("of", "day", "working", "business"):
        return [("date", " ".join(folded[at : at + 3]))], 3
    if token in _MANNERS:
        manner = _MANNERS[token]
        often = [("time", manner)] if manner == BY_HAND else []
        return [("manner", manner), *often], 1
    if _PATH.fullmatch(token):
        return [("path", token)], 1
    if token in _MONTHS:
        return [], 1
    if token not in _STOP and (kind := _name_kind(raw, folded, at)):
        return [(kind, token)], 1
    is_title = raw[at][:1].isupper() and at > 0 and before != "" and not raw[at].isupper()
    if is_title or (raw[at][1:] != raw[at][1:].lower() and not raw[at].isupper()):
        return [("name", token)], 1
    return [], 1


def _name_kind(raw: list[str], folded: list[str], at: int) -> str:
    """Return the kind of thing that the token names by its neighbours; "" if it is no name."""
    three, two, one = (["", "", "", *folded][at + place] for place in range(3))
    after, last = ([*folded, "", ""][at + place] for place in (1, 2))
    if after in _CREWS or (after in _THINGS and one not in _THINGS and (last in _STOP or not last)):
        return NAME_OF + after
    if one in _THINGS and (not two or two in _ARTICLES or three in _ARTICLES):
        return NAME_OF + one
    is_called = one in _RUNNERS and raw[at - 1] == one and (two in _CALLED_BY or at == 1)
    return NAME_OF + one if is_called or (one == "run" and two in _SCRIPTED) else ""


def _read_number(raw: list[str], folded: list[str], at: int) -> tuple[list[tuple[str, str]], int]:
    token = folded[at]
    amount = _NUMBERS.get(token, token)
    before = folded[at - 1] if at else ""
    after = folded[at + 1] if at + 1 < len(folded) else ""
    if kind := _UNITS.get(after) or _UNITS.get(after.rstrip("sn")):
        return [(kind, f"{amount} {after.rstrip('s')}")], 2
    if after in _MONTHS or before in _MONTHS:
        return [("date", f"{amount} {after if after in _MONTHS else before}")], 1
    if token in _NUMBERS:
        counts = bool(after) and after not in _STOP
        return ([("number", amount), (f"number {stem(after)}", amount)], 1) if counts else ([], 1)
    if before == "port":
        return [(before, amount)], 1
    if before in SLOTS or before in _VERSIONED or (raw[at - 1 : at] and _is_release(raw, at)):
        return [(f"version {stem(before)}", amount)], 1
    if "version" in folded:
        named = [word for word, form in zip(folded, raw, strict=True) if form[:1].isupper()]
        return [(f"version {stem(word)}", amount) for word in named if word not in _STOP], 1
    counted = [(f"number {stem(after)}", amount)] if after and after not in _STOP else []
    return [("number", amount), *counted], 1


def _is_release(raw: list[str], at: int) -> bool:
    """True for a name with a number that has a point: `Kubernetes 1.27`."""
    return "." in raw[at] and raw[at - 1][:1].isupper() and fold(raw[at - 1]) not in _STOP


def _is_label(raw: list[str], folded: list[str], at: int) -> bool:
    """True for a number that tells one of several things: `Shard 2`, `HTTP 404`, `step 3`, `v2`."""
    if re.fullmatch(r"v\d+", folded[at]):
        return True
    before = folded[at - 1] if at else ""
    return (
        folded[at].isdecimal()
        and not (before in _STOP or before in SLOTS or before in _VERSIONED or before in _MONTHS)
        and (before in _NUMBERED or (before.isalpha() and raw[at - 1][:1].isupper()))
        and before != "port"
    )


def compare_subjects(left: Facts, right: Facts) -> tuple[set[str], set[str], set[str]]:
    """Return the stems of the subject that both have, and those that each has for itself."""
    both = left.stems & right.stems
    names = {stem(name) for facts in (left, right) for name in facts.values.get("name", ())} & both
    mine, theirs = {*left.subject, *names}, {*right.subject, *names}
    return mine & theirs, mine - theirs, theirs - mine


def _find_exchange(left: Facts, right: Facts) -> str:
    """Name the role of the words that are exchanged in one sentence; "" where it is not one."""
    if max(len(left.tokens), len(right.tokens)) > MOST_FRAME_TOKENS:
        return ""
    steps = SequenceMatcher(None, left.tokens, right.tokens, autojunk=False).get_opcodes()
    kept = sum(step[2] - step[1] for step in steps if step[0] == "equal")
    if kept < SHARED_FRAME * min(len(left.tokens), len(right.tokens)):
        return ""
    changed = [step for step in steps if step[0] != "equal"]
    exchanged = [
        (start, end, since, to)
        for tag, start, end, since, to in changed
        if tag == "replace"
        and _is_subject(left, left.tokens[start:end])
        and _is_subject(right, right.tokens[since:to])
    ]
    if not exchanged:
        return ""
    start, end, since, to = exchanged[0]
    is_alone = len(changed) == 1 and max(end - start, to - since) <= LONGEST_COMPLEMENT
    words = left.words[start:end], right.words[since:to]
    return COMPLEMENT if is_alone and _are_complements(left.words[:start], *words) else SUBJECT


def _are_complements(before: Sequence[str], mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """True for words that say one thing of what stands before them, and cannot both do so."""
    if not _MANY.isdisjoint(before) or not _LEADS.isdisjoint((mine[0], theirs[0])):
        return False
    verbs = [at for at, word in enumerate(before) if word in _COMPLETED and at]
    behind = before[verbs[-1] + 1 :] if verbs else before
    if verbs and not behind:
        return not any(words[0].endswith(("ed", "en", "ing")) for words in (mine, theirs))
    is_near = len(behind) <= 3 if verbs else not _PLACED.isdisjoint(behind[-2:-1])
    return is_near and behind[-1] in _LEADS


def _is_subject(facts: Facts, tokens: Sequence[str]) -> bool:
    """True for words of the subject without a value."""
    return not facts.parts.intersection(tokens) and not set(facts.subject).isdisjoint(tokens)


def _have_other_heads(left: Facts, right: Facts) -> bool:
    """True if each begins with a word of its own: they are about two things."""
    heads = left.subject[:1], right.subject[:1]
    return all(heads) and heads[0][0] not in right.stems and heads[1][0] not in left.stems


def _compare_values(left: Facts, right: Facts) -> tuple[set[str], set[str]]:
    """Return the kinds in which both have values of today that differ, and that agree."""
    both = left.values.keys() & right.values.keys()
    agreeing = {kind for kind in both if left.values[kind] & right.values[kind]}
    return both - agreeing, agreeing


def _stems(text: str) -> set[str]:
    return {stem(fold(token.strip(".-"))) for token in _TOKEN.findall(text)}


def _parts(value: str) -> set[str]:
    return {stem(part) for part in (value, *re.split(r"[\s/-]", value))}


def _turns_off(left: Facts, right: Facts) -> bool:
    return any(
        "on" in a.stems - b.stems and "off" in b.stems - a.stems
        for a, b in ((left, right), (right, left))
    )


def is_explicit(earlier: str, later: str) -> bool:
    """True if the later text says that something changed, or nothing but its value differs."""
    left, right = read(earlier), read(later)
    return right.changes or (
        set(left.subject) == set(right.subject) and left.values.keys() == right.values.keys()
    )


def explain(one: str, other: str) -> str:
    """Name the two values, or the words by which the texts contradict each other."""
    left, right = read(one), read(other)
    differing, _ = _compare_values(left, right)
    for kind in sorted(differing, key=lambda kind: (kind == "name", kind == "number", kind)):
        mine, theirs = (sorted(facts.values[kind]) for facts in (left, right))
        return " against ".join(sorted((" ".join(mine), " ".join(theirs))))
    if turn := find_opposition(one, other):
        return turn
    return "one says that something changed" if left.changes or right.changes else "other words"


WEIGHTS = {
    "bias": -2.6,
    "common": 2.0,
    "share": -0.5,
    "apart": -2.6,
    "long": -2.7,
    "unlike": 0.1,
    "exchanged": 0.0,
    "complement": 2.8,
    "heads": -1.0,
    "differ": 2.0,
    "measure": -1.1,
    "version": 0.4,
    "path": 0.6,
    "name": -1.3,
    "manner": 0.0,
    "named": 0.5,
    "named_apart": -0.1,
    "several": -1.1,
    "many": -0.4,
    "slot": 1.9,
    "agree": -0.2,
    "ended": 1.0,
    "ended_word": -1.1,
    "change": 0.9,
    "oppose": 0.2,
    "slot_common": 0.6,
    "measure_share": -0.3,
    "ended_common": 0.1,
    "name_share": -1.3,
    "path_share": 0.3,
    "change_share": 0.1,
    "oppose_share": 1.6,
    "cosine": 3.3,
    "near": 2.4,
}
"""Weights of the features where vectors were compared, fitted by logistic regression."""
WEIGHTS_OF_WORDS = {
    "bias": -1.0,
    "common": 3.4,
    "share": 0.1,
    "apart": -3.3,
    "long": -3.3,
    "unlike": 0.2,
    "exchanged": 0.0,
    "complement": 2.7,
    "heads": -1.3,
    "differ": 1.9,
    "measure": -1.0,
    "version": 0.4,
    "path": 0.5,
    "name": -1.6,
    "manner": 0.0,
    "named": 0.5,
    "named_apart": 0.0,
    "several": -1.5,
    "many": -0.3,
    "slot": 1.6,
    "agree": -0.3,
    "ended": 1.4,
    "ended_word": -0.9,
    "change": 0.8,
    "oppose": -0.3,
    "slot_common": 0.5,
    "measure_share": -0.1,
    "ended_common": 0.3,
    "name_share": -1.6,
    "path_share": 0.3,
    "change_share": 0.1,
    "oppose_share": 1.8,
}
"""The same where words alone were."""

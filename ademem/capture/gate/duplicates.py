"""Rules about remembered text: the same topic, key or text, or nearly the same words."""

from __future__ import annotations

import re
from functools import lru_cache

from ademem.capture.gate.form import Merge, Reject, Revise, is_key_from_text, with_note
from ademem.core import text as text_
from ademem.core.memory import Category, Status
from ademem.core.text import fold, jaccard, preview, words
from ademem.core.value import replace
from ademem.guard.injection import instruction_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ademem.capture.gate.form import Gate, Reviewed
    from ademem.core.memory import Draft, Entry, Memory

NEAR_DUPLICATE = 0.85
"""Jaccard similarity of the words from which a draft merges into a memory."""

CATEGORY_FAMILIES = (
    (Category.FACT, Category.PATTERN, Category.GOTCHA),
    (Category.DECISION, Category.CONVENTION, Category.PREFERENCE),
)
"""Categories that may hold the same statement: how things are, and how we want them.

The other categories are records: two of them are two events, however similar their text.
"""

NEGATING = frozenset(
    """
    no not nor t never none nothing neither cannot nobody
    disable disables disabled deny denies denied forbid forbids forbidden
    refuse refuses refused reject rejects rejected
    nicht kein keine keinen nie ne pas jamais nunca não nem non mai
    не нет ни никогда ない せん
    """.split()
)
"""Words that negate; "t" is what tokenizing leaves of "don't"."""
REVERSING = NEGATING | frozenset(
    """
    without except unless always only before after above below true false must may minimum maximum
    min max enable enables enabled allow allows allowed increase increases decrease decreases
    ohne sans sin sem senza без
    """.split()
)
"""Words that reverse a sentence."""
_REVERSING_SIGNS = frozenset("不没沒無无未非勿莫안않못없")

_OPPOSITES = (
    ("before", "after"),
    ("above", "below"),
    ("true", "false"),
    ("minimum", "maximum"),
    ("min", "max"),
    ("increase", "decrease"),
    ("increases", "decreases"),
)

_REJECTING = NEGATING | {"instead", "rather", "statt", "lieu", "vez"}
"""Words before what a text rejects."""
_COMMON = frozenset(
    """
    a an the to of in on for with by at and or than from into as it we you this that here any ever
    use uses using used run call write take import put keep make do does be is are prefer directly
    always only must should project repository repo code codebase
    der die das den ein eine und oder hier wir verwende nutze benutze benutzen verwenden nimm
    le la les un une des et ou ici on utilise au el los las una y aquí usa usamos uses de en
    """.split()
)
"""Words that say nothing about the subject of a rule."""
OPPOSED_SHARE = 2 / 3
"""Share of what one text rejects, from which another that asserts it is opposed."""

STEM = 5
"""Number of first letters by which two forms of a word are equal."""
MIN_STEM_WORD = 4
"""Shortest word that counts for the subject of a text."""

_CLAUSE = r"[,;:.!?]\s"
_COMPOUND = r"(?i)\b(no|non|not)-(?=\w)"
"""A syllable that negates a part of one name, and no statement."""


def compared_text(text: Draft | Entry) -> str:
    return text_.with_title(text.title, text.content)


def is_same_family(left: Category, right: Category) -> bool:
    return any(left in family and right in family for family in CATEGORY_FAMILIES)


def contradicts(left: str, right: str) -> bool:
    """True if one text negates, or names other numbers, versions, identifiers or paths."""
    if any(
        word in REVERSING or not _REVERSING_SIGNS.isdisjoint(word)
        for word in words(left) ^ words(right)
    ):
        return True
    if split_rejected(left)[1] != split_rejected(right)[1]:
        return True  # "pnpm, not npm" has the words of "npm, not pnpm"
    mine, theirs = named_tokens(left, right)
    return mine != theirs  # in order: "from 14 to 15" is not "from 15 to 14"


def opposes(left: str, right: str) -> bool:
    """True if one text asserts what the other rejects, and not also what that asserts."""
    one, other = split_rejected(left), split_rejected(right)
    for (asserted, rejected), (theirs, _) in ((one, other), (other, one)):
        share = len(rejected & theirs) / len(rejected) if rejected else 0.0
        if share >= OPPOSED_SHARE and not (asserted and asserted <= theirs):
            return True
    return False


def split_rejected(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words that a text asserts, and those behind a negation, up to 5 letters each."""
    found: dict[bool, set[str]] = {False: set(), True: set()}
    for clause in re.split(_CLAUSE, text):
        rejects = False
        for token in (fold(raw.strip(text_.EDGE)) for raw in clause.split()):
            if not words(token).isdisjoint(_REJECTING):
                rejects = True
            elif token and token not in _COMMON:
                found[rejects].add(token[:STEM] if token.isalpha() else token)
    return frozenset(found[False]), frozenset(found[True])


def find_opposition(left: str, right: str) -> str | None:
    """Explain the opposition of two texts: one negates, or has the opposite word; else None.

    "Never by hand" opposes no text without "hand"; a name such as `--no-color` negates nothing.
    """
    left, right = (re.sub(_COMPOUND, r"\1", text) for text in (left, right))
    mine, theirs = words(left), words(right)
    if _negates(mine) != _negates(theirs):
        no, yes = (left, right) if _negates(mine) else (right, left)
        return "one says no" if _overlap(_stems_after(NEGATING, no), stems(yes)) else None
    for pair in (*_OPPOSITES, *(each[::-1] for each in _OPPOSITES)):
        if pair[0] in mine - theirs and pair[1] in theirs - mine:
            one, other = _stems_after({pair[0]}, left), _stems_after({pair[1]}, right)
            return " against ".join(sorted(pair)) if _overlap(one, other) else None
    return None


def stems(text: str) -> frozenset[str]:
    """Return the first letters of longer words; names stay whole."""
    return frozenset(
        token if is_name else token[:STEM]
        for token, is_name in _tokens(text)
        if is_name or len(token) >= MIN_STEM_WORD
    )


def named_tokens(left: str, right: str) -> tuple[list[str], list[str]]:
    """Return, for each text in order, the tokens that are names in one of the two."""
    mine, theirs = list(_tokens(left)), list(_tokens(right))
    named = {token for token, is_name in (*mine, *theirs) if is_name}
    return (
        [token for token, _ in mine if token in named],
        [token for token, _ in theirs if token in named],
    )


def tokenize(text: str) -> list[str]:
    return [token for token, _ in _tokens(text)]


def _overlap(left: frozenset[str], right: frozenset[str]) -> bool:
    """True if they have a word in common, or one is empty."""
    return not left or not right or not left.isdisjoint(right)


def _stems_after(turning: Collection[str], text: str) -> frozenset[str]:
    """Return the stems behind a word of *turning*, up to the end of its clause."""
    found: frozenset[str] = frozenset()
    for clause in re.split(_CLAUSE, text):
        tokens = clause.split()
        at = [place for place, word in enumerate(tokens) if not words(word).isdisjoint(turning)]
        if at:
            found |= stems(" ".join(tokens[at[0] + 1 :]))
    return found


def _negates(found: frozenset[str]) -> bool:
    return not NEGATING.isdisjoint(found) or any(
        not _REVERSING_SIGNS.isdisjoint(word) for word in found
    )


def _tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Yield folded tokens, each with True if it is a name."""
    starts_sentence = True
    for raw in text.split():
        token = raw.strip(text_.EDGE)
        if token:
            yield fold(token), _is_name(token, starts_sentence)
        starts_sentence = raw[-1] in ".!?:"


def _is_name(token: str, starts_sentence: bool) -> bool:
    if not token.isalpha():
        is_flag = token.startswith("-") and len(token) > 1
        return is_flag or any(char.isdigit() or char in "/\\._@#=:+" for char in token)
    return token[1:] != token[1:].lower() or (token[0].isupper() and not starts_sentence)


PART_CHARS = 20
"""Shortest part of a text that counts as a repetition."""

UNLIKE = 0.15
"""Jaccard similarity below which a revision is noted as a different statement."""


def echo(draft: Reviewed, gate: Gate) -> Reviewed | Reject:
    """Reject a text that its session was shown, unless the draft names a source or a key."""
    origin = draft.origin
    is_named = draft.topic_key or _explicit_key(draft)
    if draft.by_person or origin.source_id or not origin.session_id or is_named:
        return draft
    text = compared_text(draft)
    for memory in gate.lookup.shown(draft):
        if repeats(text, compared_text(memory)):
            why = f"{memory.id} says so, as this session was shown; nothing has to be saved again"
            return Reject(draft=draft, why=why)
    return draft


def rejected_before(draft: Reviewed, gate: Gate) -> Reviewed | Reject:
    """Reject what was rejected before, unless a person writes it."""
    text, key = compared_text(draft), _explicit_key(draft)

    def is_same(refused: Memory) -> bool:
        if fold(draft.content) == fold(refused.content):
            return True
        theirs = compared_text(refused)
        has_key = key is not None and key == refused.knowledge_key
        return (has_key and not contradicts(text, theirs)) or _is_near(text, theirs)

    memory = next(filter(is_same, gate.lookup.rejected(draft)), None)
    if memory is None or gate.lookup.exact(draft):
        return draft
    what = f"{memory.id} said so and was rejected before, on {memory.rejected_at:%Y-%m-%d}"
    if draft.by_person:
        return with_note(draft, f"{what}; your word brings it in")
    return Reject(draft=draft, why=f"{what}; a person brings it back: `ademem restore {memory.id}`")


def same_topic(draft: Reviewed, gate: Gate) -> Reviewed | Revise:
    memory = gate.lookup.by_topic(draft) if draft.topic_key else None
    if memory is None or memory.dedupe_key == draft.dedupe_key:
        return draft
    if not _may_replace(draft, memory):
        note = f"the topic {draft.topic_key} stays with {memory.id}: this text is not trusted"
        return with_note(replace(draft, topic_key=None), note)
    return _revision(draft, memory, f"the topic {draft.topic_key}")


def same_key(draft: Reviewed, gate: Gate) -> Reviewed | Revise:
    """Replace the text of the same explicit key; give a key made from the text a suffix."""
    memory = gate.lookup.by_key(draft) if draft.knowledge_key else None
    if memory is None or gate.lookup.exact(draft):
        return draft
    if not is_key_from_text(draft) and not draft.topic_key and _may_replace(draft, memory):
        return _revision(draft, memory, f"the key {draft.knowledge_key}")
    key, number = draft.knowledge_key, 2
    while gate.lookup.by_key(draft):
        draft = replace(draft, knowledge_key=f"{key}-{number}")
        number += 1
    note = f"the key {key} is taken by another text; this is {draft.knowledge_key}"
    return with_note(draft, note)


def exact_duplicate(draft: Reviewed, gate: Gate) -> Reviewed | Merge:
    memory = gate.lookup.exact(draft)
    if memory is None:
        return draft
    return Merge(draft=draft, into=memory, why=f"{memory.id} says the same")


def near_duplicate(draft: Reviewed, gate: Gate) -> Reviewed | Merge:
    """Merge into the most similar memory, unless the draft is an unapproved instruction."""
    text = compared_text(draft)
    mine = words(text)
    best = NEAR_DUPLICATE
    into: Memory | None = None
    for memory in gate.lookup.near(draft, best):
        shared = jaccard(mine, words(compared_text(memory)))
        if shared >= best and _is_same_memory(draft, memory):
            best, into = shared, memory
    if into is None or (not draft.by_person and instruction_in(text)):
        return draft
    why = f"{into.id} says it in nearly the same words ({best:.0%})"
    return Merge(draft=draft, into=into, why=why)


def _explicit_key(draft: Reviewed) -> str | None:
    return None if is_key_from_text(draft) else draft.knowledge_key


def repeats(text: str, shown: str) -> bool:
    """True for the shown text, a part of it, or nearly the same words."""
    mine, theirs = _join_words(text), _join_words(shown)
    is_part = len(mine) >= PART_CHARS and mine in theirs
    return mine == theirs or is_part or _is_near(text, shown)


@lru_cache(maxsize=text_.COMPARED)
def _join_words(text: str) -> str:
    return " ".join(re.findall(r"\w+", fold(text)))


def _is_near(left: str, right: str) -> bool:
    near = jaccard(words(left), words(right)) >= NEAR_DUPLICATE
    return near and not contradicts(left, right)


def _is_same_memory(draft: Reviewed, memory: Memory) -> bool:
    return (
        draft.topic_key in (None, memory.topic_key)
        and draft.knowledge_key in (None, memory.knowledge_key)
        and draft.path in (None, memory.file_scope_pattern)
        and is_same_family(Category(draft.category), memory.category)
        and not contradicts(compared_text(draft), compared_text(memory))
    )


def _may_replace(draft: Reviewed, memory: Memory) -> bool:
    """False for an untrusted draft against a promoted text, and for any instruction."""
    if draft.by_person:
        return True
    confirmed = memory.status is Status.PROMOTED and not draft.promoted and not draft.trusted
    return not confirmed and not instruction_in(compared_text(draft))


def _revision(draft: Reviewed, memory: Memory, what: str) -> Revise:
    if jaccard(words(draft.content), words(memory.content)) < UNLIKE:
        note = (
            f"{what} said something else before: “{preview(memory.content, 80)}”;"
            f" `ademem get --history {memory.id}` keeps it"
        )
        draft = with_note(draft, note)
    return Revise(draft=draft, memory=memory, why=f"{what} is {memory.id}")

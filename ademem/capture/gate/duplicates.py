"""Rules about what is remembered already: the same topic, key, text, or nearly the same words."""

from __future__ import annotations

import re

from ademem.capture.gate import distinctions
from ademem.capture.gate.distinctions import said
from ademem.capture.gate.form import made_from_text, noted
from ademem.capture.gate.verdict import Merge, Reject, Revise
from ademem.core.memory import Category, Status
from ademem.core.text import fold, jaccard, preview, words
from ademem.core.value import replace
from ademem.guard.injection import instruction_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.capture.gate.verdict import Gate, Reviewed
    from ademem.core.memory import Memory

PART_CHARS = 20
"""Shortest part of a text that counts as repeating it."""

UNLIKE = 0.1
"""Jaccard similarity below which a revision has hardly a word of the text before it."""


def echo(draft: Reviewed, gate: Gate) -> Reviewed | Reject:
    """What a session was shown is no news from it; who names a source or a key means more."""
    origin = draft.origin
    if draft.by_person or origin.source_id or not origin.session_id or _is_named(draft):
        return draft
    text = said(draft)
    for memory in gate.shelf.shown(draft):
        if _repeats(text, said(memory), gate.settings.near_duplicate):
            why = f"{memory.id} says so, as this session was shown; nothing has to be saved again"
            return Reject(draft=draft, why=why)
    return draft


def rejected_before(draft: Reviewed, gate: Gate) -> Reviewed | Reject:
    """What was refused comes back on a person's word only."""
    near = gate.settings.near_duplicate
    refused = (known for known in gate.shelf.rejected(draft) if _says_again(draft, known, near))
    memory = next(refused, None)
    if memory is None or gate.shelf.exact(draft):
        return draft
    what = f"{memory.id} said so and was rejected before, on {memory.rejected_at:%Y-%m-%d}"
    if draft.by_person:
        return noted(draft, f"{what}; your word brings it in")
    return Reject(draft=draft, why=f"{what}; a person brings it back: `ademem restore {memory.id}`")


def same_topic(draft: Reviewed, gate: Gate) -> Reviewed | Revise:
    """A topic says what was written about it last."""
    memory = gate.shelf.by_topic(draft) if draft.topic_key else None
    if memory is None or memory.dedupe_key == draft.dedupe_key:
        return draft
    if not _may_replace(draft, memory):
        note = f"the topic {draft.topic_key} stays with {memory.id}: nobody vouches for this text"
        return noted(replace(draft, topic_key=None), note)
    return _revision(draft, memory, f"the topic {draft.topic_key}")


def same_key(draft: Reviewed, gate: Gate) -> Reviewed | Revise:
    """A key given by hand says what was written last; one made from the text gets a suffix."""
    memory = gate.shelf.by_key(draft) if draft.knowledge_key else None
    if memory is None or gate.shelf.exact(draft):
        return draft
    if not made_from_text(draft) and not draft.topic_key and _may_replace(draft, memory):
        return _revision(draft, memory, f"the key {draft.knowledge_key}")
    return _with_free_key(draft, gate)


def exact_duplicate(draft: Reviewed, gate: Gate) -> Reviewed | Merge:
    memory = gate.shelf.exact(draft)
    if memory is None:
        return draft
    return Merge(draft=draft, into=memory, why=f"{memory.id} says the same")


def near_duplicate(draft: Reviewed, gate: Gate) -> Reviewed | Merge:
    """The most similar memory takes it up; an unchecked instruction never rides on another text."""
    text = said(draft)
    mine = words(text)
    best = gate.settings.near_duplicate
    into: Memory | None = None
    for memory in gate.shelf.near(draft, best):
        shared = jaccard(mine, words(said(memory)))
        if shared >= best and _are_one(draft, memory):
            best, into = shared, memory
    if into is None or (not draft.by_person and instruction_in(text)):
        return draft
    why = f"{into.id} says it in nearly the same words ({best:.0%})"
    return Merge(draft=draft, into=into, why=why)


def _says_again(draft: Reviewed, refused: Memory, near: float) -> bool:
    """The same text, nearly the same words, or other words under the name it was given by hand."""
    mine, theirs = said(draft), said(refused)
    if fold(draft.content) == fold(refused.content):
        return True
    key = _key_by_hand(draft)
    named = key is not None and key == refused.knowledge_key
    is_near = named or jaccard(words(mine), words(theirs)) >= near
    return is_near and not distinctions.contradicts(mine, theirs)


def _is_named(draft: Reviewed) -> bool:
    return bool(draft.topic_key or _key_by_hand(draft))


def _key_by_hand(draft: Reviewed) -> str | None:
    return None if made_from_text(draft) else draft.knowledge_key


def _repeats(text: str, shown: str, near: float) -> bool:
    """Whether it is the shown text, a part of it, or nearly the same words."""
    mine, theirs = _plain(text), _plain(shown)
    if mine == theirs or (len(mine) >= PART_CHARS and mine in theirs):
        return True
    is_near = jaccard(words(text), words(shown)) >= near
    return is_near and not distinctions.contradicts(text, shown)


def _plain(text: str) -> str:
    """Folded words with one blank between them."""
    return " ".join(re.findall(r"\w+", fold(text)))


def _are_one(draft: Reviewed, memory: Memory) -> bool:
    """Neither named apart, nor filed as something else, nor at odds."""
    return (
        draft.topic_key in (None, memory.topic_key)
        and draft.knowledge_key in (None, memory.knowledge_key)
        and draft.path in (None, memory.file_scope_pattern)
        and distinctions.kin(Category(draft.category), memory.category)
        and not distinctions.contradicts(said(draft), said(memory))
    )


def _may_replace(draft: Reviewed, memory: Memory) -> bool:
    """What nobody checked takes no place of a confirmed text, and an instruction none at all."""
    if draft.by_person:
        return True
    confirmed = memory.status is Status.PROMOTED and not draft.promoted and not draft.trusted
    return not confirmed and not instruction_in(said(draft))


def _revision(draft: Reviewed, memory: Memory, what: str) -> Revise:
    if jaccard(words(draft.content), words(memory.content)) < UNLIKE:
        note = (
            f"{what} said something else before: “{preview(memory.content, 80)}”;"
            f" `ademem history {memory.id}` keeps it"
        )
        draft = noted(draft, note)
    return Revise(draft=draft, memory=memory, why=f"{what} is {memory.id}")


def _with_free_key(draft: Reviewed, gate: Gate) -> Reviewed:
    key, number = draft.knowledge_key, 2
    while gate.shelf.by_key(draft):
        draft = replace(draft, knowledge_key=f"{key}-{number}")
        number += 1
    return noted(draft, f"the key {key} is taken by another text; this is {draft.knowledge_key}")

"""Rules about remembered text: the same topic, key, text or words."""

from __future__ import annotations

from ademem.capture.gate.form import (
    Gate,
    Merge,
    Reject,
    Reviewed,
    Revise,
    is_key_from_text,
    with_note,
)
from ademem.core.memory import Category, Memory, Status
from ademem.core.text import fold, have_same_words, jaccard, list_words, preview, words
from ademem.core.value import replace
from ademem.guard.injection import instruction_in

CATEGORY_FAMILIES = (
    {Category.FACT, Category.PATTERN, Category.GOTCHA},
    {Category.DECISION, Category.CONVENTION, Category.PREFERENCE},
)
"""Categories that may hold the same statement; two of the others are two events, however alike."""


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
    text = draft.whole_text
    for memory in gate.lookup.shown(draft):
        if repeats(text, memory.whole_text):
            why = f"{memory.id} says so, as this session was shown; nothing has to be saved again"
            return Reject(draft=draft, why=why)
    return draft


def rejected_before(draft: Reviewed, gate: Gate) -> Reviewed | Reject:
    text = draft.whole_text

    def is_same(refused: Memory) -> bool:
        if fold(draft.content) == fold(refused.content):
            return True
        return have_same_words(text, refused.whole_text)

    memory = next(filter(is_same, gate.lookup.rejected(draft)), None)
    if memory is None or gate.lookup.same(draft):
        return draft
    what = f"{memory.id} stated this and was rejected before, on {memory.rejected_at:%Y-%m-%d}"
    if draft.by_person:
        return with_note(draft, f"{what}; it is accepted because you typed it")
    return Reject(draft=draft, why=f"{what}; a person brings it back: `ademem restore {memory.id}`")


def same_topic(draft: Reviewed, gate: Gate) -> Reviewed | Revise:
    memory = gate.lookup.same(draft, "topic_key") if draft.topic_key else None
    if memory is None or memory.dedupe_key == draft.dedupe_key:
        return draft
    if not _may_replace(draft, memory, gate):
        is_of_person = gate.lookup.is_of_person(memory)
        why = "a person said or confirmed that" if is_of_person else "this text is not trusted"
        note = f"the topic {draft.topic_key} stays with {memory.id}: {why}"
        return with_note(replace(draft, topic_key=None), note)
    return _revision(draft, memory, f"the topic {draft.topic_key}")


def same_key(draft: Reviewed, gate: Gate) -> Reviewed | Revise:
    """Replace the text of the same explicit key; give a key made from the text a suffix."""
    memory = gate.lookup.same(draft, "knowledge_key") if draft.knowledge_key else None
    if memory is None or gate.lookup.same(draft):
        return draft
    if not is_key_from_text(draft) and not draft.topic_key and _may_replace(draft, memory, gate):
        return _revision(draft, memory, f"the key {draft.knowledge_key}")
    key, number = draft.knowledge_key, 2
    while gate.lookup.same(draft, "knowledge_key"):
        draft = replace(draft, knowledge_key=f"{key}-{number}")
        number += 1
    note = f"the key {key} is taken by another text; this is {draft.knowledge_key}"
    return with_note(draft, note)


def exact_duplicate(draft: Reviewed, gate: Gate) -> Reviewed | Merge:
    memory = gate.lookup.same(draft)
    if memory is None:
        return draft
    return Merge(draft=draft, into=memory, why=f"{memory.id} says the same")


def same_words(draft: Reviewed, gate: Gate) -> Reviewed | Merge:
    """Merge into a memory of the same words, unless the draft is an unapproved instruction.

    Other words are for the writer to judge: a "not" is one word. Only one of its topic
    counts, which `same_topic` has found where there is one.
    """
    if draft.topic_key:
        return draft
    into = next((one for one in gate.lookup.near(draft) if _is_same_memory(draft, one)), None)
    if into is None or (not draft.by_person and instruction_in(draft.whole_text)):
        return draft
    return Merge(draft=draft, into=into, why=f"{into.id} says it in the same words")


def _explicit_key(draft: Reviewed) -> str | None:
    return None if is_key_from_text(draft) else draft.knowledge_key


def repeats(text: str, shown: str) -> bool:
    mine, theirs = " ".join(list_words(text)), " ".join(list_words(shown))
    return mine == theirs or (len(mine) >= PART_CHARS and mine in theirs)


def _is_same_memory(draft: Reviewed, memory: Memory) -> bool:
    return (
        draft.topic_key in (None, memory.topic_key)
        and draft.knowledge_key in (None, memory.knowledge_key)
        and draft.path in (None, memory.file_scope_pattern)
        and any({draft.category, memory.category} <= family for family in CATEGORY_FAMILIES)
        and have_same_words(draft.whole_text, memory.whole_text)
    )


def _may_replace(draft: Reviewed, memory: Memory, gate: Gate) -> bool:
    if draft.by_person:
        return True
    if gate.lookup.is_of_person(memory):
        return False
    confirmed = memory.status is Status.PROMOTED and not draft.promoted
    return not confirmed and not instruction_in(draft.whole_text)


def _revision(draft: Reviewed, memory: Memory, what: str) -> Revise:
    if jaccard(words(draft.content), words(memory.content)) < UNLIKE:
        note = (
            f"{what} stated something else before: “{preview(memory.content, 80)}”;"
            f" `ademem get --history {memory.id}` keeps it"
        )
        draft = with_note(draft, note)
    return Revise(draft=draft, memory=memory, why=f"{what} is {memory.id}")

"""Explain why a text is held, and release one that a person calls harmless."""

from __future__ import annotations

from pathlib import Path

from ademem.core import trust, who
from ademem.core.hashed_words import HashedWords
from ademem.core.memory import Memory
from ademem.core.text import with_title
from ademem.core.value import Value
from ademem.guard.injection.evidence import Evidence, evidence_of
from ademem.operations.curation import _decide, undo
from ademem.store import judged_texts, memories, transitions
from ademem.store.runtime import Runtime

CORPUS = Path(__file__).parents[2] / "bench" / "judge" / "corpus" / "orders"
"""Texts that the judge was trained on, which only a checkout of the repository has."""
NEAREST = 3


class Neighbour(Value):
    label: int
    """1 for an order, 0 for a harmless text."""
    author: str
    text: str
    shared: float
    """Share of the features of both texts that both have."""


class Explanation(Value):
    evidence: Evidence
    nearest: tuple[Neighbour, ...]


def explain_text(text: str) -> Explanation:
    """Tell which rule and which of its pieces hold a text, and the nearest training texts."""
    return Explanation(evidence=evidence_of(text), nearest=tuple(find_nearest(text)))


def find_nearest(text: str, corpus: Path = CORPUS) -> list[Neighbour]:
    mine = _features(text)
    found = []
    for path in sorted(corpus.glob("*.tsv")) if mine else ():
        for line in path.read_text(encoding="utf-8").splitlines():
            label, _, _, theirs = line.split("\t")
            features = _features(theirs)
            shared = len(mine & features) / len(mine | features)
            found.append(Neighbour(label=int(label), author=path.stem, text=theirs, shared=shared))
    return sorted(found, key=lambda each: -each.shared)[:NEAREST]


def _features(text: str) -> set[int]:
    words = HashedWords(text)
    return words.features(0, len(words.words)) if words.words else set()


def release(runtime: Runtime, id: str, *, revision: int | None = None) -> Memory:
    """Take a memory out of quarantine as harmless; its text is held in this project no more.

    The text is added to `judged.jsonl` in the person's data folder, which nothing is sent from.
    """
    who.require_person(runtime.by, f"releasing {id}")
    released = _decide(transitions.release, runtime, id, revision=revision)
    text = with_title(released.title, released.content)
    trust.note_harmless(text, runtime.clock(), runtime.environment)
    return released


def hold_again(runtime: Runtime, id: str, event: str) -> None:
    """Take the release of that event back."""
    undo(runtime, event)
    store = runtime.holding(id).store
    memory = memories.get(store, id)
    judged_texts.forget_harmless(store, memory.title, memory.content)
    trust.forget_harmless(with_title(memory.title, memory.content), runtime.environment)

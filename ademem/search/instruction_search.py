"""Items of adopted instruction files that answer a question or a prompt, by their words."""

from __future__ import annotations

from ademem.core.value import Value
from ademem.search import evidence
from ademem.store import adopted, memories
from ademem.store.adopted import as_memory, in_context, is_loaded
from ademem.store.full_text import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable

    from ademem.core.memory import Memory
    from ademem.store.runtime import Runtime

LOOKED_AT = 30
MOST_TERMS = 16
MOST_FOUND = 3
"""Items that stand behind the hits of a search."""


class Instruction(Value):
    """An item that answers a question."""

    id: str
    path: str
    line: int
    head: str
    kind: str
    text: str
    evidence: float
    helps: float
    """How much it helps with a prompt."""
    loaded: bool
    """Claude Code puts its file before the model."""
    merged: bool
    """The default branch has it."""

    @property
    def where(self) -> str:
        return f"{self.path}:{self.line}"


def nearest(runtime: Runtime, text: str, most: int) -> list[sqlite3.Row]:
    """Return the items that share words with a text, the most telling first."""
    terms = _terms(text)
    if not terms:
        return []
    return adopted.find(runtime.store, runtime.project.root, " OR ".join(terms), most)


def search(runtime: Runtime, query: str, most: int = MOST_FOUND) -> list[Instruction]:
    """Return the items that answer *query*, best first."""
    return _find_best(runtime, query, most, evidence.ANSWER, lambda each: each.evidence)


def _find_best(
    runtime: Runtime, text: str, most: int, floor: float, weight: Callable[[Instruction], float]
) -> list[Instruction]:
    """Return the items that weigh at least as much as the *floor*, the best first."""
    if not memories.any_adopted(runtime.store):
        return []
    found = [each for each in _weigh(runtime, text) if weight(each) >= floor]
    found.sort(key=weight, reverse=True)
    return [each for each in found[:most] if not poses_as_order(each.text)]


def poses_as_order(text: str) -> bool:
    """Tell whether a text of a file reads like an order to leave the person's orders aside."""
    from ademem.guard.injection import instruction_in

    return instruction_in(text) is not None


def suggest(runtime: Runtime, prompt: str, most: int) -> list[tuple[Memory, float]]:
    """Return items to show with a prompt, as memories, with how much each helps.

    What Claude Code loads by itself is left out, and what the default branch has not.
    """
    if most <= 0:
        return []
    floor = evidence.prompt_floor("lexical")
    found = _find_best(runtime, prompt, LOOKED_AT, floor, lambda each: each.helps)
    ids = [each.id for each in found if each.merged and not each.loaded][:most]
    rows = adopted.by_ids(runtime.store, runtime.project.root, ids)
    by_id = {each.id: each.helps for each in found}
    return [(as_memory(row, runtime), by_id[row["id"]]) for row in rows]


def _terms(text: str) -> list[str]:
    from ademem.search.query import parse

    terms = parse(text, is_typed=False).terms
    return [term for term, index in terms.items() if index is Index.WORDS][:MOST_TERMS]


def _weigh(runtime: Runtime, query: str) -> Iterable[Instruction]:
    from ademem.search.lexical import full_answer, word_information

    store, root = runtime.store, runtime.project.root
    terms = _terms(query)
    counts = adopted.count_words(store, terms) if terms else {}
    known = [term for term in terms if counts[term]]
    if not known:
        return
    total = adopted.count_items(store)
    information = {term: word_information(total, max(1, counts[term])) for term in terms}
    rarest = word_information(total, 1)
    full = full_answer(asked=sum(information.values()), rarest=rarest)
    asked = sum(information.values()) / full
    rows = adopted.find(store, root, " OR ".join(known), LOOKED_AT)
    held = adopted.find_holders(store, known, [row["seq"] for row in rows])
    for row in rows:
        mine = [term for term in known if row["seq"] in held[term]]
        share = min(1.0, sum(information[term] for term in mine) / full)
        heads = row["heads"].splitlines()
        yield Instruction(
            id=row["id"],
            path=row["path"],
            line=row["first"],
            head=heads[-1] if heads else "",
            kind=row["kind"],
            text=in_context(row),
            evidence=evidence.weigh({"share": share}, asked, 0.0),
            helps=evidence.weigh_prompt({"share": share}, asked),
            loaded=is_loaded(row, runtime),
            merged=bool(row["merged"]),
        )

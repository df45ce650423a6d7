"""Find the memories that say something else about a subject than others, and relate them."""

from __future__ import annotations

from itertools import chain

from ademem.capture.gate.rows import RANK
from ademem.capture.gate.writing import Candidate
from ademem.core.memory import Memory, Trust, are_about_one_place
from ademem.core.text import jaccard, preview, unique
from ademem.core.value import Value, replace
from ademem.search import contradiction
from ademem.search.lexical import choose_terms
from ademem.store import Store, full_text, memories, memory_queries, relations, transitions
from ademem.store.memory_queries import Home
from ademem.store.relations import CONFLICT, SUPERSEDES
from ademem.store.transitions import Act

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from ademem.search.contradiction import Facts
    from ademem.search.dense import Cosines

    Meaning = Callable[[Memory], Cosines | None]
    """Reads the cosines of a memory; None where it has no vector."""

LIKELY = 0.35
"""Score from which two memories are related."""
STRONG = 0.6
"""Score from which the later one is taken for the heir of the earlier."""
CERTAIN = 0.7
"""Score from which a text that a person types replaces the earlier one at once."""
SUBJECT = 0.3
"""Share of the common words from which two memories are about one subject."""
NEIGHBOURS = 30
"""Memories that are compared with one, of those that share its words and of the nearest vectors."""
WIDESPREAD = 1000
"""Memories from which a word says nothing about the subject, and costs more than it finds."""
MATCHES = 2000
"""Memories that are ranked for one by the rarest of its words; a match takes 2 µs."""
MOST = 8
"""Most memories that one is related to, the likeliest."""
BATCH = 50
AT_ONCE = 1000
"""Changed memories up to which an import compares them; that takes 2 ms each."""
NOTE_CHARS = 80
COMPANY = 0.35
"""Share of the common words that memories with another word of the matter have."""
SIBLINGS = 4
"""Memories of other things that say the same, from which two of them are told apart."""
LOOKED_AT_AGAIN = 300
"""Proposals that are compared again, the latest, where memories were written."""
MATTERS = 3
"""Memories about a word from which it may be a thing with several matters."""
COMPANIONS = 20
ADEMEM = "ademem"


class Pair(Value):
    """Two memories that cannot both hold today."""

    earlier: Memory
    later: Memory
    relation: str
    """supersedes, or conflicts_with where a person has to decide."""
    score: float
    why: str
    is_done: bool = False


def relate(
    found: Iterable[Memory], store: Store, now: datetime, *, meaning: Meaning | None = None
) -> list[Pair]:
    counts: dict[str, int] = {}
    pairs = []
    for each in found:
        alike = find_alike(each, store, counts) if each.is_statement else []
        pairs += _record(find_pairs(each, alike, store, meaning), store, now)
    return pairs


def _record(pairs: Iterable[Pair], store: Store, now: datetime) -> list[Pair]:
    return [new for pair in pairs if (new := record(pair, store, now))]


def withdraw_unlikely(store: Store, now: datetime, meaning: Meaning | None) -> None:
    """Withdraw the latest proposals that vectors, or memories that came later, speak against."""
    ids = relations.list_proposals(store, ADEMEM, LOOKED_AT_AGAIN)
    found = {one.id: one for one in memory_queries.by_ids(store, unique(chain(*ids)))}
    for one, other in ((found[one], found[other]) for one, other in ids):
        cosines = meaning(one) if meaning else None
        cosine = cosines.compare_plain([other.seq]).get(other.seq) if cosines else None
        home = Home(store, one.scope, one.scope_owner_id)
        score = contradiction.likelihood(one.whole_text, other.whole_text, cosine)
        if score < LIKELY or _name_two_things(one, other, home):
            relations.withdraw(store, one, other, ADEMEM, now)


def record(pair: Pair, store: Store, now: datetime) -> Pair | None:
    """Store a pair; None where it is known, settled by another one, or said to be true of both."""
    with store.transaction():
        both = memory_queries.by_ids(store, (pair.earlier.id, pair.later.id))
        # another pair may have been recorded since this one was found
        if not all(one.live for one in both) or not relations.add(
            store,
            pair.earlier,
            pair.later,
            pair.relation,
            score=pair.score,
            reason=pair.why,
            actor=ADEMEM,
            now=now,
        ):
            return None
        by_person = pair.later.trust is Trust.USER and pair.later.claimed_author is None
        if not (
            by_person
            and pair.relation == SUPERSEDES
            and pair.score >= CERTAIN
            and contradiction.is_explicit(pair.earlier.whole_text, pair.later.whole_text)
            and not pair.earlier.is_pinned
        ):
            return pair
        act = Act(store=store, now=now, actor=ADEMEM, event_id=memories.new_event())
        transitions.supersede(pair.earlier.id, act, pair.later.id)
    return replace(pair, is_done=True)


def find_pairs(
    memory: Memory, alike: Iterable[Memory], store: Store, meaning: Meaning | None = None
) -> list[Pair]:
    if not memory.is_statement:
        return []
    text = memory.whole_text
    cosines = meaning(memory) if meaning else None
    found = {each.seq: each for each in alike}
    nearest = cosines.nearest(NEIGHBOURS) if cosines else []
    for each in memories.list_by_number(store, [seq for seq in nearest if seq not in found]):
        found[each.seq] = each
    neighbours = [other for other in found.values() if are_about_one_place(memory, other)]
    near = cosines.compare_plain([other.seq for other in neighbours]) if cosines else {}
    scored = []
    for other in neighbours:
        score = contradiction.likelihood(text, other.whole_text, near.get(other.seq))
        if score >= LIKELY:
            scored.append((score, other.seq, other))
    home = Home(store, memory.scope, memory.scope_owner_id)
    best = [
        one for one in sorted(scored, reverse=True) if not _name_two_things(memory, one[2], home)
    ][:MOST]
    times = relations.read_learning_times(store, [memory.id, *(other.id for *_, other in best)])
    pairs = []
    for score, _, other in best:
        is_earlier = (times[memory.id], memory.seq) < (times[other.id], other.seq)
        earlier, later = (memory, other) if is_earlier else (other, memory)
        may_replace = score >= STRONG and _is_trusted_as_much(later, earlier, store)
        pair = Pair(
            earlier=earlier,
            later=later,
            relation=SUPERSEDES if may_replace else CONFLICT,
            score=round(score, 3),
            why=contradiction.explain(earlier.whole_text, later.whole_text),
        )
        values = contradiction.find_values(earlier.whole_text, later.whole_text)
        pairs.append((pair, (later.id, *values) if values else None))
    # a text replaces all that have the value of one that it replaces, however they say it
    done = {change for pair, change in pairs if change and pair.relation == SUPERSEDES}
    return [
        replace(pair, relation=SUPERSEDES)
        if change in done and _is_trusted_as_much(pair.later, pair.earlier, store)
        else pair
        for pair, change in pairs
    ]


def _is_trusted_as_much(later: Memory, earlier: Memory, store: Store) -> bool:
    """Trust what a person confirmed as their own words."""
    if RANK[later.trust] < RANK[earlier.trust]:
        return False
    is_confirmed = memories.find_confirmed(store, [earlier.id])
    return not is_confirmed or memories.is_of_person(store, later)


def note(pair: Pair, written: Memory) -> str:
    other = pair.earlier if pair.later.id == written.id else pair.later
    text = f"“{preview(other.whole_text, NOTE_CHARS)}” ({pair.why})"
    if pair.is_done:
        return f"replaces {other.id} {text}; `ademem restore {other.id}` brings it back"
    return f"says something else than {other.id} {text}; `ademem review` resolves it"


def find_alike(memory: Memory, store: Store, counts: dict[str, int] | None = None) -> list[Memory]:
    """Return live memories of the same subject, or with a name of the same kind; fill *counts*."""
    facts = contradiction.read(memory.whole_text)
    terms = _to_terms(facts.subject)
    terms += [
        f'"{name}"'
        for name, mine in contradiction.SLOTS.items()
        if not mine.isdisjoint(facts.values)
    ]
    counts = {} if counts is None else counts
    new = dict.fromkeys((term for term in terms if term not in counts), full_text.Index.WORDS)
    counts |= full_text.count_rows(store, new, WIDESPREAD)
    rare = {term: counts[term] for term in terms if counts[term] < WIDESPREAD}
    telling = choose_terms(rare, MATCHES, 0)
    home = Home(store, memory.scope, memory.scope_owner_id)
    return home.sharing_words(" OR ".join(telling), NEIGHBOURS)


def _to_terms(stems: Iterable[str]) -> list[str]:
    parts = unique(part for stem in stems for part in stem.split("-"))
    return [f'"{part}" *' for part in parts if part.isalnum()]


def _name_two_things(memory: Memory, other: Memory, home: Home) -> bool:
    """True if each has a word of another thing of the same kind.

    "Billing is reviewed by the core team" and "The data team reviews search" both hold.
    """
    texts = memory.whole_text, other.whole_text
    left, right = map(contradiction.read, texts)
    shared, *apart = contradiction.compare_subjects(left, right)
    found = contradiction.features(*texts)
    if found["ended"] or not all(apart):
        return False

    def read_others(words: Iterable[str]) -> list[Facts]:
        near = home.sharing_words(" AND ".join(_to_terms(words)), COMPANIONS)
        others = (one.whole_text for one in near if one.id not in (memory.id, other.id))
        return list(map(contradiction.read, others))

    def is_thing(word: str) -> bool:
        """True if other memories about the word are mostly about other matters than these kinds.

        Of "rows of billing are in MySQL" that is true of billing, and not of rows.
        """
        values = [facts.values for facts in read_others([word]) if word in facts.subject]
        alike = min(sum(kind in each for each in values) for kind in kinds)
        return len(values) >= MATTERS and alike < len(values) / 2

    def belongs(word: str) -> bool:
        """True if two other memories about the word or more have enough of what a pair shares."""
        about = (facts.stems for facts in read_others([word]) if word in facts.subject)
        shares = [len(shared & stems) / len(shared) for stems in about]
        return len(shares) > 1 and sum(shares) / len(shares) >= COMPANY

    if len(shared) > 1 or not found["differ"]:
        words = shared.union(*apart)
        things = {frozenset(facts.subject) - words for facts in read_others(shared)}
        if len(things - {frozenset()}) >= SIBLINGS:  # others say the same of other things
            return True
    kinds = contradiction.find_differing(left, right)
    if kinds and all(any(map(is_thing, words)) for words in apart):
        return True
    return bool(found["named"] and shared) and all(
        any(not belongs(word) for word in words) for words in apart
    )


def relate_imported(store: Store, now: datetime) -> None:
    """Relate what an import brought; the worker does if that is much, or vectors compare better."""
    ids = relations.list_changed(store)
    if 0 < len(ids) <= AT_ONCE and not memories.any_vector(store):
        catch_up(store, now)


def relate_written(
    memory: Memory, alike: Iterable[Memory], store: Store, now: datetime
) -> list[Pair]:
    """Relate a memory that was just written; what else changed is left to the worker."""
    last, is_alone = relations.last_change(store), relations.changed_alone(store, memory.id)
    pairs = _record(find_pairs(memory, alike, store), store, now)
    if is_alone:
        relations.save_cursor(store, last, now)
    return pairs


def read_batches(store: Store, ids: Sequence[str]) -> Iterator[list[Memory]]:
    for at in range(0, len(ids), BATCH):
        yield list(memory_queries.by_ids(store, ids[at : at + BATCH]))


def propose(
    memory: Memory, alike: Iterable[Memory], store: Store, now: datetime, most: int
) -> list[Candidate]:
    """Return memories on the subject of one that was written, each with a relation that waits."""
    mine = contradiction.read(memory.whole_text).stems
    found = []
    for other in alike:
        if other.id != memory.id and not other.hidden:
            score = jaccard(mine, contradiction.read(other.whole_text).stems)
            if score >= SUBJECT:
                found.append((round(score, 3), other))
    candidates: list[Candidate] = []
    if not found:
        return candidates
    with store.transaction():
        for score, other in sorted(found, key=lambda one: one[0], reverse=True):
            if len(candidates) == most:
                break
            relations.add(
                store,
                other,
                memory,
                relations.RELATED,
                score=score,
                reason="both are about one subject",
                actor=ADEMEM,
                now=now,
            )
            pair = relations.find(store, other, memory)
            if pair and pair[1] == "pending":
                id = relations.id_of(other, memory)
                candidates.append(Candidate(memory=other, judgment_id=id, score=score))
    return candidates


def catch_up(
    store: Store, now: datetime, model: str = "", pause: Callable[[], None] | None = None
) -> list[Pair]:
    """Relate what changed, or got a vector of the *model*, since the last call."""
    last = relations.last_change(store)
    pairs = []
    ids, meaning = _read_changes(store, model)
    for batch in read_batches(store, ids):
        pairs += relate(batch, store, now, meaning=meaning)
        if pause:
            pause()
    if ids:
        withdraw_unlikely(store, now, meaning)
    relations.save_cursor(store, last, now)
    return pairs


def find_new_pairs(store: Store, model: str = "") -> list[Pair]:
    """Return the pairs that `catch_up` would add."""
    ids, meaning = _read_changes(store, model)
    return [
        pair
        for batch in read_batches(store, ids)
        for memory in batch
        for pair in find_pairs(memory, find_alike(memory, store), store, meaning)
        if not relations.find(store, pair.earlier, pair.later)
    ]


def _read_changes(store: Store, model: str) -> tuple[list[str], Meaning | None]:
    from ademem.store import embeddings

    ids = relations.list_changed(store, model)
    dimensions = embeddings.dimensions(store, model) if ids and model else 0
    if not dimensions:
        return ids, None
    from ademem.search import dense

    vectors = dense.read_vectors(store, model, dimensions)
    return ids, lambda memory: dense.Cosines.of_row(memory.seq, vectors)

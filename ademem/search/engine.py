"""Search: rank what answers a question. Looking changes nothing; recalling counts as use."""

from __future__ import annotations

from ademem.core.errors import suppress
from ademem.core.settings import SearchSettings
from ademem.core.value import Value, replace
from ademem.search import evidence, ranking
from ademem.search.query import parse
from ademem.search.ranking import DEFAULTS, UNASKED, Hit, Parameters, Search, order_pairs
from ademem.store.filters import ORDERS, UNARCHIVED, Filters, list_filtered, of_session
from ademem.store.logs import Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from ademem.core.client import TurnKey
    from ademem.core.memory import Memory
    from ademem.search.embedding import Embedder
    from ademem.search.instruction_search import Instruction
    from ademem.store import Store
    from ademem.store.runtime import Runtime

__all__ = ["ORDERS", "UNARCHIVED", "Filters", "Hit", "list_filtered"]

LOGGED_CHARS = 500


class Results(Value):
    query: str
    mode: str
    """`hybrid` when vectors were compared, `lexical` when words alone decided; see `join_modes`."""
    hits: tuple[Hit, ...]
    instructions: tuple[Instruction, ...] = ()
    """Items of adopted instruction files that answer it, too."""

    @property
    def relaxed(self) -> bool:
        return not all(hit.signals["whole"] for hit in self.hits)

    @property
    def confidence(self) -> str:
        """answer: a hit answers the question; weak: none does; none: there is no hit."""
        if not self.hits:
            return "none"
        return "weak" if all(hit.weak for hit in self.hits) else "answer"

    @property
    def answers(self) -> tuple[Hit, ...]:
        return tuple(hit for hit in self.hits if not hit.weak)

    @property
    def note(self) -> str:
        if self.confidence == "weak":
            return "no memory answers that; these come nearest"
        if self.hits and not any(hit.signals["whole"] for hit in self.hits):
            return "no memory has all the words; these have some"
        return ""


def join_modes(found: Sequence[Results]) -> str:
    """Return the mode of the stores that answered: “hybrid and lexical” where they differ."""
    modes = {each.mode for each in found if each.hits} or {found[0].mode}
    return " and ".join(sorted(modes))


def search(
    query: str,
    store: Store,
    filters: Filters,
    now: datetime,
    limit: int = SearchSettings().limit,
    embedder: Embedder | None = None,
    parameters: Parameters = DEFAULTS,
    floor: float | None = None,
) -> Results:
    """Rank what answers *query*, any text at all; with no embedder, words alone decide.

    Hits that answer nothing follow, marked as weak, unless a *floor* of `evidence` is given.
    """
    return answer(query, ask(query, store, filters, now, limit, embedder, parameters, floor))


def ask(
    query: str,
    store: Store,
    filters: Filters,
    now: datetime,
    limit: int,
    embedder: Embedder | None,
    parameters: Parameters = DEFAULTS,
    floor: float | None = None,
) -> Search:
    """Look up the words in the full-text indexes, and the question among the vectors, if any.

    The model embeds the question, with what the memories have for misspelt words, while SQLite
    looks up its words; a model that fails leaves the words, and so does a query without a word,
    which has no meaning either.
    """
    from ademem.search import lexical

    parsed, cosines, dimensions = parse(query, is_typed=parameters.widen), None, 0
    if embedder and parsed.terms:
        from ademem.store import embeddings

        dimensions = embeddings.dimensions(store, embedder.model_id)
    if embedder and dimensions:
        from ademem.search.embedding import DamagedModel, run_in_background

        terms = lexical.find_terms(parsed, store, parameters) if parameters.widen else None
        meant = terms.meant if terms else {}
        question = run_in_background(lambda: _embed(parsed.text, meant, embedder))
        from ademem.search import dense

        matches = lexical.find_matches(parsed, store, parameters, terms, alone=False)
        vectors = dense.load_vectors(store, embedder.model_id, dimensions)
        with suppress(DamagedModel):
            text, vector = question()
            plain = dense.Cosines(vector, vectors)
            cosines = dense.blend(plain, text, store, embedder)
    if cosines is None:
        matches = lexical.find_matches(parsed, store, parameters, alone=True)
    return ranking.Search(
        query=parsed,
        matches=matches,
        cosines=cosines,
        store=store,
        parameters=parameters,
        filters=filters,
        limit=limit,
        now=now,
        floor=floor,
    )


def _embed(text: str, meant: Mapping[str, str], embedder: Embedder) -> tuple[str, Any]:
    """Embed the text with what was *meant* for words that the model does not know; return both."""
    if meant := {word: other for word, other in meant.items() if not embedder.has_word(word)}:
        from ademem.search import word_forms

        text = word_forms.correct(text, meant)
    return text, embedder.embed([text])[0]


def answer(query: str, asked: Search) -> Results:
    hits = ranking.choose_best(ranking.rank_live(asked), asked.parameters.pool, asked.first)
    near, matches = ranking.compare_hits(hits, asked), asked.matches
    ranked = ranking.diversify(hits, asked, near)
    ranked = ranking.stand_together(ranked, asked, near)[: asked.limit]
    for at, hit in enumerate(ranked):
        if hit.weak:
            held = matches.terms.get(hit.memory.seq, ())
            missing = (word for place, word in enumerate(matches.words) if place not in held)
            ranked[at] = replace(hit, missing=tuple(missing))
    return Results(query=query, mode=asked.mode, hits=tuple(order_pairs(ranked, asked)))


class Explained(Value):
    results: Results
    left_out: tuple[tuple[Hit, str], ...]
    """Candidates for the answer that are not in it, best first, with the reason."""
    prompted: frozenset[str]
    """Ids that a prompt with these words would be shown."""
    unsupported: frozenset[str]
    """Ids of hits that no prompt is shown, as an agent wrote them and nothing supports them."""
    by_words: tuple[Memory, ...]
    by_meaning: tuple[Memory, ...]
    matched: frozenset[str]
    """Words of the hits that the question's words match, in small letters."""


BEYOND = "others score higher"
UNNEEDED = "unconfirmed, while a confirmed memory answers"
"""Reasons for which a candidate of a search is not among its hits."""


def suggest(
    query: str,
    store: Store,
    filters: Filters,
    now: datetime,
    *,
    most: int = evidence.MOST,
    embedder: Embedder | None = None,
) -> list[Hit]:
    """The memories to show with a prompt: often one, and none that a later replaces.

    The floor is that of `evidence`; what an agent wrote is among them while something supports it.
    """
    limit = max(most, evidence.LOOKED_AT)
    asked = ask(query, store, filters, now, limit, embedder, UNASKED)
    floor = evidence.prompt_floor(asked.mode)
    hits = drop_unsupported(current(answer(query, replace(asked, floor=floor))), store, now)
    chosen = evidence.choose(hits, floor=floor, most=most)
    return ranking.prefer_newer(chosen, hits, asked)


def suggest_for(
    prompt: str,
    runtime: Runtime,
    store: Store | None = None,
    embedder: Embedder | None = None,
    *,
    most: int | None = None,
) -> list[Hit]:
    return suggest(
        prompt,
        store or runtime.store,
        of_session(runtime, UNARCHIVED),
        runtime.now,
        most=most or runtime.settings.briefing.prompt,
        embedder=embedder,
    )


def recall(
    query: str,
    store: Store,
    filters: Filters,
    now: datetime,
    limit: int = SearchSettings().limit,
    *,
    key: TurnKey | None = None,
    embedder: Embedder | None = None,
) -> Results:
    """Search, count one access of each memory that answers, and log them with their turn."""
    from ademem.core.memory import accessed
    from ademem.core.redaction import redact
    from ademem.core.text import preview
    from ademem.store import logs, memories
    from ademem.store.database import is_unwritable

    results = search(query, store, filters, now, limit, embedder)
    shown = as_shown(results.answers)
    logged = preview(redact(query).text, LOGGED_CHARS)
    try:
        with store.transaction():
            for hit in results.answers:
                memories.touch(store, hit.memory, accessed(hit.signals["access"]), now)
            logs.log_shown(store, "recall", shown, now, key=key, query=logged)
    except store.db.OperationalError as error:
        if not is_unwritable(error):  # else the answer is worth more than the count
            raise
    return results


def current(results: Results) -> list[Hit]:
    return [hit for hit in results.hits if not (hit.later and hit.later.replaces)]


def drop_unsupported(hits: Sequence[Hit], store: Store, now: datetime) -> list[Hit]:
    """Leave out what an agent wrote so long ago that it would have ended if nobody had used it.

    Use tells that it was found, and not that it still holds.
    """
    old = {hit.memory.id: hit.memory for hit in hits if _has_waited(hit.memory, now)}
    if not old:
        return list(hits)
    from ademem.core import clock
    from ademem.store.evidence import EvidenceKind, list_by_memory

    for id, rows in list_by_memory(store, old).items():
        latest = replace(old[id], updated_at=clock.parse(rows[-1].at))
        has_file = any(row.kind == EvidenceKind.CLIENT_FILE for row in rows)
        if has_file or not _has_waited(latest, now):
            del old[id]
    return [hit for hit in hits if hit.memory.id not in old]


def _has_waited(memory: Memory, now: datetime) -> bool:
    from ademem.core.clock import days_between
    from ademem.core.memory import STAGE_DAYS, STATEMENTS

    is_open = memory.stays_here and memory.category in STATEMENTS
    return is_open and days_between(memory.updated_at, now) >= STAGE_DAYS[memory.stage]


def as_shown(hits: Iterable[Hit]) -> list[Shown]:
    return [Shown(memory_id=hit.memory.id, score=hit.score) for hit in hits]


def explain(hit: Hit) -> str:
    signals = " ".join(f"{name} {value:.2f}" for name, value in hit.signals.items())
    return f"{hit.memory.id} {hit.score:.3f}: {signals}"

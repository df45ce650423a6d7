"""Find memories: by question, by filter, by id."""

from __future__ import annotations

from ademem.core import client
from ademem.core.client import TurnKey
from ademem.core.errors import suppress
from ademem.core.text import preview
from ademem.core.value import replace
from ademem.search import engine
from ademem.search.engine import UNARCHIVED, Explained, Filters, Results
from ademem.store import logs, memories
from ademem.store.database import OperationalError, is_unwritable
from ademem.store.filters import count_listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from ademem.core.memory import Memory
    from ademem.search.embedding import Embedder
    from ademem.search.instruction_search import Instruction
    from ademem.store.bindings import Binding
    from ademem.store.evidence import Evidence
    from ademem.store.logs import Shown
    from ademem.store.relations import Later, Newer
    from ademem.store.runtime import Runtime

SIMILAR_CHARS = 300


def recall(
    runtime: Runtime, query: str, filters: Filters | None = None, limit: int | None = None
) -> Results:
    """Count an access for each hit; the person's own memories are searched, too."""
    return _search_both(engine.recall, runtime, query, filters, limit, key=turn_of(runtime))


def search(
    runtime: Runtime, query: str, filters: Filters | None = None, limit: int | None = None
) -> Results:
    """In a session, record what was shown."""
    results = _search_both(engine.search, runtime, query, filters, limit)
    if turn := turn_of(runtime):
        shown = engine.as_shown(results.answers)
        log_shown(runtime, "search", shown, turn)
    return results


def _search_both(
    find: Callable[..., Results],
    runtime: Runtime,
    query: str,
    filters: Filters | None,
    limit: int | None,
    **options: Any,
) -> Results:
    limit = runtime.settings.search.limit if limit is None else limit
    filters, found = complete_filters(runtime, filters), []
    for each in runtime.with_own():
        options["embedder"] = load_embedder(each)
        found.append(find(query, each.store, filters, each.clock(), limit, **options))
    items = find_instructions(runtime, query, filters)
    results = replace(found[0], instructions=tuple(items))
    if not any(other.hits for other in found[1:]):
        return results
    hits = [hit for other in found for hit in other.hits]
    best = sorted(hits, key=lambda hit: (hit.weak, -hit.score))[:limit]
    return replace(results, hits=tuple(best), mode=engine.join_modes(found))


def find_instructions(
    runtime: Runtime, query: str, filters: Filters, turn: TurnKey | None = None
) -> list[Instruction]:
    """Return items of adopted instruction files; in a session none that Claude Code loads.

    Filters of what only memories have leave nothing.
    """
    of_memories = (filters.scopes, filters.categories, filters.types, filters.path, filters.owner)
    if any(of_memories) or filters.since or filters.until:
        return []
    if not memories.any_adopted(runtime.store):
        return []
    from ademem.search import instruction_search

    found = instruction_search.search(runtime, query)
    in_session = (turn or turn_of(runtime)) is not None
    return [each for each in found if not (in_session and each.loaded)]


def log_shown(runtime: Runtime, place: str, shown: list[Shown], turn: TurnKey) -> None:
    try:
        logs.log_shown(runtime.store, place, shown, runtime.clock(), key=turn)
    except OperationalError as error:
        if not is_unwritable(error):  # else the answer is worth more than the record
            raise


def explain_search(
    runtime: Runtime, query: str, filters: Filters | None = None, limit: int | None = None
) -> Explained:
    from ademem.search import ranking
    from ademem.store import full_text

    filters, store = complete_filters(runtime, filters), runtime.store
    limit = runtime.settings.search.limit if limit is None else limit
    embedder, statuses = load_embedder(runtime), filters.statuses or UNARCHIVED
    asked = engine.ask(query, store, filters, runtime.clock(), limit, embedder)
    results = engine.answer(query, asked)
    shown = {hit.memory.seq for hit in results.hits}
    live = {hit.memory.seq for hit in ranking.rank_live(asked)}
    ranked = [hit for hit in ranking.rank(asked, statuses) if hit.memory.seq not in shown]
    rest = ranking.choose_best(ranked, len(ranked))
    by_words, by_meaning = ranking.find_rows(asked, statuses, limit)
    prompted = engine.suggest_for(query, runtime, embedder=embedder)
    supported = engine.drop_unsupported(results.hits, store, asked.now)
    return engine.Explained(
        results=results,
        left_out=tuple(
            (hit, engine.BEYOND if hit.memory.seq in live else engine.UNNEEDED) for hit in rest
        ),
        prompted=frozenset(hit.memory.id for hit in prompted),
        unsupported=frozenset(
            {hit.memory.id for hit in results.hits} - {hit.memory.id for hit in supported}
        ),
        by_words=tuple(memories.list_by_number(store, by_words)),
        by_meaning=tuple(memories.list_by_number(store, by_meaning)),
        matched=full_text.find_matched_words(store, asked.query.terms, shown),
    )


def find_matched_words(runtime: Runtime, query: str, found: Iterable[Memory]) -> frozenset[str]:
    """Return the words of memories that words of a question match, in small letters."""
    from ademem.search.query import parse
    from ademem.store import full_text

    terms, matched = parse(query).terms, frozenset[str]()
    for holder, held in runtime.split_by_store(found):
        seqs = [memory.seq for memory in held]
        matched |= full_text.find_matched_words(holder.store, terms, seqs)
    return matched


def rank(runtime: Runtime, query: str, filters: Filters, limit: int, model: str) -> Results:
    """Rank with the *model* of this process (own), of another (shared), or with none (off).

    Where no other process has it loaded, one is started, and words decide until it answers.
    """
    if model == "shared" and (found := _rank_elsewhere(runtime, query, filters, limit)):
        return found
    embedder = load_embedder(runtime) if model == "own" else None
    return engine.search(query, runtime.store, filters, runtime.clock(), limit, embedder)


def _rank_elsewhere(runtime: Runtime, query: str, filters: Filters, limit: int) -> Results | None:
    from ademem import worker
    from ademem.search.ranking import Hit
    from ademem.store import relations
    from ademem.worker import warm

    if not (runtime.settings.search.warm and runtime.settings.search.hybrid):
        return None
    answer = warm.search(runtime, query, filters, limit)
    if answer is None:
        worker.start_server(runtime)
        return None
    ranked = {seq: (score, whole, weak) for seq, score, whole, weak in answer["hits"]}
    found = memories.list_by_number(runtime.store, ranked)
    later, ids = relations.find_later(runtime.store, found), {memory.id for memory in found}
    hits = []
    for memory in found:
        score, whole, weak = ranked[memory.seq]
        other = later.get(memory.id)
        hits.append(
            Hit(
                memory=memory,
                score=score,
                relevance=score,
                signals={"whole": float(whole)},
                weak=weak,
                later=other if other and other.id in ids else None,
            )
        )
    return engine.Results(query=query, mode=answer["mode"], hits=tuple(hits))


def find_similar(runtime: Runtime, memory: Memory, limit: int = 3) -> list[Memory]:
    found = engine.search(
        preview(memory.content, SIMILAR_CHARS),
        runtime.store,
        Filters(statuses=UNARCHIVED),
        runtime.clock(),
        limit=limit + 1,
    )
    return [hit.memory for hit in found.hits if hit.memory.id != memory.id and not hit.weak][:limit]


def check_type(runtime: Runtime, type: str) -> None:
    """Raise UsageError for what is no category, type of an observation, or tag of a memory."""
    from ademem.core.errors import UsageError
    from ademem.core.memory import TYPES, Category

    known = [*Category, "learned", *TYPES]
    if type in known or any(memories.has_tag(own.store, type) for own in runtime.with_own()):
        return
    raise UsageError(f"no memory has the type or tag {type!r}", f"one of {', '.join(known)}")


def list_memories(
    runtime: Runtime, filters: Filters | None = None, limit: int | None = 100
) -> list[Memory]:
    """By default all but archived ones; the person's own, too."""
    mission = client.mission_of(runtime.environment)
    filters = filters or Filters(statuses=UNARCHIVED, mission=mission)
    found = engine.list_filtered(runtime.store, filters, limit)
    if own := runtime.open_personal():
        found += engine.list_filtered(own.store, filters, limit)
        column, is_down = engine.ORDERS[filters.order]
        if found and hasattr(found[0], column):  # else the person's own stand at the end
            found.sort(key=lambda memory: getattr(memory, column), reverse=is_down)
    return found[:limit]


def count_memories(runtime: Runtime, filters: Filters, most: int) -> int:
    return min(sum(count_listed(each.store, filters, most) for each in runtime.with_own()), most)


def list_candidates(runtime: Runtime, limit: int = 20) -> list[Memory]:
    from ademem.store import memory_queries

    return memory_queries.best_candidates(runtime.store, limit=limit)


def list_best(runtime: Runtime, scope: str, owner: str | None, limit: int) -> list[Memory]:
    from ademem.store import memory_queries

    return memory_queries.best_of_scope(runtime.store, scope=scope, owner=owner, limit=limit)


def get(runtime: Runtime, id: str) -> Memory:
    return memories.get(runtime.holding(id).store, id)


def find_related(runtime: Runtime, id: str) -> dict[str, list[str]]:
    from ademem.store import memory_queries, relations

    runtime = runtime.holding(id)
    memory = memories.get(runtime.store, id)
    pairs = [(each.left, each.right) for each in relations.list_conflicts(runtime.store)]
    others = [b if a == memory.id else a for a, b in pairs if memory.id in (a, b)]
    found = {
        "conflicts with": others,
        "merged from": [
            each.id for each in memory_queries.merged_into(runtime.store, id=memory.id)
        ],
        "merged into": [memory.superseded_by] if memory.superseded_by else [],
    }
    return {name: ids for name, ids in found.items() if ids}


def map_places(runtime: Runtime, found: Sequence[Memory]) -> dict[str, list[Binding]]:
    """Map ids to where memories apply, without what their words only suggest."""
    from ademem.store import bindings

    places: dict[str, list[Binding]] = {}
    for holder in runtime.with_own():
        here = [each for each in found if each.project_id == holder.store.project_id]
        places |= bindings.map_sure(holder.store, here)
    return places


def find_later(runtime: Runtime, found: Iterable[Memory]) -> dict[str, Later]:
    """Map ids to the latest memory that says something else, where there is one."""
    from ademem.store import relations

    later: dict[str, Later] = {}
    for holder, held in runtime.split_by_store(found):
        later |= relations.find_later(holder.store, held)
    return later


def find_newer(runtime: Runtime, found: Iterable[Memory]) -> dict[str, Newer]:
    """Map ids of confirmed memories to what was stated to be newer and waits for a person."""
    from ademem.store import relations

    newer: dict[str, Newer] = {}
    for holder, held in runtime.split_by_store(found):
        newer |= relations.find_proposals(holder.store, [memory.id for memory in held])
    return newer


def map_evidence(runtime: Runtime, found: Iterable[Memory]) -> dict[str, list[Evidence]]:
    """Map ids to what speaks for each memory, the earliest first."""
    from ademem.store import evidence

    rows: dict[str, list[Evidence]] = {}
    for holder, held in runtime.split_by_store(found):
        rows |= evidence.list_by_memory(holder.store, [memory.id for memory in held])
    return rows


def find_drifted(runtime: Runtime, found: Iterable[Memory]) -> dict[str, str]:
    """Map ids to `moved`, `changed` or `gone`, for memories whose anchors do not hold."""
    anchored = [memory for memory in found if memory.anchors]
    if not anchored:
        return {}
    from ademem.core import anchor  # many are bound to nothing, others to a command

    anchored = [memory for memory in anchored if any(map(anchor.place, memory.anchors))]
    if not anchored:
        return {}
    from ademem.synthesis import anchoring

    verifier = anchoring.verifier()
    return verifier.stale_states(anchored, runtime.project) if verifier else {}


def turn_of(runtime: Runtime) -> TurnKey | None:
    session_id = client.session_of(runtime.environment)
    return TurnKey(session_id=session_id) if session_id else None


def complete_filters(runtime: Runtime, filters: Filters | None) -> Filters:
    filters = filters or Filters()
    return replace(
        filters,
        faded=True,
        here=filters.here or runtime.branch,
        mission=filters.mission or client.mission_of(runtime.environment),
    )


def get_search_mode(runtime: Runtime) -> str:
    """Return `hybrid` or `lexical`."""
    return "lexical" if load_embedder(runtime) is None else "hybrid"


def load_embedder(runtime: Runtime) -> Embedder | None:
    """Load the model if the store has vectors."""
    if not (runtime.settings.search.hybrid and memories.any_vector(runtime.store)):
        return None
    from ademem.search import embedding
    from ademem.store import embeddings

    settings = runtime.settings.embed
    if not embeddings.has_any(runtime.store, embedding.model_id(settings)):
        return None
    if runtime.embedder is None:
        with suppress(embedding.DamagedModel):  # `doctor` reports it
            runtime.embedder = embedding.load_pair(
                settings, runtime.environment, in_background=True
            )
    found: Embedder | None = runtime.embedder
    return found

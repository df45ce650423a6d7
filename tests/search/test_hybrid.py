"""Words and meaning together: what a question finds once memories have vectors."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from ademem.core.memory import DIALOGUE, Memory, Scope, Status
from ademem.core.value import replace
from ademem.search.engine import Filters, Results, explain, search, suggest
from ademem.search.ranking import DEFAULTS
from ademem.store import Store
from tests.builders import NOW, insert, memory, open_project
from tests.search.conftest import Keep, answers
from tests.search.notes import NOTES, RELATED, UNRELATED
from tests.search.spelling import Broken, Spelling, embed

Ask = Callable[..., Results]


@pytest.fixture
def ask(store: Store) -> Ask:
    def asked(query: str, *, limit: int = 10, **filters: object) -> Results:
        return answers(search(query, store, Filters(**filters), NOW, limit, Spelling()))

    return asked


@pytest.fixture
def texts(ask: Ask) -> Callable[..., list[str]]:
    return lambda query, **how: [hit.memory.content for hit in ask(query, **how).hits]


@pytest.fixture
def learn(store: Store, keep: Keep) -> Keep:
    """Put one memory with its vector into the store."""

    def put(content: str, **changes: object) -> Memory:
        kept = keep(content, **changes)
        embed(store, kept)
        return kept

    return put


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory):
    store = open_project(tmp_path_factory.mktemp("shop"))
    embed(store, *insert(store, *map(memory, NOTES)))
    yield store
    store.close()


@pytest.mark.parametrize("prompt", UNRELATED)
def test_a_prompt_about_something_else_is_shown_nothing(shop, prompt):
    assert suggest(prompt, shop, Filters(), NOW, embedder=Spelling()) == []


@pytest.mark.parametrize(("prompt", "answer"), RELATED)
def test_a_whole_prompt_finds_the_note_that_answers_it(shop, prompt, answer):
    found = search(prompt, shop, Filters(), NOW, 4, Spelling())

    assert any(answer in hit.memory.content for hit in found.hits)


@pytest.mark.parametrize("seed", range(40))
def test_the_model_takes_nothing_away_that_words_alone_find(shop, seed):
    chance = random.Random(seed)
    words = " ".join([*NOTES, *UNRELATED]).split()
    query = " ".join(chance.sample(words, chance.randint(1, 12)))

    alone = search(query, shop, Filters(), NOW, len(NOTES))
    beside = search(query, shop, Filters(), NOW, len(NOTES), Spelling())
    assert {hit.memory.id for hit in alone.hits} <= {hit.memory.id for hit in beside.hits}


@pytest.mark.parametrize(
    ("known", "read"),
    [
        pytest.param("", "Where is the CACHE?", id="a word that the model does not know"),
        pytest.param("cahce", "Where is the Cahce?", id="a word that it knows"),
    ],
)
def test_the_model_reads_what_was_meant_by_a_misspelt_word(learn, store, known, read):
    learn("The cache is in memory")
    model = Spelling()
    model.dictionary = {known}
    search("Where is the Cahce?", store, Filters(), NOW, 4, model)

    assert [text.lower() for text in model.asked] == [read.lower()]


def test_what_shares_no_word_is_found_by_its_vector(learn, ask):
    learn("migrations are reviewed by the database team")
    learn("lunch is at noon")

    found = ask("migrating databases")
    assert [hit.memory.content for hit in found.hits] == [
        "migrations are reviewed by the database team"
    ]
    assert found.mode == "hybrid"


def test_an_explanation_names_what_the_meaning_and_the_neighbours_gave(learn, ask):
    learn("migrations are reviewed on Fridays", **TALK)
    learn("the database team is away then", **TALK)

    line = explain(ask("who reviews migrations").hits[0])
    for signal in ("words", "meaning", "near_words", "near_meaning", "cosine", "relevance"):
        assert f" {signal} " in line


@pytest.mark.parametrize(
    "embedder", [pytest.param(None, id="no model"), pytest.param(Broken(), id="a broken one")]
)
def test_without_a_working_model_the_words_decide(store, learn, embedder):
    learn("the cache is flushed at night")

    found = search("cache", store, Filters(), NOW, embedder=embedder)
    assert found.mode == "lexical"
    assert [hit.memory.content for hit in found.hits] == ["the cache is flushed at night"]


@pytest.mark.parametrize("query", ["", "?!", "🎉"])
def test_a_query_without_words_finds_nothing(learn, ask, query):
    learn("a note")

    assert ask(query).hits == ()


def test_a_store_without_vectors_does_not_ask_the_model(store, keep):
    keep("the cache is flushed at night")
    model = Spelling()

    found = search("cache", store, Filters(), NOW, embedder=model)
    assert (found.mode, len(found.hits), model.asked) == ("lexical", 1, [])


def test_vectors_of_another_model_do_not_count(store, learn, ask):
    learn("the cache is flushed at night")
    store.db.execute("update unified_memory_embeddings set embedding_model = 'older'")

    assert ask("cache").mode == "lexical"


def test_a_vector_of_the_wrong_size_is_as_good_as_none(store, learn, texts):
    learn("the cache is flushed at night")
    learn("the cache is flushed at noon")
    store.db.execute(
        "update unified_memory_embeddings set embedding_blob = x'00' where rowid ="
        " (select min(rowid) from unified_memory_embeddings)"
    )

    assert len(texts("cache flushed")) == 2


TWIN = "the nightly cache flush takes a minute"


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("how long does the nightly cache flush take", id="close to it"),
        pytest.param("nightly minutes of cargo", id="far from it"),
    ],
)
def test_of_two_equal_memories_the_one_with_a_vector_is_not_behind(store, keep, ask, question):
    with_vector = keep(TWIN, id="a" * 16, sync_id="a", dedupe_key="a")
    without = keep(TWIN, id="b" * 16, sync_id="b", dedupe_key="b")
    embed(store, with_vector, keep("another cache is flushed by hand"), keep("lunch is at noon"))

    scores = {hit.memory.id: hit.signals["composite"] for hit in ask(question).hits}
    assert scores[with_vector.id] >= scores[without.id]


def test_giving_a_memory_its_vector_never_takes_it_out_of_the_answer(store, keep, learn, texts):
    late = keep("the release job signs every package")
    learn("the release notes are written by hand")
    before = texts("who signs the release")
    embed(store, late)

    assert late.content in before
    assert late.content in texts("who signs the release")


def test_a_memory_without_vector_is_found_among_others_that_have_one(keep, learn, texts):
    for number in range(30):
        learn(f"the deploy of shard {number} runs at night")
    keep("invoices are rounded to whole cents")

    assert texts("how are invoices rounded")[0] == "invoices are rounded to whole cents"


def test_what_has_no_vector_is_not_preferred(keep, learn, texts):
    answer = "the release job signs every package with the key of the team"
    learn(answer)
    for number in range(5):
        learn(f"release candidate {number} was signed late")
        keep(f"package index of mirror {number}")

    assert texts("release job signs every package key")[0] == answer


@pytest.mark.parametrize(
    "hidden",
    [
        pytest.param({"superseded_by": "another"}, id="superseded"),
        pytest.param({"deleted_at": NOW}, id="deleted"),
        pytest.param({"quarantine_reason": "instruction"}, id="quarantined"),
        pytest.param({"status": Status.ARCHIVED}, id="archived"),
        pytest.param({"scope": Scope.AGENT, "scope_owner_id": "bob"}, id="somebody else's"),
    ],
)
def test_what_may_not_be_seen_is_not_found_by_its_vector(learn, texts, hidden):
    learn("the port of the gateway is 8080", **hidden)
    learn("the gateway listens on port 9090")

    assert texts("which port has the gateway") == ["the gateway listens on port 9090"]


def test_many_hidden_rows_do_not_keep_the_others_away(store, learn, texts):
    rows = [memory(f"gatewayz gatewayz {number}", status=Status.ARCHIVED) for number in range(700)]
    embed(store, *insert(store, *rows))
    learn("the gateways are down")
    store.db.execute("delete from store_values")  # the whitening removes what they share

    assert texts("gatewayz") == ["the gateways are down"]


def test_candidates_answer_when_nothing_promoted_does(learn, texts):
    learn("lunch is at noon")
    learn("the gateway listens on port 9090", status=Status.CANDIDATE)

    assert texts("which port has the gateway") == ["the gateway listens on port 9090"]


@pytest.mark.parametrize(
    ("content", "query"),
    [
        pytest.param("数据库连接超时为三十秒", "请问数据库连接为什么总是失败", id="Chinese"),
        pytest.param("Команда деплоит по пятницам", "когда деплоит команда", id="Russian"),
        pytest.param("データベース接続のタイムアウトは30秒", "接続", id="two characters"),
    ],
)
def test_other_scripts_are_found(learn, texts, content, query):
    learn(content)
    learn("nothing of the kind")

    assert texts(query) == [content]


TALK = {"tags": (DIALOGUE,), "source_session_id": "talk"}


def test_an_answer_is_found_by_the_question_before_it(learn, texts):
    learn("what was the name of the hotel in Lisbon again", title="Ann", **TALK)
    learn("it was the Aurora, near the river", title="Bob", **TALK)
    learn("the aurora was seen in Norway", title="Ann", tags=(DIALOGUE,), source_session_id="other")

    assert "it was the Aurora, near the river" in texts("name of the hotel in Lisbon")


def test_an_answer_is_found_by_the_question_before_it_without_a_model(store, keep):
    keep("what was the name of the hotel in Lisbon again", title="Ann", **TALK)
    keep("it was the Aurora, near the river", title="Bob", **TALK)

    found = search("name of the hotel in Lisbon", store, Filters(), NOW)
    assert "it was the Aurora, near the river" in [hit.memory.content for hit in found.hits]


def test_an_answer_among_many_rows_that_are_nearer_is_found_by_the_question_before_it(learn, store):
    for number in range(80):
        learn(f"the hotel in Lisbon has a room {number}")
    learn("what was the name of the hotel in Lisbon again", title="Ann", **TALK)
    learn("it was the Aurora", title="Bob", **TALK)
    learn("it was the Corona", title="Bob", tags=(DIALOGUE,), source_session_id="other")

    hits = search("name of the hotel in Lisbon", store, Filters(), NOW, 100, Spelling()).hits
    first = [hit.memory.content for hit in hits[:2]]

    assert first == ["what was the name of the hotel in Lisbon again", "it was the Aurora"]


def test_by_words_alone_an_answer_two_turns_later_is_found_too(store, keep):
    keep("what was the name of the hotel in Lisbon again", title="Ann", **TALK)
    keep("let me think", title="Bob", **TALK)
    keep("it was the Aurora", title="Bob", **TALK)

    found = search("name of the hotel in Lisbon", store, Filters(), NOW)
    assert "it was the Aurora" in [hit.memory.content for hit in found.hits]


def test_notes_of_one_session_do_not_answer_for_each_other(learn, texts):
    learn("invoices are rounded to whole cents", source_session_id="monday")
    learn("the office dog is called Rex", source_session_id="monday")

    assert texts("how are invoices rounded") == ["invoices are rounded to whole cents"]


def test_who_is_named_spoke(learn, texts):
    learn("I started to paint horses", title="Ann", tags=(DIALOGUE,))
    learn("I started to paint houses", title="Bob", tags=(DIALOGUE,))

    assert texts("what did Bob start to paint")[0] == "I started to paint houses"
    assert texts("what did Ann start to paint")[0] == "I started to paint horses"


def test_when_asks_for_a_memory_that_says_when(learn, texts):
    learn("the cluster was moved to another region", tags=(DIALOGUE,))
    learn("the cluster was moved last Monday", tags=(DIALOGUE,))

    assert texts("when was the cluster moved")[0] == "the cluster was moved last Monday"


def test_a_month_that_is_named_prefers_what_was_learned_in_it(learn, texts):
    march = datetime(2025, 3, 10, tzinfo=UTC)
    learn("the cluster was moved by Ann", created_at=march, tags=(DIALOGUE,))
    learn("the cluster was moved by Bob", created_at=replace_month(march, 4), tags=(DIALOGUE,))

    assert texts("who moved the cluster in March 2025")[0] == "the cluster was moved by Ann"
    assert texts("who moved the cluster in April 2025")[0] == "the cluster was moved by Bob"


def replace_month(moment: datetime, month: int) -> datetime:
    return moment.replace(month=month)


def test_without_the_weight_of_meaning_the_order_is_that_of_the_words(store, learn):
    learn("flush the cache, flush it again")
    learn("a cache flush is rare")
    plain = replace(DEFAULTS, meaning=0.0)

    hybrid = search("cache flush", store, Filters(), NOW, embedder=Spelling(), parameters=plain)
    words = search("cache flush", store, Filters(), NOW, parameters=plain)
    assert [hit.memory.id for hit in hybrid.hits] == [hit.memory.id for hit in words.hits]

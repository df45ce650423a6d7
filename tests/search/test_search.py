"""What a search finds, and in which order."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ademem.core.memory import PROCEDURE, Category, Status
from ademem.core.settings import SearchSettings
from ademem.core.value import replace
from ademem.search.engine import explain, join_modes, search
from ademem.store import memories
from ademem.store.filters import Filters
from ademem.store.memories import Change
from tests.builders import NOW

SIGNALS = (
    *("exact", "whole", "share", "bm25", "relevance", "recency", "importance", "confidence"),
    *("access", "tier", "composite"),
)


@pytest.mark.parametrize(
    ("content", "query"),
    [
        pytest.param("we are deploying on Fridays", "deploys", id="another form of the word"),
        pytest.param("DEPLOY on Fridays", "dEpLoY", id="another case"),
        pytest.param("the café opens at nine", "cafe", id="an accent left out"),
        pytest.param("the cafe opens at nine", "café", id="an accent too many"),
        pytest.param(
            "the cafe\u0301 opens at nine", "café", id="an accent as a character of its own"
        ),
        pytest.param("the résumé parser", "re\u0301sume\u0301", id="a query in loose accents"),
        pytest.param("authentication is done by the proxy", "auth", id="the beginning of a word"),
        pytest.param("the reconfiguration takes an hour", "figur", id="the inside of a word"),
        pytest.param("call flush_cache before the test", "flush_cache", id="a name in code"),
        pytest.param(
            "データベース接続のタイムアウトは30秒", "接続", id="two characters in a CJK run"
        ),
        pytest.param("データベース接続のタイムアウトは30秒", "タイムアウト", id="a CJK substring"),
        pytest.param("数据库连接超时为三十秒", "请问数据库连接为什么总是失败", id="a CJK prompt"),
        pytest.param("SQLiteの接続は一つだけ", "SQLite 接続", id="two scripts"),
        pytest.param("데이터베이스 연결은 하나만", "연결", id="Korean"),
        pytest.param("Команда деплоит по пятницам", "деплоит", id="Russian"),
        pytest.param("Η βάση δεδομένων είναι αργή", "βάση", id="Greek"),
        pytest.param("قاعدة البيانات بطيئة", "البيانات", id="Arabic"),
        pytest.param("डेटाबेस धीमा है", "डेटाबेस", id="Hindi"),
        pytest.param("ฐานข้อมูลช้า", "ข้อมูล", id="Thai"),
    ],
)
def test_a_memory_is_found_by(keep, texts, content, query):
    keep(content)
    keep("nothing of the kind")

    assert texts(query) == [content]


def test_a_title_a_tag_a_path_and_a_topic_are_searched_too(keep, texts):
    keep("one", title="Rotating the signing keys")
    keep("two", tags=("websocket", "infra"))
    keep("three", file_scope_pattern="src/billing/*.py")
    keep("four", topic_key="auth/session-life")

    assert texts("signing") == ["one"]
    assert texts("websocket") == ["two"]
    assert texts("billing") == ["three"]
    assert texts("session") == ["four"]


def test_a_word_in_the_title_outweighs_one_in_the_text(keep, texts):
    keep("backups are kept for a month, see the runbook of the team")
    keep("they are kept for a month, see the runbook of the team", title="Backups")
    for number in range(4):
        keep(f"filler {number}")

    assert texts("backups")[0].startswith("they are kept")


def test_memories_with_every_word_leave_the_others_out_when_they_are_enough(keep, ask):
    keep("the cache is flushed at night")
    keep("the cache is flushed at noon")
    keep("flushed twice", title="flushed flushed flushed")

    found = ask("flushed cache", limit=2)
    assert all("cache" in hit.memory.content for hit in found.hits)
    assert not found.relaxed


def test_memories_with_every_word_are_not_crowded_out_by_the_others(keep, texts):
    for number in range(60):
        keep(f"flush flush flush {number}")
        keep(f"cache cache cache {number}")
        keep(f"lunch and dinner {number}")
    keep("whoever wants to flush what is left over from last week has to ask for the cache key")

    assert texts("cache flush", limit=1)[0].startswith("whoever")


def test_what_comes_first_does_not_depend_on_how_many_are_asked_for(keep, texts):
    keep("flush flush flush")
    keep("cache cache", pinned=True)
    keep("whoever wants to flush what is left over from last week has to ask for the cache key")

    assert texts("cache flush", limit=1) == texts("cache flush", limit=10)[:1]


def test_a_procedure_leaves_no_candidate_unheard(keep, texts):
    steps = "Use when the task is like “Add a retry and run the tests of billing”.\n\n1. Run it"
    keep(steps, category=Category.PROCEDURE, source_type=PROCEDURE, confidence=1.0)
    keep("tests of billing need redis, when you run them", status=Status.CANDIDATE, confidence=0.6)

    assert "redis" in texts("what do I need to run the tests of billing?")[0]


def test_a_foreign_word_relaxes_the_search(keep, ask):
    keep("the release job signs every package")
    keep("lunch is at noon")

    found = ask("release job signs zeppelins")
    assert [hit.memory.content for hit in found.hits] == ["the release job signs every package"]
    assert found.relaxed


def test_a_search_that_finds_every_word_is_not_relaxed(keep, ask):
    keep("the release job signs every package")

    assert not ask("who signs the release").relaxed
    assert not ask("zeppelin").relaxed


def test_hits_are_noted_as_partial_only_if_none_has_all_the_words(keep, ask):
    keep("the release job signs every package")
    keep("the release is announced on Mondays")
    whole, partial = ask("release job"), ask("release job zeppelins")
    both = replace(whole, hits=(*whole.hits, *partial.hits))

    assert partial.note == "no memory has all the words; these have some"
    assert both.relaxed
    assert (whole.note, both.note) == ("", "")


def test_a_query_with_a_foreign_word_still_prefers_who_has_more_of_it(keep, texts):
    keep("the release job signs every package")
    keep("the release is on Monday")

    assert texts("release job zeppelin")[0] == "the release job signs every package"


def test_the_exact_topic_goes_before_every_match_of_its_words(keep, ask):
    keep("tokens live an hour", topic_key="auth/token-life")
    keep("auth auth token life token life", title="auth token life", pinned=True)
    keep("tokens lived a day", topic_key="auth/token-life/until-may", pinned=True)

    first, *_ = ask("auth/token-life").hits
    assert first.memory.content == "tokens live an hour"


@pytest.mark.parametrize("name", ["id", "sync_id", "knowledge_key"])
def test_a_memory_is_found_by_its(keep, ask, name):
    kept = keep("the one that was meant", knowledge_key="learned-the-one")
    for number in range(4):
        keep(f"note {number} about {getattr(kept, name)}", pinned=True)

    found = ask(getattr(kept, name), limit=1)
    assert found.hits[0].memory.content == "the one that was meant"
    assert not found.relaxed


def test_the_first_memory_of_a_store_answers_already(keep, texts):
    keep("deploys run only from main")

    assert texts("where can deploys be started from") == ["deploys run only from main"]


def test_a_word_nobody_has_weighs_no_more_than_one_that_somebody_has(keep, texts):
    keep("deploys run only from main")
    keep("deploys are announced")
    keep("lunch is at noon")

    assert len(texts("deploys of zeppelins")) == 2


def test_a_word_that_the_query_repeats_counts_more(keep, texts):
    keep("the importer of zebras is slow")
    keep("the exporter of llamas is slow")

    assert texts("zebra files, zebra data and llama data")[0].startswith("the importer")
    assert texts("llama files, zebra data and llama data")[0].startswith("the exporter")


def test_quoting_words_prefers_them_side_by_side(keep, texts):
    keep("the pool keeps one connection open")
    keep("the connection pool keeps one open")
    keep("a note of something else")

    assert texts('"connection pool"')[0] == "the connection pool keeps one open"


def test_a_word_itself_goes_before_the_words_it_begins(keep, texts):
    for ending in ("in", "ic", "istics", "book"):
        keep(f"something about log{ending} that is written here")
    keep("something about log that is written here")

    assert texts("log")[0] == "something about log that is written here"


def test_a_newer_memory_wins_between_equals(keep, texts):
    keep("the cache is flushed at night", updated_at=NOW - timedelta(days=90))
    keep("the cache is flushed at noon")

    assert texts("when is the cache flushed")[0] == "the cache is flushed at noon"


def test_what_was_overwritten_is_not_found_by_its_old_words(store, keep, texts):
    kept = keep("the port is 8080", title="port")
    change = Change(operation="edit", actor="user", at=NOW)
    memories.update(store, replace(kept, content="the port is 9090"), change)

    assert texts("8080") == []
    assert texts("9090") == ["the port is 9090"]


@pytest.mark.parametrize("query", ["", " ", "?!", "\0", "\ud800", "🎉", '"', "()"])
def test_a_query_without_words_finds_nothing(keep, ask, query):
    keep("a note")

    assert ask(query).hits == ()


def test_a_result_is_as_long_as_asked_for(keep, ask):
    for number in range(30):
        keep(f"the shard {number} holds customers of letter {number}")

    assert len(ask("shard").hits) == SearchSettings().limit
    assert len(ask("shard", limit=3).hits) == 3
    assert ask("shard", limit=0).hits == ()


def test_results_name_the_query_and_how_it_was_answered(keep, ask):
    keep("a note of the shard")

    found = ask("the shard")
    assert (found.query, found.mode) == ("the shard", "lexical")


def test_stores_that_were_answered_otherwise_are_both_named(keep, ask):
    keep("a note of the shard")
    by_words, none = ask("shard"), replace(ask("zebra"), mode="hybrid")

    assert join_modes([by_words, none]) == "lexical"
    assert join_modes([by_words, replace(by_words, mode="hybrid")]) == "hybrid and lexical"


def test_an_explanation_names_every_signal(keep, ask):
    kept = keep("a note of the shard")
    (hit,) = ask("shard").hits

    line = explain(hit)
    assert line.startswith(f"{kept.id} {hit.score:.3f}: ")
    assert "\n" not in line
    for signal in SIGNALS:
        assert f" {signal} {hit.signals[signal]:.2f}" in line


def test_the_same_search_gives_the_same_answer(keep, ask):
    for number in range(12):
        keep(f"the shard {number} holds customers")

    assert ask("shard customers") == ask("shard customers")


def test_searching_changes_no_byte_of_the_database(store, keep):
    keep("the cache is flushed at night")
    keep("a candidate of the cache", status=Status.CANDIDATE)
    before = list(store.db.iterdump())

    for query in ("cache", "接続", "flush", "igh", "nothing at all", "auth/key"):
        search(query, store, Filters(), NOW)
    assert list(store.db.iterdump()) == before

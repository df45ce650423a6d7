"""Other forms of a word: abbreviations, parts, beginnings, initials, and one wrong letter."""

from __future__ import annotations

import pytest

from ademem.search import word_forms
from ademem.search.engine import Filters, suggest
from ademem.store import full_text
from ademem.store.full_text import Index
from tests.builders import NOW

NOTES = (
    "Full text search is done by Postgres",
    "The certificate of the registry expires in May",
    "Pull requests stay under 400 lines",
    "Debezium stops after a failover of the database",
    "We rotate the signing key every month",
    "Kubernetes probes hit the health page",
    "`normalize_phone` takes the region of the customer",
    "The password of the bastion is in the vault",
    "Lunch is at noon",
)


@pytest.fixture
def notes(keep):
    for text in NOTES:
        keep(text)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        pytest.param("is FTS fast enough", "Full text", id="initials in capitals"),
        pytest.param("who renews the cert", "The certificate", id="an abbreviation of the trade"),
        pytest.param("how large may a PR be", "Pull requests", id="an abbreviation of two words"),
        pytest.param("what do k8s probes do there", "Kubernetes", id="with a digit"),
        pytest.param("regis trouble of today", "The certificate", id="the beginning of a word"),
        pytest.param("why does debezum stop working", "Debezium", id="a letter is missing"),
        pytest.param("how do I roatte it", "We rotate", id="two letters are swapped"),
        pytest.param("normalizePhone", "`normalize_phone`", id="words that are joined"),
        pytest.param("wo ist das Passwört", "The password", id="an accent"),
    ],
)
def test_a_word_that_no_memory_has_finds_what_is_meant(notes, texts, query, found):
    assert texts(query)[0].startswith(found)


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("fts", id="initials only in capitals"),
        pytest.param("what about the LAN here today", id="initials with words between them"),
        pytest.param("detritus", id="nothing is written like it"),
    ],
)
def test_other_words_stay_unknown(notes, texts, query):
    assert texts(query) == []


def test_codes_and_short_words_take_no_place_of_a_misspelt_one(notes, store):
    words = ("e1", "qq", "zz", "ww", "e2", "vv", "uu", "debezum")
    terms = {f'"{word}"': Index.WORDS for word in words}

    wider, meant = word_forms.widen(dict.fromkeys(terms, 0), terms, (), store)
    assert wider == {'"debezum"': '("debezum" OR "debezium")'}
    assert meant == {"debezum": "debezium"}


def test_a_known_word_has_no_other_forms(store, keep, texts):
    keep("The cart keeps one coupon")
    keep("The carts of guests expire")

    assert texts("cart of old guests")[0].startswith("The carts")
    assert len(texts("cart")) == 2


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        pytest.param("debezum", "debezium", id="missing"),
        pytest.param("debeziium", "debezium", id="doubled"),
        pytest.param("certoificate", "certificate", id="too much in a long word"),
        pytest.param("ekys", "keys", id="swapped at the beginning of a short word"),
        pytest.param("roatted", "rotated", id="swapped, with an ending that no note has"),
        pytest.param("databse", "database", id="a stem that is no word"),
        pytest.param("moth", "month", id="missing in a short word"),
        pytest.param("strasse", "straße", id="a letter that a keyboard lacks"),
        pytest.param("failoverdatabase", "failover database", id="a blank is missing"),
    ],
)
def test_a_slip_of_the_fingers_is_read_as_what_was_meant(notes, keep, store, word, meant):
    keep("Die Straße ist gesperrt")
    wider, found = widen(word, store)

    assert found == {word: meant}
    quoted = " AND ".join(f'"{part}"' for part in meant.split())
    assert wider == [f'("{word}" OR {f"({quoted})" if " " in meant else quoted})']


@pytest.mark.parametrize(
    ("word", "other"),
    [
        pytest.param("dobezium", [], id="another second letter"),
        pytest.param("debexium", ["debezium"], id="another letter"),
        pytest.param("monthy", ["month"], id="another ending"),
        pytest.param("faxlovxy", [], id="another letter at the beginning, and another ending"),
        pytest.param("sprite", [], id="another word"),
        pytest.param("noom", [], id="a short word with another letter"),
        pytest.param("keyy", [], id="a short word with a letter too much"),
    ],
)
def test_what_may_be_another_word_is_looked_for_and_not_read_as_it(notes, store, word, other):
    wider, found = widen(word, store)

    assert found == {}
    assert wider == [f'("{word}" OR "{form}")' for form in other]


@pytest.mark.parametrize("word", ["form", "frmo"])
def test_no_word_is_looked_up_as_one_that_tells_nothing(notes, keep, store, texts, word):
    keep("Backups are copied from the NAS")

    assert texts(word) == []
    assert texts(f"{word} failover") == [NOTES[3]]
    assert widen("fromdatabase", store)[0] == ['("fromdatabase" OR ("from" AND "database"))']


def widen(word, store):
    terms = {f'"{word}"': Index.WORDS}
    counts = full_text.count_rows(store, terms)
    wider, meant = word_forms.widen(counts, terms, (), store)
    return list(wider.values()), meant


def test_a_guess_at_a_word_is_no_reason_to_show_something_unasked(notes, store):
    assert suggest("why did debezum roatte it", store, Filters(), NOW) == []

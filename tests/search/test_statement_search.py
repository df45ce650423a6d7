"""Statements that come near another, which need not have the words of it."""

from ademem.core import anchor
from ademem.core.settings import EmbedSettings
from ademem.search.embedding import Pair
from ademem.search.statement_search import MOST_POSTINGS, by_characters, by_meaning
from tests.search.spelling import Spelling, Translating, embed

KNOWN = (
    "Preisangaben stehen netto im Katalog",
    "The press officer answers within a day",
    "Zeitstempel werden in UTC gespeichert",
    "金額は税込みで表示する",
)


class Both(Pair):
    def __init__(self):
        super().__init__(Spelling(), EmbedSettings(), Translating)


def test_another_form_of_a_word_brings_a_memory_of_a_small_store_near(store, keep):
    first, _, third, fourth = (keep(text).seq for text in KNOWN)

    assert by_characters(["im katalog sind die preise ohne steuer"], store)[0] == first
    assert by_characters(["die zeiten speichern wir als UTC"], store)[0] == third
    assert by_characters(["画面の値段は税込みです"], store)[0] == fourth


def test_the_same_words_come_before_fewer_that_hold_every_group_of_three(store, keep):
    keep("Build docs")
    known = keep("The build is of the docs")

    assert by_characters(["the build is of the docs."], store)[0] == known.seq


def test_words_that_most_memories_begin_with_hide_none_that_few_have(store, keep):
    known = keep("Release notes are written by Ada")
    for number in range(MOST_POSTINGS + 1):
        keep(f"Release {number} is written down")

    assert by_characters(["Ada writes the notes of releases"], store)[0] == known.seq


def test_a_text_without_words_comes_near_nothing(store, keep):
    keep(KNOWN[0])

    assert by_characters(['" OR * …'], store) == by_characters(["the"], store) == []


def occasions(*words):
    return {"anchors": tuple(map(anchor.of_occasion, words))}


def test_two_that_share_no_word_are_near_by_the_occasions_of_both(store, keep):
    known = keep("Carrier webhooks: five attempts", **occasions("an event of DHL got lost"))
    keep("Labels are printed at 300 dpi", **occasions("the barcode is blurred"))
    new = ["we park what DHL did not get", "why did the event get lost"]

    assert by_characters(new, store)[0] == known.seq


def test_words_that_a_stored_statement_alone_has_take_no_room_of_those_that_lead_to_others(
    store, keep
):
    known = keep("Fermenters are logged in Fahrenheit")
    own = " ".join(f"w{number}ord{number}" for number in range(60))
    new = keep(f"{own} the fermenters are in Celsius")

    assert by_characters([new.content], store, is_stored=True)[1] == known.seq
    assert known.seq not in by_characters([new.content], store)


def test_a_statement_is_compared_by_the_mean_of_its_texts_as_memories_are(store, keep):
    kept = [keep(text) for text in KNOWN]
    embed(store, *kept)
    texts = ("Preisangaben", KNOWN[1])

    assert {by_meaning(list(some), store, Spelling())[0] for some in (texts, texts[::-1])} == {
        kept[1].seq
    }


def test_both_models_read_a_statement_as_they_read_the_memories(store, keep):
    kept = [keep(text) for text in KNOWN]
    embed(store, *kept)
    embed(store, *kept, model=Translating)

    assert by_meaning([KNOWN[2]], store, Both())[0] == kept[2].seq
    assert set(by_meaning([KNOWN[2]], store, Spelling())) == {each.seq for each in kept}


def test_what_has_no_vector_is_not_compared(store, keep):
    keep(KNOWN[0])

    assert by_meaning([KNOWN[0]], store, Both()) == []

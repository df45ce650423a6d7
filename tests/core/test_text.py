"""Texts are normalized, compared, truncated and digested."""

import hashlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core.text import (
    clean,
    counted,
    dedupe_key,
    fold,
    is_cjk,
    jaccard,
    join_counts,
    opening,
    preview,
    sha256_hex,
    slug,
    truncate,
    truncate_bytes,
    unique,
    whole_words,
    words,
)

FAMILY = "👩\u200d👩\u200d👧"
ANY = st.text()
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
WORDS = st.frozensets(st.text(min_size=1))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("  a \t b  ", "a b", id="blanks"),
        pytest.param("a\u00a0\u2003b", "a b", id="blanks of every kind"),
        pytest.param("a\r\nb\rc\nd", "a\nb\nc\nd", id="ends of lines"),
        pytest.param("a  \n\n  b", "a\n\n b", id="empty lines stay"),
        pytest.param("\x1b[31mred\x07\x00\x7f\x9b0m", "[31mred0m", id="control characters"),
        pytest.param("cafe\u0301", "café", id="composed"),
        pytest.param("\ud800x", "?x", id="half a surrogate pair"),
        pytest.param(" \n\t ", "", id="nothing"),
        pytest.param(FAMILY, FAMILY, id="emoji"),
    ],
)
def test_clean_text(text, expected):
    assert clean(text) == expected


@given(ANY)
def test_cleaning_twice_is_cleaning_once(text):
    assert clean(clean(text)) == clean(text)


@given(ANY)
def test_clean_text_is_printable_unicode(text):
    cleaned = clean(text)

    assert cleaned.encode("utf-8").decode("utf-8") == cleaned == cleaned.strip()
    assert not [char for char in cleaned if unicodedata.category(char) == "Cc" and char != "\n"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Use WAL", " use\n wal ", id="case and blanks"),
        pytest.param("STRASSE", "Straße", id="sharp s"),
        pytest.param("ﬁle Ⅳ", "file iv", id="ligatures and numerals"),
        pytest.param("ＷＡＬ", "wal", id="full width"),
        pytest.param("cafe\u0301", "CAFÉ", id="composed and decomposed"),
    ],
)
def test_spellings_of_one_sentence_fold_alike(one, other):
    assert fold(one) == fold(other)
    assert dedupe_key(one) == dedupe_key(other)
    assert words(one) == words(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(("a b", None), ("ab", None), id="other words"),
        pytest.param(("a", "x"), ("a", "y"), id="two topics"),
        pytest.param(("a", None), ("a", "x"), id="a topic and none"),
        pytest.param(("1.5", None), ("15", None), id="punctuation"),
    ],
)
def test_what_differs_has_another_key(one, other):
    assert dedupe_key(*one) != dedupe_key(*other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("WAL needs the wal-file", {"wal", "needs", "the", "file"}, id="english"),
        pytest.param("Ärger über naïve Pläne", {"ärger", "über", "naïve", "pläne"}, id="accents"),
        pytest.param("数据库", {"数据", "据库"}, id="chinese in pairs"),
        pytest.param("鍵 は", {"鍵", "は"}, id="single characters"),
        pytest.param("user_id v2", {"user_id", "v2"}, id="identifiers"),
        pytest.param("… — !", set(), id="no words"),
    ],
)
def test_words_of_any_script(text, expected):
    assert words(text) == expected


def test_the_words_of_a_text_are_read_once_for_all_that_compare_it():
    assert words("as often as drafts come") is words("as often as drafts come")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("漢字", True),
        ("한글", True),
        ("ไทย", True),
        ("𠀀", True),
        ("abc é я ع", False),
        ("", False),
    ],
)
def test_scripts_without_blanks_are_distinguished(text, expected):
    assert is_cjk(text) is expected


@given(WORDS, WORDS)
def test_jaccard_is_symmetric_and_a_share(left, right):
    assert jaccard(left, right) == jaccard(right, left)
    assert 0 <= jaccard(left, right) <= 1
    assert (jaccard(left, right) == 1) == (left == right != frozenset())


def test_jaccard_is_what_two_sets_share():
    assert jaccard(frozenset("abc"), frozenset("bcd")) == 0.5
    assert jaccard(frozenset(), frozenset()) == 0


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        pytest.param("abc", 3, "abc", id="fits"),
        pytest.param("abcd", 3, "abc", id="cut"),
        pytest.param("ab cd", 3, "ab", id="no blank at the end"),
        pytest.param("ae\u0301x", 2, "a", id="before an accented letter"),
        pytest.param(f"a{FAMILY}", 3, "a", id="before a family"),
        pytest.param(f"a{FAMILY}", 2, "a", id="within the first of a family"),
        pytest.param("a👍🏽b", 2, "a", id="before a thumb with its skin"),
        pytest.param("a❤\ufe0fb", 2, "a", id="before a heart with its colour"),
        pytest.param("e" + "\u0301" * 9, 5, "e" + "\u0301" * 4, id="one endless character"),
    ],
)
def test_bounded_text_ends_between_visible_characters(text, limit, expected):
    assert truncate(text, limit) == expected


@given(TEXT, st.integers(0, 50))
def test_bounded_text_is_a_beginning_within_the_limit(text, limit):
    cut = truncate(text, limit)

    assert len(cut) <= max(limit, 0) or cut == text
    assert text.startswith(cut)


@given(TEXT, st.integers(0, 100))
def test_bounded_bytes_are_the_longest_beginning(text, limit):
    cut = truncate_bytes(text, limit)

    assert text.startswith(cut)
    assert len(cut.encode()) <= limit
    assert cut == text or len(text[: len(cut) + 1].encode()) > limit


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        pytest.param("one\n two", 7, "one two", id="fits on a line"),
        pytest.param("one two three", 8, "one two…", id="cut"),
        pytest.param("one two three", 9, "one two…", id="no blank before the mark"),
        pytest.param("", 5, "", id="nothing"),
    ],
)
def test_a_preview_is_one_line_and_tells_that_it_was_cut(text, limit, expected):
    assert preview(text, limit) == expected


@given(TEXT, st.integers(1, 40))
def test_a_preview_keeps_its_bound(text, limit):
    shown = preview(text, limit)

    assert len(shown) <= limit
    assert "\n" not in shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Use WAL, always!", "use-wal-always", id="english"),
        pytest.param("snake_case", "snake-case", id="underscores"),
        pytest.param("Größe 漢字", "grösse-漢字", id="any script"),
        pytest.param("../../etc/passwd", "etc-passwd", id="no path"),
        pytest.param("!!!", "", id="nothing to name"),
        pytest.param("a" * 99, "a" * 60, id="bounded"),
    ],
)
def test_slugs(text, expected):
    assert slug(text) == expected


def test_unique_items_keep_their_order():
    assert unique(["b", "a", "b", "c", "a"]) == ("b", "a", "c")


@pytest.mark.parametrize(
    ("text", "head"),
    [
        pytest.param("one two", "one two", id="all of it"),
        pytest.param("one two three", "one", id="no half word"),
        pytest.param("onetwothree", "onetwot", id="one long word"),
    ],
)
def test_a_head_of_whole_words_ends_between_two(text, head):
    assert whole_words(text, 7) == head


CHINESE = "第一句在這裡而且也很長很長很長。"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("One is here.", "One is here.", id="all of it"),
        pytest.param(
            "One is here, and is long. Two is too.", "One is here, and is long. …", id="a sentence"
        ),
        pytest.param("Ein Satz\n\nmit Zeilen", "Ein Satz mit Zeilen", id="lines"),
        pytest.param(
            "Ab. and on without an end of it all", "Ab. and on without an end of…", id="words"
        ),
        pytest.param("x" * 99, "x" * 28 + "…", id="one word"),
        pytest.param(
            CHINESE * 3,
            "第一句在這裡而且也很長很長很長。 …",
            id="no blanks",
        ),
        pytest.param("e.g. version 1.2.3 of it, which is", "e.g. version 1.2.3 of it,…", id="dots"),
    ],
)
def test_an_opening_ends_with_a_sentence_or_a_word(text, told):
    assert opening(text, 30) == told


@given(st.text(max_size=300), st.integers(4, 80))
def test_an_opening_is_one_line_within_its_limit(text, limit):
    told = opening(text, limit)

    assert len(told) <= limit
    assert "\n" not in told
    assert " ".join(text.split()).startswith(told.removesuffix("…").rstrip())


@pytest.mark.parametrize(
    ("count", "noun", "told"),
    [
        pytest.param(0, "error", "0 errors", id="none"),
        pytest.param(1, "memory", "1 memory", id="one"),
        pytest.param(2, "memory", "2 memories", id="y after a consonant"),
        pytest.param(2, "day", "2 days", id="y after a vowel"),
        pytest.param(12_345, "hook failure", "12,345 hook failures", id="thousands"),
    ],
)
def test_a_count_has_the_noun_in_the_singular_or_the_plural(count, noun, told):
    assert counted(count, noun) == told


@pytest.mark.parametrize(
    ("count", "many", "told"),
    [
        pytest.param(1, "candidates", "1 candidate", id="one"),
        pytest.param(1, "memories", "1 memory", id="one of ies"),
        pytest.param(1, "new", "1 new", id="an adjective"),
        pytest.param(1_000, "sessions", "1,000 sessions", id="thousands"),
    ],
)
def test_a_count_takes_the_s_off_a_plural(count, many, told):
    assert join_counts({many: count}, zeros=True) == told


def test_the_digest_is_sha256_of_the_framed_parts():
    assert sha256_hex("ab", "ü") == hashlib.sha256(b"2:ab1:\xc3\xbc").hexdigest()


@given(st.lists(st.text()), st.lists(st.text()))
def test_other_parts_have_another_digest(some, others):
    assert (sha256_hex(*some) == sha256_hex(*others)) == (some == others)


def test_a_lone_surrogate_has_a_digest():
    assert len(sha256_hex("\ud800")) == 64

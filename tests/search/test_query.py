"""What a text asks the indexes for."""

from __future__ import annotations

import pytest

from ademem.search.query import MAX_CHARS, Index, keywords, names_subject, parse

WORDS, GRAMS, ROWS = Index.WORDS, Index.GRAMS, Index.ROWS


def words(*found: str) -> dict[str, Index]:
    return {f'"{word}"': WORDS for word in found}


def grams(*found: str) -> dict[str, Index]:
    return {f'"{gram}"': GRAMS for gram in found}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        pytest.param("how is the cache flushed", words("cache", "flushed"), id="words"),
        pytest.param("to be or not", words("to", "be", "or", "not"), id="only stop words"),
        pytest.param("Cache of CACHE at night", words("cache", "night"), id="each word once"),
        pytest.param("NEAR(a_b* col:x^2)", words("near", "a_b", "col", "x", "2"), id="operators"),
        pytest.param(
            'where is "shared memory" used',
            words("shared", "memory", "used", "shared memory"),
            id="a quoted phrase is one more term",
        ),
        pytest.param('a screen 5" or " wide', words("screen", "5", "wide"), id="stray quotes"),
        pytest.param("接続プール!", grams("接続プ", "続プー", "プール"), id="no blanks"),
        pytest.param("接続 が", {"接続": ROWS, "が": ROWS}, id="too short for a trigram"),
        pytest.param("SQLiteの接続", words("sqlite") | grams("の接続"), id="two scripts"),
        pytest.param("a\0b \ud800?", words("b"), id="NUL and half a surrogate pair"),
        pytest.param("?!… 🎉", {}, id="no word at all"),
        pytest.param("", {}, id="nothing"),
    ],
)
def test_a_text_becomes_terms_without_operators(text, terms):
    assert parse(text).terms == terms


@pytest.mark.parametrize(
    ("text", "last"),
    [
        pytest.param("deploy", '("deploy" OR "deploy" *)', id="one word"),
        pytest.param("rate limit log", '("log" OR "log" *)', id="three words"),
        pytest.param("deploy ", '("deploy" OR "deploy" *)', id="a blank behind it"),
        pytest.param("deploy.", '"deploy"', id="a full stop behind it"),
        pytest.param("fix the rate limit", '"limit"', id="a prompt"),
    ],
)
def test_the_last_word_of_a_typed_query_may_go_on(text, last):
    assert list(parse(text).terms)[-1] == last


def test_a_typed_query_can_be_looked_up_inside_of_words_and_a_prompt_cannot():
    assert parse("go figur").substrings == grams("figur")
    assert parse("please go and figure it out").substrings == {}


def test_the_words_of_a_short_prompt_are_no_parts_of_others():
    assert parse("ja", is_typed=False).terms == {'"ja"': Index.WORDS}
    assert parse("mach weiter", is_typed=False).substrings == {}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        pytest.param(" auth/token-life ", "auth/token-life", id="a topic key"),
        pytest.param("3f9a", "3f9a", id="an id"),
        pytest.param("two words", None, id="words"),
        pytest.param(" ", None, id="nothing"),
    ],
)
def test_only_a_single_word_may_be_an_id_or_a_key(text, key):
    assert parse(text).key == key


def test_of_a_huge_text_both_ends_are_read():
    terms = parse("first " + "paste " * 100_000 + "middle " + "paste " * 100_000 + "last").terms

    assert '"first"' in terms
    assert '"last"' in terms
    assert '"middle"' not in terms


def test_a_text_of_one_endless_word_is_bounded():
    terms = parse("x" * 1_000_000).terms

    assert max(map(len, terms)) < MAX_CHARS


def test_keywords_are_the_longest_telling_words_in_their_order():
    found = keywords("Please fix the flaky login test of the authentication service", 3)

    assert found == "flaky authentication service"


@pytest.mark.parametrize(
    "text", ["go", "ok fix", "yes, go on", "do it", "?!", "2", "use [redacted:token] here"]
)
def test_an_order_of_anything_has_no_keywords(text):
    assert keywords(text, 3) == ""


GOES_ON = """
yes, go on
ok fix it
commit this
go ahead with option 2
sounds good, implement it
same error again
run the tests again
lgtm, commit and push
no, revert that change
open a pull request
keep going until the tests pass
how is it going
update the changelog and tag a release
"""
SAYS_WHAT = """
ok, fix the login
why do sessions expire after an hour?
how do we release?
how do I run the tests
add an index on orders.customer
use `int` here
src/app.ts
rename useOrders
E4020 again
bump to v2
mach den Rechnungslauf schneller
corrige el pago duplicado
注文の一覧が遅い
поправь оплату
"""


@pytest.mark.parametrize("prompt", GOES_ON.strip().splitlines())
def test_a_prompt_that_lets_the_work_go_on_names_no_subject(prompt):
    assert not names_subject(prompt)


@pytest.mark.parametrize("prompt", SAYS_WHAT.strip().splitlines())
def test_a_prompt_with_a_key_or_a_telling_word_names_its_subject(prompt):
    assert names_subject(prompt)

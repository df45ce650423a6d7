"""Keys of topics have one form, and one text always gets the same suggestion."""

import pytest

from ademem.operations.writing import FAMILIES, normalize_key, suggest_topic_key


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        pytest.param("decision/invoice-rounding", "decision/invoice-rounding", id="as it is"),
        pytest.param("Decision / Invoice  Rounding!", "decision/invoice-rounding", id="blanks"),
        pytest.param("bug//src/app.py", "bug/src/app-py", id="a path"),
        pytest.param("config/数据库_缓存", "config/数据库-缓存", id="CJK"),
        pytest.param("🚀", None, id="nothing left"),
        pytest.param("a/" + "x" * 300, "a/" + "x" * 100, id="a long segment"),
    ],
)
def test_a_key_is_brought_into_its_form(key, expected):
    assert normalize_key(key) == expected


@pytest.mark.parametrize(
    ("type", "text", "family"),
    [
        *((family, "Invoices", family) for family in FAMILIES),
        pytest.param("bugfix", "Invoices", "bug", id="bugfix"),
        pytest.param("policy", "Invoices", "decision", id="policy"),
        pytest.param(None, "The port of the proxy is a setting", "config", id="words"),
        pytest.param(None, "We decided against Redis", "decision", id="decided"),
        pytest.param("perf", "Invoices are rounded", "topic", id="neither"),
    ],
)
def test_the_family_comes_from_the_type_else_from_the_words(type, text, family):
    assert suggest_topic_key(type, None, text).partition("/")[0] == family


def test_suggestions_are_distinct_not_empty_and_always_the_same():
    """Row E9 of suggested keys."""

    texts = ["Café au lait", "Cafe au lait", "数据库缓存", "数据库索引", "🚀🚀", "🚀", "x" * 500]
    keys = [suggest_topic_key(None, None, text) for text in texts]

    assert len(set(keys)) == len(texts)
    assert all(key.partition("/")[2] for key in keys)
    assert all(len(key) <= 120 for key in keys)
    assert keys == [suggest_topic_key(None, None, text) for text in texts]
    assert [normalize_key(key) for key in keys] == keys

"""What sets two texts apart although their words are almost the same."""

from __future__ import annotations

import pytest

from ademem.search.opposition import contradicts


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param("tests run in CI", "tests do not run in CI", id="not"),
        pytest.param("you can retry", "you can't retry", id="contraction"),
        pytest.param("retry always", "retry never", id="never"),
        pytest.param("migrate before deploy", "migrate after deploy", id="before and after"),
        pytest.param("Tests laufen", "Tests laufen nicht", id="German"),
        pytest.param("тесты идут", "тесты не идут", id="Russian"),
        pytest.param("测试在主干上运行", "测试不在主干上运行", id="Chinese"),
        pytest.param("waits 30 seconds", "waits 60 seconds", id="number"),
        pytest.param("needs version 1.2.3", "needs version 3.2.1", id="version"),
        pytest.param("migrate from 14 to 15", "migrate from 15 to 14", id="order of numbers"),
        pytest.param("call load_all here", "call load_one here", id="snake case"),
        pytest.param("call loadAll here", "call loadOne here", id="camel case"),
        pytest.param("see src/a.py", "see src/b.py", id="path"),
        pytest.param("pass --fast to it", "pass --slow to it", id="flag"),
        pytest.param("we deploy on Kafka", "we deploy on Redis", id="name"),
    ],
)
def test_texts_at_odds_are_not_one(left, right):
    assert contradicts(left, right)
    assert contradicts(right, left)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param("tests run in CI", "all tests run in CI", id="one word more"),
        pytest.param("Port 6379 is taken", "port 6379 is taken.", id="case and full stop"),
        pytest.param("use `load_all` there", "use load_all there", id="quoting"),
        pytest.param("- never on Friday", "* never on Friday", id="bullet"),
    ],
)
def test_texts_that_agree_may_be_one(left, right):
    assert not contradicts(left, right)

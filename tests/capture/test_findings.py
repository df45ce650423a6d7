"""What a message calls a finding is one; what only sounds like it is not."""

import re

import pytest

from ademem.capture import message_lessons as module
from ademem.capture.message_lessons import MAX_FINDINGS, findings
from ademem.core.memory import Category

SAID = "the proxy rewrites the host header"


@pytest.mark.parametrize(
    ("line", "category"),
    [
        (f"Root cause: {SAID}", Category.GOTCHA),
        (f"**Root cause:** {SAID}", Category.GOTCHA),
        (f"1. **Root cause**: {SAID}", Category.GOTCHA),
        (f"- Gotcha: {SAID}", Category.GOTCHA),
        (f"> PITFALL: {SAID}", Category.GOTCHA),
        (f"## Decision: {SAID}", Category.DECISION),
        (f"_Convention_: {SAID}", Category.CONVENTION),
        (f"Pattern: {SAID}", Category.PATTERN),
        (f"Lesson learned: {SAID}", Category.FACT),
        (f"Finding: {SAID}", Category.FACT),
        (f"Ursache: {SAID}", Category.GOTCHA),
        (f"Fixed it.\n\nRoot cause: {SAID}\n\nDone.", Category.GOTCHA),
    ],
)
def test_a_line_with_a_label_is_a_finding(line, category):
    assert findings(line) == [(category, SAID)]


@pytest.mark.parametrize(
    "message",
    [
        f"I looked for the root cause: {SAID}",
        f"The decision: {SAID}",
        "Root cause: unknown",
        "Root cause: is it the proxy or the cache that does it?",
        "Decision: which of these do you want to have:",
        f"```\nRoot cause: {SAID}\n```",
        f"<ademem-memory>\nGotcha: {SAID}\n</ademem-memory>",
        f"- [gotcha] Gotcha: {SAID} (79a1d49e4dc0, user, 2026-01-01)",
        "Gotcha: " + "word " * 200,
        f"causes: {SAID}",
        "",
    ],
)
def test_anything_else_is_none(message):
    assert findings(message) == []


def test_a_text_without_blanks_counts_by_its_signs():
    assert findings("Gotcha: 代理会重写主机头，所以会话丢失") == [
        (Category.GOTCHA, "代理会重写主机头，所以会话丢失")
    ]


def test_a_finding_is_reported_once_and_many_are_cut():
    twice = f"Gotcha: {SAID}\nGotcha: {SAID.upper()}\n"
    many = "\n".join(f"Gotcha: the {number}th proxy rewrites the host" for number in range(50))

    assert findings(twice) == [(Category.GOTCHA, SAID)]
    assert len(findings(many)) == MAX_FINDINGS


@pytest.mark.parametrize("piece", ["\n", " \n", "> \n", "- \n"])
def test_what_may_stand_before_a_label_ends_with_its_line(piece):
    """Else each line of a run is looked at once for every line above it."""
    edge = re.compile(module._EDGE)
    text = piece * 50

    read = sum(len(edge.match(text, at)[0]) for at in range(0, len(text), len(piece)))
    assert read < len(text)

"""The form of a draft: readable, redacted, of a known kind and size."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from ademem.capture.gate.form import Insert, Reject
from ademem.core.memory import Draft, Importance, Origin, Scope, Trust
from ademem.core.text import slug
from tests.builders import NOW
from tests.capture.gate.lookup import judged

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8" * 3


def kept(draft: Draft):
    verdict = judged(draft).verdict
    assert isinstance(verdict, Insert), verdict.why
    return verdict.draft


def refusal(draft: Draft):
    outcome = judged(draft)
    assert isinstance(outcome.verdict, Reject)
    return outcome.rule, outcome.verdict.why


@pytest.mark.parametrize(
    ("given", "scope", "owner"),
    [
        pytest.param("project", Scope.PROJECT, None, id="a project memory belongs to nobody"),
        pytest.param("user", Scope.AGENT, "ada", id="user is an agent"),
        pytest.param(" Lane ", Scope.MISSION, "ada", id="lane is a mission"),
    ],
)
def test_scope_and_owner_have_one_spelling(given, scope, owner):
    draft = kept(Draft(content="WAL needs shared memory", scope=given, owner=" ada "))

    assert (draft.scope, draft.owner) == (scope, owner)


@pytest.mark.parametrize(
    ("given", "category", "tags"),
    [
        pytest.param("Gotcha", "gotcha", (), id="a category"),
        pytest.param("bugfix", "gotcha", ("bugfix",), id="a type of observation stays as a tag"),
        pytest.param("session summary", "handoff", ("session_summary",), id="two words"),
    ],
)
def test_a_category_may_be_given_as_a_type(given, category, tags):
    draft = kept(Draft(content="WAL needs shared memory", category=given))

    assert (draft.category, draft.tags) == (category, tags)


@pytest.mark.parametrize(
    ("fields", "rule", "hint"),
    [
        pytest.param({"scope": "team"}, "normal_form", "agent, mission, personal", id="scope"),
        pytest.param({"importance": "urgent"}, "normal_form", "low, medium, high", id="importance"),
        pytest.param({"category": "note"}, "known_category", "fact, preference", id="category"),
    ],
)
def test_a_word_nobody_knows_is_refused_with_those_that_are(fields, rule, hint):
    decided_by, why = refusal(Draft(content="WAL needs shared memory", **fields))

    assert decided_by == rule
    assert hint in why


def test_text_is_stored_in_one_unicode_form_without_stray_blanks():
    draft = kept(
        Draft(
            content=" Cafe\u0301  lists\r\nneed\x00 ids \ud800",
            title=" two\nlines ",
            importance="HIGH",
            topic_key="  ",
            tags=("#API", "api", "two words", " "),
        )
    )

    assert draft.content == "Café lists\nneed ids ?"
    assert draft.title == "two lines"
    assert draft.importance is Importance.HIGH
    assert draft.topic_key is None
    assert draft.tags == ("api", "two-words")


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        pytest.param(NOW - timedelta(days=9), NOW - timedelta(days=9), id="the past stays"),
        pytest.param(NOW + timedelta(days=9), NOW, id="the future is now"),
        pytest.param(
            datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=NOW.tzinfo), id="no zone is UTC"
        ),
        pytest.param(datetime(1, 1, 1), None, id="year 1 is not a time"),
    ],
)
def test_a_memory_has_a_plausible_age(given, stored):
    assert kept(Draft(content="WAL needs shared memory", created_at=given)).created_at == stored


def test_no_field_keeps_a_secret():
    draft = kept(
        Draft(
            content=f"the bot uses {TOKEN}",
            title=f"token {TOKEN}",
            topic_key=f"auth/{TOKEN}",
            knowledge_key=f"learned-{TOKEN}",
            tags=(TOKEN,),
            path=f"src/{TOKEN}.py",
        )
    )

    assert TOKEN.lower() not in repr(draft).lower()
    assert draft.content == "the bot uses [redacted:github-token]"
    assert draft.notes == ("redacted: github-token",)


def test_a_key_made_from_the_text_follows_it():
    content = f"the bot\x00 uses {TOKEN}"

    draft = kept(Draft(content=content, knowledge_key=f"learned-{slug(content)}"))

    assert draft.knowledge_key == "learned-the-bot-uses-redacted-github-token"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("", id="empty"),
        pytest.param(" \n\t", id="blank"),
        pytest.param("<private>all of it</private>", id="only private"),
        pytest.param(TOKEN, id="only a secret"),
        pytest.param("… --- !", id="only punctuation"),
        pytest.param("\u200b\u2060", id="only invisible characters"),
    ],
)
def test_a_draft_that_says_nothing_is_refused(content):
    rule, why = refusal(Draft(content=content))

    assert rule == "redaction"
    assert "say what was learned" in why
    assert ("private" in why) == (content == TOKEN or "private" in content)


@pytest.mark.parametrize("content", ["🎉", "漢字", "42", "[private] is a tag of ours"])
def test_a_sign_is_enough_to_say_something(content):
    assert kept(Draft(content=content)).content == content


@pytest.mark.parametrize(
    ("category", "trust", "promoted", "strict"),
    [
        pytest.param("gotcha", Trust.USER, True, True, id="a strict category is confirmed"),
        pytest.param("fact", Trust.USER, False, False, id="another is written as usual"),
        pytest.param("gotcha", Trust.AGENT, False, True, id="an agent cannot confirm itself"),
        pytest.param("gotcha", Trust.TOOL, False, True, id="a machine cannot confirm itself"),
    ],
)
def test_strict_mode_confirms_what_it_is_for(category, trust, promoted, strict):
    draft = kept(
        Draft(
            content="WAL needs shared memory",
            category=category,
            strict=True,
            origin=Origin(trust=trust),
        )
    )

    assert (draft.promoted, draft.strict) == (promoted, strict)
    assert any("ordinary" in note for note in draft.notes) is not strict


@pytest.mark.parametrize(
    ("content", "title", "size", "note"),
    [
        pytest.param("x" * 2000, None, 2000, None, id="just fits"),
        pytest.param(
            "x" * 2001,
            None,
            2000,
            "truncated: it had 2,001 characters",
            id="too long",
        ),
        pytest.param("x" * 49_998 + "é", "T", 50_000, None, id="with a title just fits"),
        pytest.param(
            "x" * 49_998 + "🎉",
            "T",
            49_998,
            "truncated: it had 50,002 bytes",
            id="no half of a sign",
        ),
    ],
)
def test_a_long_text_is_cut_and_the_note_says_how_long_it_was(content, title, size, note):
    draft = kept(Draft(content=content, title=title))

    assert len(draft.content.encode()) == size
    assert draft.notes == ((note,) if note else ())


@pytest.mark.parametrize("name", ["topic_key", "knowledge_key", "bead", "path"])
def test_a_key_or_path_that_no_other_copy_reads_is_left_out(name):
    fits = kept(Draft(content="WAL needs shared memory", **{name: "k" * 2000}))
    draft = kept(Draft(content="WAL needs shared memory", **{name: "k" * 2001}))

    assert (getattr(fits, name), fits.notes) == ("k" * 2000, ())
    assert getattr(draft, name) is None
    assert draft.notes == (f"without {name}: it had 2,001 characters",)


def test_a_combined_sign_is_not_cut_in_two():
    draft = kept(Draft(content="x" * 1999 + "q\u0323\u0307" + "y"))

    assert draft.content == "x" * 1999

"""Entries that git put together of several, where it merged the pages without our driver."""

from __future__ import annotations

import json

import pytest

from ademem.core import git
from ademem.store import kept_copies, memories
from ademem.sync.git_history import GitHistory
from tests.sync.histories import begin, texts
from tests.sync.team import add, retag, retitle, rewrite

PAGE = "patterns.md"


@pytest.fixture
def two(team):
    """Both have one titled memory; git merges by lines, and keeps those of both sides."""
    with team.history("merge=union", 2) as members:
        begin(members, [(add, 2, 3), (retitle, 0, 2)])
        yield members


def row_of(member):
    (found,) = member.rows()
    return found


def typed(member, old, new):
    """By hand, and committed by somebody who has no ademem."""
    text = member.pages()[PAGE]
    assert old in text
    member.write(PAGE, text.replace(old, new))
    member.commit()
    return member.head()


def taken(member, tip):
    """What the page says after git merged, and what the store says after the import."""
    assert member.merge(tip)
    page = member.pages()[PAGE]
    member.share()
    assert member.refresh().taken.count == 0
    return page, member.texts()


def test_an_entry_of_two_texts_is_neither_of_them(two):
    ours, theirs = two
    retag(ours, 0, 1)
    ours.share()
    rewrite(theirs, 3, 2)
    theirs.share()
    said = texts(ours.told()) | texts(theirs.told())
    page, known = taken(ours, theirs.head())

    assert "tags: api\n  " in page  # git put both into one entry
    assert known <= said
    assert row_of(ours).content == row_of(theirs).content


def test_only_merges_that_combined_a_page_are_looked_at_and_all_by_few_runs_of_git(
    two, monkeypatch
):
    ours, theirs = two
    retag(ours, 0, 1)
    ours.share()
    rewrite(theirs, 3, 2)
    theirs.share()
    taken(ours, theirs.head())  # both changed the page
    add(theirs, 1, 0)
    theirs.share()
    taken(ours, theirs.head())  # one of them did
    path, runs, run = f".ade/memory/{PAGE}", [], git.run

    def count(root, command, *given, **more):
        runs.append(command)
        return run(root, command, *given, **more)

    monkeypatch.setattr(git, "run", count)
    found = list(GitHistory(root=ours.root, since="HEAD").read_merges(path))
    assert runs == ["rev-list", "cat-file", "merge-base", "cat-file"]

    *_, line = ours.git("rev-list", "--merges", "--parents", "HEAD").stdout.split("\n")[:-1]
    merge, *sides = line.split()
    base = ours.git("merge-base", *sides).stdout.strip()
    shown = [ours.git("show", f"{sha}:{path}").stdout for sha in (base, *sides, merge)]
    assert found == [tuple(shown)]


def test_two_texts_typed_at_once_are_one_memory_and_a_candidate(two):
    ours, theirs = two
    tip = typed(theirs, "lesson 23 of 0 counts", "their own words")
    typed(ours, "lesson 23 of 0 counts", "our own words")
    page, known = taken(ours, tip)

    assert page.count("<!-- ") == 1
    assert known == {"our own words", "their own words"}
    (shared,) = ours.told().values()
    others = "id <> :id and kept_of is null"
    (candidate,) = memories.find(ours.store, others, id=shared["id"])
    assert (shared["status"], candidate.status) == ("promoted", "candidate")
    assert {shared["content"], candidate.content} == known


def test_what_a_person_stated_stays_in_force_until_they_decide_about_what_was_merged(two):
    ours, theirs = two
    taken(ours, typed(theirs, "lesson 23 of 0 counts", "their own words"))

    assert ours.texts() == {"their own words"}
    (copy,) = kept_copies.find_all(ours.store)
    assert (copy.content, copy.status) == ("lesson 23 of 0 counts", "promoted")
    assert kept_copies.find_all(theirs.store) == []
    assert copy.content not in json.dumps(ours.pages())


def test_three_texts_that_two_merges_combined_before_an_import_are_taken_apart(team):
    with team.history("merge=union", 3) as members:
        begin(members, [(add, 2, 3), (retitle, 0, 2)])
        words = ("the words of Ann", "the words of Ben", "the words of Kim")
        _, *tips = [
            typed(member, "lesson 23 of 0 counts", text)
            for member, text in zip(members, words, strict=True)
        ]
        for tip in tips:
            assert members[0].merge(tip)
        members[0].share()

        assert members[0].texts() == set(words)
        assert members[0].refresh().taken.count == 0


def test_different_fields_that_two_people_typed_are_both_taken(two):
    ours, theirs = two
    tip = typed(theirs, "lesson 23 of 0 counts", "their own words")
    typed(ours, "lesson 23 of 0 counts", "lesson 23 of 0 counts\n  - tags: web")
    _, known = taken(ours, tip)

    assert known == {"their own words"}
    assert row_of(ours).tags == ("web",)


def test_a_text_that_somebody_wrote_into_a_merge_is_taken_as_it_is(two):
    ours, theirs = two
    tip = typed(theirs, "lesson 23 of 0 counts", "their own words")
    typed(ours, "lesson 23 of 0 counts", "our own words")
    ours.git("merge", "--quiet", "--no-commit", tip)
    text = ours.pages()[PAGE]
    block = text[text.index("  our own words") :]
    ours.write(PAGE, text.replace(block, "  the words of both\n"))
    ours.commit("merge")
    ours.share()

    assert ours.texts() == {"the words of both"}


def test_a_teammates_edit_that_only_takes_lines_away_is_an_edit(two):
    ours, theirs = two
    typed(theirs, "lesson 23 of 0 counts", "first line\n  second line")
    theirs.share()
    ours.git("merge", "--quiet", theirs.head())
    ours.share()
    tip = typed(theirs, "\n  second line", "")
    add(ours, 1, 0)
    ours.share()
    taken(ours, tip)

    assert "first line" in ours.texts()

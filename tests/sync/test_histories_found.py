"""Histories, made as short as they get, that random ones found to end wrongly once."""

from __future__ import annotations

from itertools import count

import pytest

from ademem.core.settings import MirrorSettings, Settings
from ademem.store import memories, transitions
from ademem.store.replication import CONFLICT
from tests.examples import FULL, some
from tests.sync import team as team_
from tests.sync.histories import all_orders, begin, lossless, work
from tests.sync.team import (
    add,
    archive,
    delete,
    hand_add,
    hand_delete,
    hand_edit,
    hand_move,
    move,
    pin,
    retag,
    retitle,
    rewrite,
    share,
)

TURNS = count()


@pytest.fixture(params=["no sheet", "a sheet of candidates"] if FULL else ["by turns"])
def sheet(request, monkeypatch):
    """Give everybody a sheet of candidates, in every other history unless in a full run."""
    has_one = next(TURNS) % 2 == 1 if request.param == "by turns" else request.param != "no sheet"
    settings = Settings(mirror=MirrorSettings(candidates=has_one))
    monkeypatch.setattr(team_, "SETTINGS", settings)


@pytest.mark.parametrize(
    ("start", "branches"),
    some(
        [
            pytest.param(
                [], [[(add, 0, 3), (retag, 1, 3)], [(add, 0, 3)]], id="learned twice, tagged once"
            ),
            pytest.param(
                [(add, 0, 1)],
                [[(delete, 2, 3), (add, 0, 3)], [(hand_add, 0, 1), (rewrite, 0, 3)]],
                id="what comes back had a text that another one has by now",
            ),
            pytest.param(
                [(add, 0, 1), (add, 1, 3), (rewrite, 3, 0)],
                [[(delete, 1, 3), (rewrite, 0, 1)], [(move, 1, 1)]],
                id="twins know each the same of the other",
            ),
            pytest.param(
                [(add, 0, 1), (delete, 0, 2)], [[], [(add, 0, 1)]], id="learned again after it went"
            ),
            pytest.param(
                [(add, 1, 2), (add, 3, 0), (delete, 2, 0)],
                [[(retag, 0, 3)], [(hand_edit, 2, 2), (share, 2, 2), (archive, 2, 2)], []],
                id="whoever archived it had edited the text before",
            ),
            pytest.param(
                [(add, 2, 1)],
                [[(pin, 0, 0)], [(archive, 0, 1)], [(rewrite, 2, 3), (delete, 0, 3)]],
                id="archived twice, with two texts",
            ),
            pytest.param(
                [(add, 1, 0)],
                [[(hand_move, 3, 2)], [(hand_move, 2, 1)], [(retitle, 2, 2)]],
                id="moved to two topics",
            ),
            pytest.param(
                [(add, 1, 0)],
                [
                    [(rewrite, 3, 1), (add, 1, 0)],
                    [(hand_edit, 1, 1)],
                    [(add, 2, 0), (archive, 3, 1), (move, 1, 2)],
                ],
                id="moved on one side, rewritten on both others",
            ),
            pytest.param(
                [(add, 2, 3)],
                [[(hand_edit, 3, 2)], [(hand_delete, 3, 1)], [(move, 3, 0), (delete, 1, 0)]],
                id="archived in two topics, rewritten in one",
            ),
            pytest.param(
                [(add, 1, 2)],
                [[(retag, 1, 1)], [(archive, 0, 0)], [(rewrite, 1, 0)]],
                id="tagged, archived, rewritten",
            ),
            pytest.param(
                [(add, 1, 2)],
                [[(rewrite, 1, 0)], [(archive, 0, 0)], [(pin, 1, 1)]],
                id="rewritten, archived, pinned",
            ),
            pytest.param(
                [(add, 1, 2)],
                [[(rewrite, 0, 0)], [(rewrite, 0, 1)], [(rewrite, 0, 0), (archive, 0, 0)]],
                id="of two texts that wait, whoever archived it had written one, too",
            ),
            pytest.param(
                [(add, 1, 2)],
                [
                    [(move, 1, 3), (rewrite, 1, 2)],
                    [(archive, 0, 0)],
                    [(rewrite, 1, 0), (pin, 2, 2)],
                ],
                id="moved and rewritten, archived, rewritten and pinned",
            ),
            pytest.param(
                [(add, 1, 2)],
                [[(rewrite, 0, 0)], [(rewrite, 0, 1)], [(rewrite, 0, 0)]],
                id="the oldest and the newest rewrite say the same",
            ),
            pytest.param(
                [(add, 1, 2)],
                [[(rewrite, 0, 0)], [(rewrite, 0, 1)], [(rewrite, 0, 0)], [(rewrite, 0, 2)]],
                id="a text that lost, won and lost again",
            ),
            pytest.param(
                [(add, 1, 2)],
                [[(rewrite, 0, 0)], [(rewrite, 0, 1)], [(rewrite, 0, 0)], [(archive, 0, 0)]],
                id="a text that lost, won and was archived unseen",
            ),
            pytest.param(
                [(add, 0, 1), (add, 0, 3), (rewrite, 1, 0)],
                [[(rewrite, 0, 2), (delete, 3, 3)], [(rewrite, 0, 2), (delete, 3, 3)]],
                id="both wrote the same and deleted it",
            ),
            pytest.param(
                [(add, 0, 0)],
                [[(add, 0, 0)], [(rewrite, 0, 1), (archive, 0, 1)], [(add, 0, 0)]],
                id="learned again by two while the third rewrote and archived it",
            ),
            pytest.param(
                [(add, 0, 0), (add, 2, 0), (archive, 0, 0)],
                [
                    [(add, 0, 0), (add, 0, 0), (add, 1, 0), (hand_edit, 2, 0), (add, 0, 0)],
                    [(add, 0, 0), (retitle, 3, 3), (delete, 1, 0)],
                    [(add, 0, 0), (add, 0, 3)],
                ],
                id="a merge that git refuses",
            ),
        ],
        2,
    ),
)
def test_with_the_driver_everybody_ends_with_the_same(team, sheet, start, branches):
    all_orders(team, start, branches)


def _lost(act):
    """Done to the text that lost."""

    def done(member, which, value):
        (row,) = (row for row in memories.find(member.store, "true") if CONFLICT in row.tags)
        act(row.id, member.act)

    return done


@pytest.mark.parametrize(
    "done",
    [
        pytest.param([], id="nothing"),
        pytest.param([(_lost(transitions.promote), 0, 0)], id="confirmed"),
        pytest.param([(_lost(transitions.archive), 0, 0)], id="archived"),
    ],
)
def test_what_was_done_to_a_text_that_lost_meets_the_memory_that_says_it(team, sheet, done):
    with team.history("merge=ademem", 3) as members:
        begin(members, [(add, 1, 2)])
        first, second, third = members
        one = work(first, [(rewrite, 0, 0)])
        other = work(second, [(rewrite, 0, 1)])
        newest = work(third, [(rewrite, 0, 0)])
        assert first.merge(other)
        first.share()
        decided = work(first, done)
        for commit in (one, other):
            assert third.merge(commit)
            third.share()
        pulled = third.head()
        meetings = ((second, decided), (second, newest), (first, pulled), (third, decided))
        for member, commit in meetings:
            assert member.merge(commit)
            member.share()

        assert first.told() == second.told() == third.told()
        assert first.pages() == second.pages() == third.pages()
        assert first.texts() == {"lesson 0 of all counts", "lesson 1 of all counts"}
        assert first.refresh().taken.count == 0


@pytest.mark.parametrize("merging", ["merge=union", "!merge"])
@pytest.mark.parametrize(
    ("start", "branches"),
    some(
        [
            pytest.param(
                [],
                [[], [(hand_add, 0, 0), (share, 1, 0), (hand_edit, 2, 0)], [(hand_add, 0, 0)]],
                id="typed twice, edited once",
            ),
            pytest.param(
                [], [[(add, 0, 0)], [(add, 0, 0), (delete, 0, 0)]], id="let go by one of two"
            ),
            pytest.param(
                [(add, 2, 3), (retitle, 3, 2)],
                [[(retag, 0, 1)], [(rewrite, 3, 2)]],
                id="tags beside a text",
            ),
            pytest.param(
                [(add, 2, 3), (retitle, 3, 2)],
                [[(add, 0, 3)], [(rewrite, 3, 2), (retag, 2, 2)]],
                id="the lines of a neighbour",
            ),
            pytest.param(
                [(add, 0, 3), (add, 2, 3), (retitle, 0, 1)],
                [[(retitle, 0, 3)], [(hand_delete, 3, 0)]],
                id="a title alone",
            ),
        ],
        2,
    ),
)
def test_without_the_driver_nothing_is_lost(team, merging, start, branches):
    lossless(team, merging, start, branches)

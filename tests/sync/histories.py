"""What has to hold of random histories over real repositories, whatever git does with the files."""

from __future__ import annotations

import json
import operator

from hypothesis import given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from ademem.operations import curation
from ademem.synthesis.undoing import undo_event
from tests.examples import FULL
from tests.sync import team as team_
from tests.sync.clone import without_stamps
from tests.sync.team import BY_COMMAND, BY_HAND, COMMITS, add

MANY = 20 if FULL else 0.2
"""Factor of the numbers of histories below: 70 in all, or 2,300 in a full run."""
ALL = (*BY_COMMAND, *BY_HAND, *COMMITS)


def acts(names, least, most):
    act = st.tuples(st.sampled_from(names), st.integers(0, 3), st.integers(0, 3))
    return st.lists(act, min_size=least, max_size=most)


def histories(examples, branches):
    """Something is there first, and everybody does something with it."""
    begun = st.builds(operator.add, acts([add], 1, 3), acts(BY_COMMAND, 0, 4))
    done = st.lists(acts(ALL, 1, 6), min_size=branches[0], max_size=branches[1])
    return random(examples, start=begun, branches=done)


def random(examples, **strategies):
    """The same ones in every run."""

    def wrapped(test):
        settings = hypothesis(derandomize=True, max_examples=round(examples * MANY), database=None)
        return settings(given(**strategies)(test))

    return wrapped


def begin(members, start):
    """The first member's memory, as the others have it from a fresh clone."""
    first, *others = members
    for act, which, value in start:
        act(first, which, value)
    first.git("add", ".ade/.gitattributes", ".ade/.gitignore")
    first.share()
    base = first.head()
    for other in others:
        other.git("reset", "--quiet", "--hard", base)
        other.refresh()
    return base


def work(member, done):
    for act, which, value in done:
        act(member, which, value)
    member.share()
    return member.head()


def all_orders(team, start, branches):
    """Each member merges the others, beginning with another one."""
    with team.history("merge=ademem", len(branches)) as members:
        begin(members, start)
        base = members[0].told()
        tips = [work(member, done) for member, done in zip(members, branches, strict=True)]
        said = [member.told() for member in members]
        let_go = set().union(*(member.gone() for member in members))
        for member in members:
            for step in range(1, len(members)):
                assert member.merge(tips[(member.number + step) % len(members)])
                member.share()

        meet(members)
        for member in members:  # what could wait
            member.refresh()
            member.commit()
        first, told = members[0].pages(), members[0].told()
        assert "<<<<" not in json.dumps(first)
        for member in members:
            assert member.told() == told
            assert member.pages() == first
            assert member.refresh().taken.count == 0
            assert member.git("status", "--porcelain", "--", team_.FOLDER).stdout == ""
            for side in said:
                assert texts(side) - texts(base) - let_go <= member.texts()


def meet(members):
    """Whoever was told only that a memory went hears of its text, if it is known elsewhere.

    A second time where the text that somebody heard so is one that others have not heard of.
    """
    for _ in range(2):
        if all(member.pages() == members[0].pages() for member in members):
            return
        first, *others = members
        for member in others:
            assert first.merge(member.head())
            first.share()
        for member in others:
            assert member.merge(first.head())
            member.share()


def texts(told):
    return {record["content"] for record in told.values()}


def settled(member):
    """A person who knows no driver keeps both sides of each conflict, and commits."""
    for name, text in member.pages().items():
        marked = ("<<<<<<< ", "=======", ">>>>>>> ")
        lines = [line for line in text.splitlines(keepends=True) if not line.startswith(marked)]
        member.write(name, "".join(lines))
    member.commit("merge")


def lossless(team, merging, start, branches):
    """Without the driver texts may come twice, but none is lost and what nobody touched stays.

    Lost is not what another one knew, and let go. One of the team merges what the others did, and
    so does somebody who reads nothing of it before all is in the files.
    """
    with team.history(merging, len(branches) + 1) as members:
        begin(members, start)
        *workers, newcomer = members
        base = newcomer.told()
        tips = [work(member, done) for member, done in zip(workers, branches, strict=True)]
        said = [member.told() for member in workers]
        let_go = set().union(*(member.gone() for member in workers))
        for merger, theirs in ((workers[0], tips[1:]), (newcomer, tips)):
            for tip in theirs:
                if not merger.merge(tip):
                    settled(merger)
                if merger is not newcomer:
                    merger.share()
            merger.share()

            assert "<<<<" not in json.dumps(merger.pages())
            for side in said:
                assert texts(side) - texts(base) - let_go <= merger.texts()
            told = merger.told()
            untouched = {id for id in base if all(side.get(id) == base[id] for side in said)}
            assert {id: told.get(id) for id in untouched} == {id: base[id] for id in untouched}
            assert merger.refresh().taken.count == 0
            assert merger.refresh().written == ()


def takes_back(team, done, back):
    """After the last *back* acts were taken back, all is as it was before them."""
    with team.history("merge=ademem", 1) as (member,):
        states = []
        for act, which, value in done:
            member.refresh()
            states.append((events(member), said(member)))
            act(member, which, value)
        member.refresh()
        before, was = states[max(0, len(states) - back)] if states else (events(member), None)
        for event in events(member)[: len(events(member)) - len(before)]:
            undo_event(event, member.act)
        member.refresh()
        assert was is None or said(member) == was


def events(member):
    return [event.id for event in curation.list_events(member, 1000)]


def said(member):
    """What the files and an export say; to take back is a later write, with stamps of its own."""
    return without_stamps(member.pages()), member.export()

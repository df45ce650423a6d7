"""Random histories of three people who share by git, chunks in git, a folder and a hub at once."""

from __future__ import annotations

import random
from contextlib import closing, suppress

import pytest

from ademem.core.value import replace
from ademem.plugins.exchange import folder
from ademem.plugins.hub import rounds
from ademem.plugins.hub.settings import HubSettings
from ademem.plugins.hub.transport import Client, HubError
from ademem.store import journal, memories, memory_queries, stamps
from ademem.store.memories import Change
from tests.examples import examples
from tests.plugins.exchange.test_folder import Oracle, carry
from tests.plugins.exchange.test_histories_of_carriers import (
    ACTS,
    commit,
    discard,
    exchange,
    hand_on,
    merge,
    pages,
    revert,
)
from tests.plugins.hub.sync.clients import Clone
from tests.plugins.hub.sync.test_rounds import Unreachable, told
from tests.store.replicas import exported
from tests.sync.histories import begin
from tests.sync.team import SETTINGS, add


class Repeated(Unreachable):
    """Requests that arrive twice besides, the second time long after the first."""

    def __init__(self, choice):
        super().__init__(choice)
        self.sent = []

    def __call__(self, client, method, path, body=None):
        answer = super().__call__(client, method, path, body)
        if method == "POST":
            self.sent.append((client, path, body))
        if self.sent and self.choice.random() < 0.3:
            again, old, said = self.choice.choice(self.sent)
            with closing(again):  # its round may be over
                self.ask(again, "POST", old, said)
        return answer


class Person:
    """A member of a team who is in a hub besides."""

    def __init__(self, member, home, hub, role):
        self.member = member
        self.project = replace(member.project, home=str(home / ".ade"))
        (home / ".ade/run").mkdir(parents=True)
        name = f"person {member.number}"
        rounds.join(member.store, self.project, hub.url, hub.invite(name, role), name)

    def sync(self):
        member = self.member
        return rounds.Hub(
            member.store, self.project, SETTINGS.gate, HubSettings(), member.tick
        ).run()


def learn_on_branch(member, which, value):
    text = f"lesson {value} of a branch" if which == 0 else f"lesson {which} of {member.number}"
    known = {row.id for row in memories.find(member.store, "1")}
    member.add(f"{text} waits", "fact")
    for row in memories.find(member.store, "1"):
        if row.id not in known:
            change = Change(operation="branch", actor="system", at=member.now)
            memories.put_back(member.store, replace(row, source_branch="feature"), change)


def share_all(member):
    """What a look at git does once it has the lines of the branch."""
    for row in memory_queries.on_branches(member.store):
        change = Change(operation="branch", actor="system", at=member.tick())
        memories.put_back(member.store, replace(row, source_branch=None), change)


def settle_all(members, drives, people):
    """Hand everything to everybody by every way until nothing is new."""
    for number in range(12):
        is_new = hand_on(members, drives, number)
        done = [one.sync() for one in people]
        if not is_new and not any(one.changed or one.sent for one in done):
            return
    raise AssertionError("the exchange does not end")


def test_what_a_writer_confirmed_counts_once_it_comes_by_git(team, hub, tmp_path):
    drives = [tmp_path / name for name in ("d1", "d2", "d3")]
    for drive in drives:
        drive.mkdir()
    with team.history("merge=ademem", 3) as members:
        begin(members, [(add, 1, 1) for _ in range(3)])
        people = [
            Person(member, tmp_path / f"p{member.number}", hub, role)
            for member, role in zip(members, ("reviewer", "owner", "writer"), strict=True)
        ]
        add(members[2], 3, 3)
        for each in (*people[::-1], *people):
            each.sync()
        waiting = [len(memory_queries.list_confirmed_elsewhere(one.store)) for one in members]
        settle_all(members, drives, people)

        assert waiting == [1, 1, 0]
        assert all(not memory_queries.list_confirmed_elsewhere(one.store) for one in members)


@pytest.mark.parametrize("seed", range(examples(1000, share=1000)))
def test_with_a_hub_besides_all_have_the_same(seed, team, hub, tmp_path, monkeypatch):
    choice, ids = random.Random(seed), random.Random(-seed - 1)
    monkeypatch.setattr(stamps, "new_replica", lambda: f"{ids.getrandbits(32):08x}")
    monkeypatch.setattr(folder, "MOST_CHUNKS", choice.choice((2, 5, 64)))
    drives = [tmp_path / name for name in ("d1", "d2", choice.choice(("d2", "d3")))]
    for drive in drives:
        drive.mkdir(exist_ok=True)
    roles = ("reviewer", "owner", choice.choice(("reviewer", "reviewer", "writer", "reader")))
    repeated = Repeated(choice)
    with team.history("merge=ademem", 3) as members:
        begin(members, [(add, choice.randrange(4), choice.randrange(4)) for _ in range(3)])
        people = [
            Person(member, tmp_path / f"p{member.number}", hub, role)
            for member, role in zip(members, roles, strict=True)
        ]
        oracle = Oracle()
        for _ in range(choice.choice((12, 24))):
            at = choice.randrange(3)
            member, drive = members[at], drives[at]
            match choice.choice(
                ("act",) * 8
                + ("exchange", "carry", "merge", "hub", "hub") * 3
                + ("commit", "discard", "revert", "branch", "branch")
            ):
                case "act":
                    choice.choice(ACTS)(member, choice.randrange(4), choice.randrange(4))
                case "branch":
                    if not choice.randrange(4):
                        share_all(member)
                    learn_on_branch(member, choice.randrange(3), choice.randrange(4))
                case "exchange":
                    exchange(member, drive)
                case "carry":
                    carry(choice, drive, choice.choice(drives))
                case "merge":
                    merge(member, choice.choice([each for each in members if each is not member]))
                case "hub":
                    with monkeypatch.context() as patch, suppress(HubError):
                        patch.setattr(Client, "ask", lambda *given: repeated(*given))
                        people[at].sync()
                case "commit":
                    commit(member)
                case "discard":
                    discard(member)
                case "revert":
                    revert(member)
            oracle.note(member.store)
        settle_all(members, drives, people)
        for member in members:
            share_all(member)
        settle_all(members, drives, people)

        first, *others = (exported(member.store) for member in members)
        for member in members:
            oracle.note(member.store)
            assert journal.find_deferred(member.store).dead == ()
        assert all(one == first for one in others)
        assert first == oracle.exported()
        assert len(pages(members)) == 1
        if roles[2] in ("reviewer", "owner"):
            late = Clone(tmp_path / "late", "late")
            with closing(late.store):
                late.join(hub).sync()
                assert exported(late.store) == first
        assert [row["seq"] for row in told(hub)] == [*range(1, len(told(hub)) + 1)]

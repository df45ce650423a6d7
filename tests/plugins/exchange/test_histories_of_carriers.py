"""Random histories of three people who share by git, by chunks in git, and by a folder at once."""

from __future__ import annotations

import os
import random
import shutil

import pytest

from ademem.plugins.exchange import folder
from ademem.store import journal, stamps
from tests.examples import FULL
from tests.plugins.exchange.test_folder import Oracle, carry, damage, files
from tests.store.replicas import exported
from tests.sync.histories import begin
from tests.sync.team import BY_COMMAND, BY_HAND, SETTINGS, add

ACTS = (*BY_COMMAND, *BY_COMMAND, *BY_HAND)


def exchange(member, path):
    place = folder.folder_at(str(path), member.project)
    return folder.exchange(
        member.store, member.project, SETTINGS.gate, place, member.tick(), force=True
    )


def chunks_of(member):
    return member.root / ".ade/sync"


def commit(member):
    """Write the files and the chunks that git carries, and commit all of them."""
    member.refresh()
    done = exchange(member, chunks_of(member))
    member.git("add", "-A", ".ade")
    member.git("commit", "--quiet", "--allow-empty", "-m", "memory")
    return done


def merge(member, other):
    """Git's merge; a conflict of damaged chunks is committed as it stands."""
    commit(member)
    return merge_committed(member, other)


def merge_committed(member, other):
    """Git's merge without a commit before it."""
    if not member.merge(other.head()):
        member.git("add", "-A", ".ade")
        member.git("commit", "--quiet", "--allow-empty", "-m", "merge")
    return commit(member)


def discard(member):
    member.git("checkout", "--quiet", "--", ".ade/memory", check=False)


def revert(member):
    """Take the last commit back, if it is not a merge."""
    commit(member)
    if member.git("revert", "--no-edit", "HEAD", check=False).returncode:
        member.git("revert", "--abort", check=False)


def settle(members, drives):
    """Hand everything to everybody until nothing is new; nobody loses a file any more."""
    for number in range(12):
        if not hand_on(members, drives, number):
            return
    raise AssertionError("the exchange does not end")


def hand_on(members, drives, number):
    """Hand all to all by folders and by git; return True if it was new to one of them.

    One of them, another one each time, merges what the others have, and they merge that.
    """
    done = []
    for member, drive in zip(members, drives, strict=True):
        done.append(exchange(member, drive))
        for other in set(drives) - {drive}:
            for path in files(drive):
                there = other / path.relative_to(drive)
                there.parent.mkdir(exist_ok=True)
                if not there.exists() or there.stat().st_mtime_ns < path.stat().st_mtime_ns:
                    shutil.copy2(path, there)
    done += [commit(member) for member in members]
    middle = members[number % len(members)]
    others = [member for member in members if member is not middle]
    done += [merge_committed(middle, other) for other in others]
    done += [merge_committed(other, middle) for other in others]
    return any(each.read or each.written for each in done) or len(pages(members)) > 1


def pages(members):
    return {str(sorted(member.pages().items())) for member in members}


FOUND = 10, 25
"""In one another person pins what is stated here, and it stays without a pin; in one he changes it,
and the person here archives the changed version."""


@pytest.mark.parametrize("seed", range(500) if FULL else FOUND)
def test_by_whichever_way_memories_came_all_have_the_same(seed, team, tmp_path, monkeypatch):
    choice, ids = random.Random(seed), random.Random(-seed - 1)
    monkeypatch.setattr(stamps, "new_replica", lambda: f"{ids.getrandbits(32):08x}")
    monkeypatch.setattr(folder, "MOST_CHUNKS", choice.choice((2, 5, 64)))
    drives = [tmp_path / name for name in ("d1", "d2", choice.choice(("d2", "d3")))]
    for drive in drives:
        drive.mkdir(exist_ok=True)
    with team.history("merge=ademem", 3) as members:
        begin(members, [(add, choice.randrange(4), choice.randrange(4)) for _ in range(3)])
        oracle = Oracle()
        for _ in range(choice.choice((12, 24))):
            at = choice.randrange(3)
            member, drive = members[at], drives[at]
            other = choice.choice([each for each in members if each is not member])
            match choice.choice(
                ("act",) * 9
                + ("exchange", "carry", "merge") * 3
                + ("commit", "damage", "damage chunks", "discard", "revert")
            ):
                case "act":
                    choice.choice(ACTS)(member, choice.randrange(4), choice.randrange(4))
                case "exchange":
                    exchange(member, drive)
                case "carry":
                    carry(choice, drive, choice.choice(drives))
                case "merge":
                    merge(member, other)
                case "commit":
                    commit(member)
                case "damage":
                    damage(choice, drive)
                case "damage chunks" if os.path.isdir(chunks_of(member)):
                    damage(choice, chunks_of(member))
                case "discard":
                    discard(member)
                case "revert":
                    revert(member)
            oracle.note(member.store)
        settle(members, drives)

        first, *others = (exported(member.store) for member in members)
        for member in members:
            oracle.note(member.store)
            assert journal.find_deferred(member.store).dead == ()
        assert all(one == first for one in others)
        assert first == oracle.exported()
        assert len(pages(members)) == 1

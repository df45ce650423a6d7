"""What sweeps and consolidations do in one clone, as another clone takes it over from the files."""

import shutil

import pytest

from ademem.core.clock import stamp
from ademem.core.settings import Settings
from ademem.synthesis import consolidation
from ademem.synthesis.consolidation import ConsolidationRun
from tests.sync.clone import FOLDER, Clone
from tests.synthesis.statements import MODEL
from tests.synthesis.sweeps import sweep
from tests.synthesis.test_consolidation import UPLOADS, group


class Pair:
    """Two clones without git between them: what one renders is copied to the other."""

    def __init__(self, root):
        self.mine, self.theirs = Clone(root / "mine"), Clone(root / "theirs")

    def send(self):
        """My files reach the other clone, which has taken over the ones before."""
        self.mine.refresh()
        shutil.copytree(self.mine.root / FOLDER, self.theirs.root / FOLDER, dirs_exist_ok=True)
        return self.theirs.refresh()

    def known(self):
        return self.mine.live(), self.theirs.live()


@pytest.fixture
def pair(tmp_path):
    pair = Pair(tmp_path)
    yield pair
    for clone in (pair.mine, pair.theirs):
        clone.store.close()


def learn(clone, given):
    store = clone.store
    for each in given:
        row = clone.know(each.text)
        store.db.execute(
            "insert into unified_memory_embeddings values (?, ?, ?, ?, ?, 384, 1, ?, ?)",
            (row.id, row.id, store.project_id, MODEL, each.vector, stamp(clone.now), ""),
        )


def test_what_was_merged_here_is_merged_there(pair):
    learn(pair.mine, group(UPLOADS))
    pair.send()
    assert len(pair.theirs.live()) == 3

    run = ConsolidationRun(store=pair.mine.store, settings=Settings(), model=MODEL)
    consolidation.consolidate(run, pair.mine.tick)
    pair.send()
    mine, theirs = pair.known()
    assert (len(mine), theirs) == (1, mine)
    pair.send()
    assert pair.known() == (mine, mine)


def test_no_limit_archives_what_is_confirmed_and_what_it_archives_here_is_archived_there(pair):
    captured = {"status": "candidate", "tier": 3, "promoted_at": None, "trust": "import"}
    old = pair.mine.know("Deploys need a lock", knowledge_key="deploys", **captured)
    pair.mine.know("Locks are kept in Redis")
    pair.mine.know("Redis runs on port 6380")
    pair.send()
    assert pair.theirs.get(old).status == "candidate"
    sweep(pair.mine.store, pair.mine.tick(), project_limit=1)
    pair.send()

    confirmed = ["Locks are kept in Redis", "Redis runs on port 6380"]
    assert pair.known() == (confirmed, confirmed)
    assert pair.theirs.get(old).status == "archived"

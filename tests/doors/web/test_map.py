"""The map of the vectors: a job's file, the same every time, and areas of it as lists."""

import re

import numpy as np
import pytest

from ademem import api
from ademem.search import dense, vector_map
from ademem.search.embedding import DIMENSIONS, model_id
from ademem.store import embeddings, jobs
from tests import builders
from tests.doors.web.test_pages import ids, texts
from tests.examples import FULL


def embed(memories, found, rows):
    model = model_id(memories.settings.embed)
    vectors = [
        embeddings.Vector(
            memory=memory, blob=row.astype("<f4").tobytes(), dimensions=DIMENSIONS, norm=1.0
        )
        for memory, row in zip(found, rows, strict=True)
    ]
    embeddings.put(memories.store, model, vectors, memories.clock())


def draw(browser):
    with browser.world.memories() as memories:
        model = model_id(memories.settings.embed)
        return vector_map.write_map(memories.project, memories.store, model, memories.clock())


@pytest.fixture
def groups(browser):
    """Two groups of memories far apart, with vectors."""
    made = [builders.memory(f"Left {at}") for at in range(20)]
    made += [builders.memory(f"Right {at}", category="gotcha") for at in range(10)]
    made += [builders.memory("CANARY of another", scope="agent", scope_owner_id="other")]
    rows = np.zeros((31, DIMENSIONS))
    rows[:20, 0], rows[20:, 1] = 1, 1
    rows[:, 2] = np.linspace(0, 0.1, 31)
    with browser.world.memories() as memories:
        embed(memories, builders.insert(memories.store, *made), rows)
    return browser


def test_the_axes_are_those_of_the_largest_spread_and_the_same_every_time():
    rng = np.random.default_rng(7)
    wide, narrow = rng.normal(size=(2, 400)).astype(np.float32)
    rows = np.zeros((400, 16), np.float32)
    rows[:, 3], rows[:, 9] = 5 * wide, 2 * narrow
    points = dense.project(rows, 100)

    assert np.corrcoef(points[:, 0], wide)[0, 1] == pytest.approx(1, abs=0.02)
    assert np.corrcoef(points[:, 1], narrow)[0, 1] == pytest.approx(1, abs=0.02)
    assert (points.min(), points.max()) == (0, 99)
    assert (dense.project(rows[::-1].copy(), 100)[::-1] == points).all()


def test_a_few_vectors_and_equal_ones_have_places():
    assert dense.project(np.ones((1, 8), np.float32), 100).shape == (1, 2)
    assert np.isfinite(dense.project(np.ones((5, 8), np.float32), 100)).all()


def test_a_map_of_many_is_small_and_written_alike(browser):
    count = 100_000 if FULL else 2_000
    rows = np.random.default_rng(1).normal(size=(count, DIMENSIONS))
    with browser.world.memories() as memories:
        found = builders.insert(
            memories.store, *(builders.memory(f"Lesson {at}") for at in range(count))
        )
        embed(memories, found, rows)
    assert draw(browser) == count
    first = browser.get("/map/points").content
    dense.forget()
    draw(browser)

    assert browser.get("/map/points").content == first
    assert len(first) <= 10 * count + 1024


def test_cells_count_all_points_and_lead_to_their_memories(groups):
    assert draw(groups) == 30
    page = groups.get("/map").text
    cells = re.findall(r'<a href="(/map\?area=[^"]+)" aria-label="(\d+) in', page)
    listed = [
        re.findall(r"(Left|Right) \d+", texts(groups.get(path).text.partition('id="area"')[2]))
        for path, _ in cells
    ]

    assert sum(int(number) for _, number in cells) == 30
    assert [len(each) for each in listed] == [int(number) for _, number in cells]
    assert all(len(set(each)) == 1 for each in listed)  # no cell has both groups
    assert "gotcha 10" in texts(page)
    assert "CANARY" not in groups.get("/map?area=0,0,1,1").text
    assert len(ids(groups.get("/map?area=0,0,1,1").text)) == 30
    assert groups.get("/map?area=here").status_code == 400


def test_without_a_model_or_a_map_the_page_says_what_to_do(browser):
    browser.world.know("Money is stored in cents")
    assert "ademem model install" in texts(browser.get("/map").text)
    assert browser.get("/map/points").status_code == 404


def test_the_map_is_computed_by_a_job_when_it_is_asked_for_and_then_kept_current(groups):
    assert "Compute the map" in groups.get("/map").text
    assert groups.post("/map/compute").status_code == 303
    groups.world.work()
    assert "30 memories" in texts(groups.get("/map").text)

    with groups.world.memories() as memories:
        (more,) = builders.insert(memories.store, builders.memory("One more"))
        embed(memories, [more], np.eye(1, DIMENSIONS))
    groups.world.work()
    assert "31 memories" in texts(groups.get("/map").text)
    with groups.world.memories() as memories:
        assert not jobs.exists(memories.store, "map")
        assert api.get_map(memories).head["count"] == 31


def test_a_damaged_map_counts_as_none(groups):
    draw(groups)
    path = groups.world.root / ".ade/run/map"
    path.write_bytes(path.read_bytes()[:-5])

    assert "Compute the map" in groups.get("/map").text

"""The graph around a memory: its rings, its list, and contradictions settled from it."""

import math
import re

import pytest

from ademem.api.graphs import MOST_NODES, Graph, Node, get_graph
from ademem.core.errors import UsageError
from ademem.doors.views.graph import RING, lay_out, to_page
from tests import builders
from tests.doors.web.test_pages import texts


def test_rings_have_one_distance_and_no_two_nodes_one_place():
    nodes = [Node(kind="memory", name="centre")]
    nodes += [Node(kind="tag", name=str(at), parent=0, depth=1) for at in range(5)]
    nodes += [Node(kind="memory", name=f"m{at}", parent=1 + at % 5, depth=2) for at in range(40)]
    places = lay_out(Graph(nodes=tuple(nodes), edges=(), is_cut=False))

    assert places[0] == (0, 0)
    assert {round(math.hypot(*place)) for place in places[1:6]} == {RING}
    assert {round(math.hypot(*place)) for place in places[6:]} == {2 * RING}
    assert len({(round(x), round(y)) for x, y in places}) == len(places)


@pytest.fixture
def joined(browser):
    """Memories that share a tag, a file and a topic, and two that contradict each other."""
    (browser.world.root / "pay.py").write_text("RETRIES = 3\n")
    know = browser.world.know
    know("RETRIES is 3", anchors=("pay.py",), tags=("payments",), topic_key="pay/retries")
    know("A refund takes a day", tags=("payments",))
    know("pay.py talks to the bank", anchors=("pay.py",))
    know("A refund takes two days", "Nothing joins this one")
    browser.world.work()
    found = {each.content: each for each in browser.world.live()}
    earlier, later = found["A refund takes a day"], found["A refund takes two days"]
    browser.world.contradict(earlier, later, "days")
    browser.found = found
    return browser


def test_what_memories_share_joins_them(joined):
    start = joined.found["RETRIES is 3"]
    with joined.world.memories() as memories:
        graph = to_page(get_graph(memories, "memory", start.id))

    names = {(node["kind"], node["label"]) for node in graph["nodes"]}
    assert {("tag", "payments"), ("topic", "pay/retries"), ("file", "pay.py")} <= names
    assert ("memory", "A refund takes a day") in names
    assert ("memory", "pay.py talks to the bank") in names
    assert ("memory", "Nothing joins this one") not in names
    page = joined.get(f"/graph?memory={start.id}").text
    assert page.count("<circle") + page.count("<rect") == len(graph["nodes"])
    assert page.count("<line ") == len(graph["edges"])
    tree = texts(page.partition("The same as a list")[2])
    assert all(node["label"] in tree for node in graph["nodes"])


@pytest.mark.parametrize("where", ["tag=payments", "file=pay.py", "topic=pay/retries"])
def test_a_tag_a_file_or_a_topic_can_be_the_centre(joined, where):
    assert "RETRIES is 3" in texts(joined.get(f"/graph?{where}").text)


def test_a_contradiction_is_settled_in_the_list(joined):
    one, other = (joined.found[f"A refund takes {days}"] for days in ("a day", "two days"))
    path = f"/graph?memory={one.id}"
    page = joined.get(path).text
    assert 'class="against"' in page
    assert f'action="/memory/{one.id}/settle"' in page
    joined.post(f"/memory/{one.id}/settle", other=other.id)

    assert 'class="against"' not in joined.get(path).text


def test_a_graph_is_bounded_and_its_page_as_well(browser):
    tags = tuple(f"tag{at}" for at in range(12))
    with browser.world.memories() as memories:
        words = "with more words " * 9
        (centre, *_) = builders.insert(
            memories.store,
            builders.memory("Centre", tags=tags),
            *(builders.memory(f"Lesson {at} {words}", tags=(tags[at % 12],)) for at in range(300)),
        )
        graph = get_graph(memories, "memory", centre.id)
    answer = browser.get(f"/graph?memory={centre.id}")

    assert len(graph.nodes) == MOST_NODES
    assert graph.is_cut
    assert len(answer.content) <= 64 * 1024


def test_quarantined_texts_and_those_of_others_are_in_no_graph(browser):
    with browser.world.memories() as memories:
        builders.insert(
            memories.store,
            builders.memory("Plain", tags=("x",)),
            builders.memory("CANARY one", tags=("x",), quarantine_reason="orders"),
            builders.memory("CANARY two", tags=("x",), scope="agent", scope_owner_id="other"),
        )
        with pytest.raises(UsageError):
            get_graph(memories, "place", "x")
    page = browser.get("/graph?tag=x").text

    assert "Plain" in page
    assert "CANARY" not in page


def test_pairs_are_a_start_and_an_empty_page_says_what_fills_it(joined, tmp_path):
    page = texts(joined.get("/graph").text)
    assert "A refund takes two days" in page

    lonely = joined.found["Nothing joins this one"]
    assert "relations scan" in texts(joined.get(f"/graph?memory={lonely.id}").text)
    assert re.search("conflicts with", page)

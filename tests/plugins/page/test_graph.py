"""The graph around a memory: its rings, its list, and contradictions settled from it."""

import html
import itertools
import json
import math
import re

import pytest

from ademem.core.errors import UsageError
from ademem.operations.relating import MOST_NODES, Graph, Node, get_graph
from ademem.plugins.page.memory_pages import NODE, NODES_OF_A_PAGE, RING, lay_out
from ademem.store import relations
from tests import builders
from tests.plugins.page.test_pages import texts


@pytest.mark.parametrize("count", [40, 400])
def test_rings_have_one_distance_and_each_node_has_a_place(count):
    nodes = [Node(kind="memory", name="centre")]
    nodes += [Node(kind="tag", name=str(at), parent=0, depth=1) for at in range(5)]
    nodes += [Node(kind="memory", name=f"m{at}", parent=1 + at % 5, depth=2) for at in range(count)]
    ring, places = lay_out(Graph(nodes=tuple(nodes), edges=(), is_cut=False))

    assert ring >= RING
    assert places[0] == (0, 0)
    assert {round(math.hypot(*place), 6) for place in places[1:6]} == {round(ring, 6)}
    assert {round(math.hypot(*place), 6) for place in places[6:]} == {round(2 * ring, 6)}
    by_angle = sorted(math.atan2(y, x) * 2 * ring for x, y in places[6:])
    gaps = [after - before for before, after in itertools.pairwise(by_angle)]
    assert min(gaps) >= NODE - 0.01


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


def draw(browser, where):
    """Return the nodes of the drawing by kind and name, and its lines by the labels of both."""
    found = json.loads(browser.get(f"/graph/drawing?{where}").text)
    labels = [node[5] for node in found["nodes"]]
    lines = {(labels[a], labels[b]): is_against for a, b, is_against in found["edges"]}
    return {(node[0], node[5]) for node in found["nodes"]}, lines


def test_what_memories_share_joins_them(joined):
    start = joined.found["RETRIES is 3"]
    nodes, lines = draw(joined, f"memory={start.id}")

    assert {("tag", "payments"), ("topic", "pay/retries"), ("file", "pay.py")} <= nodes
    assert ("memory", "A refund takes a day") in nodes
    assert any(label.startswith("pay.py talks") for _, label in nodes)
    assert ("memory", "Nothing joins this one") not in nodes
    assert ("RETRIES is 3", "payments") in lines
    page = joined.get(f"/graph?memory={start.id}").text
    assert f"{len(nodes)} nodes, {len(lines)} lines" in texts(page)
    tree = texts(page.partition("The same as a list")[2])
    assert all(label.rstrip("…. ") in tree for _, label in nodes)


@pytest.mark.parametrize("where", ["tag=payments", "file=pay.py", "topic=pay/retries"])
def test_a_tag_a_file_or_a_topic_can_be_the_centre(joined, where):
    assert "RETRIES is 3" in texts(joined.get(f"/graph?{where}").text)


def test_a_contradiction_is_settled_in_the_list(joined):
    one, other = (joined.found[f"A refund takes {days}"] for days in ("a day", "two days"))
    where = f"memory={one.id}"
    assert draw(joined, where)[1][one.content, other.content]
    assert f'action="/memory/{one.id}/settle"' in joined.get(f"/graph?{where}").text
    joined.post(f"/memory/{one.id}/settle", other=other.id)

    assert not any(draw(joined, where)[1].values())


def test_a_memory_has_all_its_relations_and_says_where_there_are_more(browser):
    with browser.world.memories() as memories:
        count = MOST_NODES + 9
        rows = [builders.memory(f"Lesson number {at} of many") for at in range(count)]
        centre, *others = builders.insert(memories.store, *rows)

        def relate(found):
            for other in found:
                named = {"score": 1.0, "reason": "", "actor": "user", "now": builders.NOW}
                relations.add(memories.store, centre, other, "conflicts_with", **named)
            graph = get_graph(memories, "memory", centre.id)
            return len(graph.nodes), graph.is_cut

        assert relate(others[:60]) == (61, False)
        assert relate(others[60:]) == (MOST_NODES, True)


@pytest.mark.parametrize(("count", "is_cut"), [(40, False), (41, True)])
def test_a_tag_of_many_memories_says_that_there_are_more(browser, count, is_cut):
    with browser.world.memories() as memories:
        lessons = (builders.memory(f"Lesson {at}", tags=("x",)) for at in range(count))
        builders.insert(memories.store, *lessons)
    page = browser.get("/graph?tag=x").text

    assert "41 nodes, 40 lines" in texts(page)
    assert ("there are more" in page) is is_cut


def test_a_graph_is_bounded_and_its_list_is_complete_in_pages(browser):
    tags = tuple(f"tag{at:02}" for at in range(13))
    with browser.world.memories() as memories:
        words = "with more words „“ " * 9
        (centre, *_) = builders.insert(
            memories.store,
            builders.memory("Centre", tags=tags),
            *(builders.memory(f"Lesson {at} {words}", tags=(tags[at % 13],)) for at in range(600)),
        )
        graph = get_graph(memories, "memory", centre.id)
    assert len(graph.nodes) == MOST_NODES
    assert graph.is_cut
    drawing = browser.get(f"/graph/drawing?memory={centre.id}")
    assert len(drawing.content) <= 64 * 1024
    assert len(drawing.json()["nodes"]) == MOST_NODES

    address, listed, pages = f"/graph?memory={centre.id}", [], 0
    while address:
        answer = browser.get(address)
        assert len(answer.content) <= 64 * 1024
        tree = answer.text.partition('<ul class="tree">')[2].partition("</section>")[0]
        assert tree.count("<ul>") == tree.count("</ul>") - 1
        shown = re.findall(r'<a href="(/memory/\w+|/graph\?(?!memory)[^"]+)"', tree)
        listed += [each for each in shown if each not in listed]
        assert len(shown) <= NODES_OF_A_PAGE + 2  # with the branch that the page before began
        more = re.search(r'rel="next" href="([^"]+)"', tree)
        address, pages = more and html.unescape(more[1]), pages + 1
    names = {f"/memory/{node.name}" for node in graph.nodes if node.kind == "memory"}

    assert pages == MOST_NODES // NODES_OF_A_PAGE
    assert {each for each in listed if each.startswith("/memory/")} == names
    assert len(listed) == MOST_NODES


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
    for path in ("/graph?tag=x", "/graph/drawing?tag=x"):
        page = browser.get(path).text
        assert "Plain" in page
        assert "CANARY" not in page


def test_pairs_are_a_start_and_an_empty_page_says_what_fills_it(joined, tmp_path):
    page = texts(joined.get("/graph").text)
    assert "A refund takes two days" in page

    lonely = joined.found["Nothing joins this one"]
    assert "relations scan" in texts(joined.get(f"/graph?memory={lonely.id}").text)
    assert re.search("conflicts with", page)

"""Rows E1 to E32 of Engram's behaviour, by its tools; some are told in `test_engram`, too."""

import pytest

from ademem import api
from tests.canaries import CANARIES, found_below, sentence
from tests.doors.mcp.conftest import unpack
from tests.examples import examples

LESSON = "Releases are cut on Mondays, because the mirror syncs on Sunday"
OTHER = "The parser of invoices reads tokens of at most 64 bytes"
LEARNED = "## Key Learnings\n\n1. The cache must be cleared before each migration of the schema\n"


@pytest.fixture
def talk(serve, world):
    """Call Engram's tools in turn."""
    world.configure("[doors]\nwrites_per_minute = 1000\n")

    def run(scenario, **options):
        async def hold(client):
            async def call(name, **arguments):
                return unpack(await client.call_tool(f"mem_{name}", arguments))

            return await scenario(call)

        return serve(hold, tools="engram", **options)

    return run


def test_e1_a_session_that_starts_again_keeps_its_folder(talk, world):
    async def scenario(call):
        await call("session_start", id="e1", directory="/srv/shop")
        return await call("session_start", id="e1", directory="")

    assert talk(scenario).session["directory"] == "/srv/shop"
    assert world.row("select count(*) from sessions where id = 'e1'")[0] == 1


def test_e2_a_session_that_ended_neither_starts_again_nor_takes_a_save(talk, world):
    async def scenario(call):
        await call("session_start", id="e1")
        await call("session_end", id="e1")
        again = await call("session_start", id="e1")
        return again, await call("save", title="Late", content=LESSON, session_id="e1")

    for refused in talk(scenario):
        assert (refused.is_error, refused.rule) == (True, "session")
        assert refused.id == "e1-2", "the one to use"
    assert world.live() == []


def test_e3_each_save_lands_in_its_session_of_fifty(talk, world):
    async def scenario(call):
        for number in range(50):
            await call("session_start", id=f"e{number}")
        for number in (0, 17, 49):
            text = f"Queue {'abc'[number % 3]}{number} is drained by worker {number * 7}"
            await call("save", title=f"Queue {number}", content=text, session_id=f"e{number}")
        await call("save", title="No session", content=OTHER)

    talk(scenario)
    rows = dict(world.rows("select title, source_session_id from unified_memories"))
    assert {title: rows[title] for title in rows if title != "No session"} == {
        "Queue 0": "e0",
        "Queue 17": "e17",
        "Queue 49": "e49",
    }
    assert rows["No session"].startswith("mcp-")


@pytest.mark.parametrize("content", ["", "  \n", "<private>all of it</private>"])
def test_e4_a_save_without_content_is_refused_and_writes_nothing(talk, world, content):
    async def scenario(call):
        return await call("save", title="Nothing", content=content)

    assert talk(scenario).is_error
    assert world.rows("select 1 from unified_memories") == []


def test_e5_a_text_beyond_the_limit_is_cut_at_a_character_and_says_so(talk, world):
    text = "é" * 24_999 + "a" + "😀"

    async def scenario(call):
        return await call("save", title="Long", content=text)

    saved = talk(scenario)
    assert saved.truncated
    assert any("50,003" in note for note in saved.notes)
    stored = world.row("select content from unified_memories")[0]
    assert stored == text[:-1]


def test_e7_a_topic_is_one_memory_with_its_revisions_and_a_deleted_one_stays_so(talk, world):
    async def scenario(call):
        for day in ("Mondays", "Tuesdays", "Wednesdays"):
            text = f"Releases of the shop are cut on {day} by the platform team"
            saved = await call("save", title="Release day", content=text, topic_key="bug/release")
        whole = await call("get_observation", id=saved.id, include_history=True)
        gone = await call("search", query="Mondays")
        found = await call("search", query="Wednesdays")
        await call("delete", id=saved.id)
        again = await call("save", title="Day", content=OTHER, topic_key="bug/release")
        return saved, whole, gone, found, again

    saved, whole, gone, found, again = talk(scenario)
    assert [row["number"] for row in found.results] == [saved.id]
    assert not any("Mondays" in row["text"] for row in gone.results)
    assert again.id != saved.id
    assert len(whole.revisions) == 3


def test_e8_another_subject_under_a_known_key_is_saved_with_a_warning(talk):
    async def scenario(call):
        await call("save", title="Release day", content=LESSON, topic_key="bug/release")
        replaced = await call("save", title="Parser", content=OTHER, topic_key="bug/release")
        whole = await call("get_observation", id=replaced.id, include_history=True)
        other = await call("save", title="Release day", content=LESSON, topic_key="bug/parser")
        return replaced, whole, other

    replaced, whole, other = talk(scenario)
    assert any("said something else" in note for note in replaced.notes)
    assert any(LESSON in each["text"] for each in whole.revisions)
    assert other.id != replaced.id


def test_e11_a_part_that_is_not_there_and_two_ways_at_once_are_refused(talk, world):
    async def scenario(call):
        saved = await call("save", title="Release day", content=LESSON)
        missing = await call("update", id=saved.id, find="Fridays", replace="x")
        both = await call("update", id=saved.id, content=OTHER, find="Mondays", replace="x")
        moved = await call("update", id=saved.id, project="other", title="x")
        return [missing, both, moved]

    assert [refused.is_error for refused in talk(scenario)] == [True] * 3
    assert world.row("select content, revision_count from unified_memories")[:] == (LESSON, 1)


def test_e12_what_is_personal_is_found_by_its_scope_and_stays_out_of_the_project(talk, world):
    async def scenario(call):
        await call("save", title="Tea", content=f"{OTHER}, they say", scope="personal")
        await call("save", title="Release day", content=LESSON)
        own = await call("search", query="parser invoices releases", scope="personal")
        return own, await call("search", query="parser invoices releases", scope="project")

    own, shared = talk(scenario)
    assert [row["title"] for row in own.results] == ["Tea"]
    assert [row["title"] for row in shared.results] == ["Release day"]
    for path in (world.root / ".ade").rglob("*"):
        assert path.is_dir() or b"they say" not in path.read_bytes(), path


def test_e13_what_was_deleted_is_in_no_answer(talk, world):
    async def scenario(call):
        await call("session_start", id="e1")
        saved = await call("save", title="Release day", content=LESSON, session_id="e1")
        near = await call("save", title="Parser", content=OTHER, session_id="e1")
        await call("delete", id=saved.id)
        return [
            await call("search", query="releases mirror Sunday"),
            await call("context"),
            await call("timeline", observation_id=near.id),
            await call("get_observation", id=saved.id),
            await call("review"),
            await call("pin", id=saved.id),
            await call("compare", memory_id_a=saved.id, memory_id_b=near.id, relation="related"),
            await call("stats"),
        ]

    answers = talk(scenario)
    assert "Mondays" not in str(answers)
    assert answers[-1].observations["candidates"] == 1
    with world.memories() as memories:
        (row,) = memories.store.db.execute(
            "select id from unified_memories where title like 'Rel%'"
        )
        api.restore(memories, row[0])
    assert LESSON in [memory.content for memory in world.live()]


@pytest.mark.parametrize(
    "query",
    ['"', "*", "NEAR(", "col:", "-", "a AND", "()", "…", "'; drop", "mirror NOT", "x" * 999],
)
def test_e26_every_query_is_answered(talk, query):
    async def scenario(call):
        await call("save", title="Release day", content=LESSON)
        return await call("search", query=query), await call("search", query=f"mirror {query}")

    found, known = talk(scenario)
    assert not found.is_error
    assert known.results


def test_e27_where_no_memory_has_all_words_some_are_enough(talk):
    async def scenario(call):
        await call("save", title="Release day", content=LESSON)
        whole = await call("search", query="releases mirror Sunday")
        return whole, await call("search", query="releases mirror Sunday zeppelin")

    whole, relaxed = talk(scenario)
    assert (whole.relaxed, relaxed.relaxed) == (False, True)
    assert len(relaxed.results) == 1


@pytest.mark.parametrize("max_bytes", [1000, 3000, 9000])
def test_e28_a_context_has_whole_entries_and_counts_the_rest(talk, world, max_bytes):
    for number in range(30):
        word = "abcdefghij"[number % 10]
        world.know(f"Queue {word}{number} is drained by worker {number * 7} of 漢字 w{number} ")

    async def scenario(call):
        return await call("context", max_bytes=max_bytes)

    found = talk(scenario)
    assert len(found.result.encode()) <= max_bytes
    shown = sum(f"漢字 w{number} (" in found.result for number in range(30))
    assert shown + found.left_out["memories"] == 30


def test_e29_learnings_are_saved_once(talk):
    async def scenario(call):
        first = await call("capture_passive", content=LEARNED)
        second = await call("capture_passive", content=LEARNED)
        code = await call("capture_passive", content=f"```\n{LEARNED}```\n")
        return [(each.extracted, each.saved) for each in (first, second, code)]

    assert talk(scenario) == [(1, 1), (1, 0), (0, 0)]


def test_e32_no_secret_reaches_a_file(talk, world):
    async def scenario(call):
        some = list(CANARIES.values())[: examples(len(CANARIES), 4)]
        texts = [sentence(number, each) for number, each in enumerate(some)]
        for text in texts:
            await call("save", title=text, content=text)
            await call("save_prompt", content=text)
        await call("session_summary", content="## Goal\n" + "\n".join(texts[:20]))

    talk(scenario)
    assert world.row("select count(*) from unified_memories")[0] > 5
    assert found_below(world.root) == {}

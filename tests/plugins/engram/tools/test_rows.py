"""Rows of Engram's behaviour by its tools; the others are named where they are tried."""

import pytest

from ademem.core import project
from ademem.operations import curation, doctor, files, relating, sessions
from ademem.store import neighbours
from ademem.store.verdicts import VERBS
from tests.canaries import CANARIES, found_below, sentence
from tests.examples import examples
from tests.plugins.mcp.conftest import unpack
from tests.world import World

LESSON = "Releases are cut on Mondays, because the mirror syncs on Sunday"
OTHER = "The parser of invoices reads tokens of at most 64 bytes"
NEAR = "Releases are cut on Fridays now, because the mirror syncs each night"
COUNTED = "select content, observation_count from unified_memories"
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


def change(world, assignment):
    with world.memories() as memories:
        memories.store.db.execute(f"update unified_memories set {assignment}")


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


def test_e6_the_same_text_is_counted_and_another_scope_or_title_is_its_own(talk, world):
    async def scenario(call):
        first = await call("save", title="Release day", content=LESSON)
        change(world, "created_at = '2026-01-01T00:00:00.000Z'")  # a repeat after any time counts
        again = await call("save", title="Release day", content=f"  {LESSON.upper()}\n")
        own = await call("save", title="Release day", content=LESSON, scope="personal")
        return first, again, own

    first, again, own = talk(scenario)
    assert (again.id, again.deduped) == (first.id, True)
    assert not own.deduped
    assert [tuple(row) for row in world.rows(COUNTED)] == [(LESSON, 2)]


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
    assert any("stated something else" in note for note in replaced.notes)
    assert any(LESSON in each["text"] for each in whole.revisions)
    assert other.id != replaced.id


@pytest.mark.parametrize(
    ("type", "title", "key"),
    [
        ("bugfix", "Login fails", "bug/login-fails"),
        ("architecture", "Hexagonal", "architecture/hexagonal"),
        ("decision", "Café au lait", "decision/café-au-lait"),
        ("config", "数据库缓存", "config/数据库缓存"),
        ("", "We learned to wait", "learning/"),
        ("", "x" * 300, "topic/" + "x" * 100),
    ],
)
def test_e9_a_key_is_suggested_by_type_else_by_words_and_always_the_same(talk, type, title, key):
    async def scenario(call):
        return [(await call("suggest_topic_key", type=type, title=title)).topic_key for _ in "12"]

    first, second = talk(scenario)
    assert first == second
    assert first.startswith(key)


def test_e10_every_text_of_a_topic_is_kept_and_can_be_restored(talk):
    days = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays")
    texts = [f"Releases of the shop are cut on {day} by the platform team" for day in days]

    async def scenario(call):
        for text in texts:
            saved = await call("save", title="Release day", content=text, topic_key="bug/day")
        whole = await call("get_observation", id=saved.id, include_history=True)
        await call("update", id=saved.id, content=whole.revisions[3]["text"])
        return whole, await call("get_observation", id=saved.id, include_history=True)

    whole, restored = talk(scenario)
    assert [each["text"] for each in whole.revisions] == texts[::-1]
    assert [each["text"] for each in restored.revisions] == [texts[1], *texts[::-1]]
    assert restored.result == texts[1]


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
        curation.restore(memories, row[0])
    assert LESSON in [memory.content for memory in world.live()]


def test_e14_for_good_is_for_a_person_who_leaves_no_byte(talk, world):
    async def save_both(call):
        one = await call("save", title="Release day", content=LESSON)
        other = await call("save", title="Parser", content=OTHER)
        pair = {"memory_id_a": other.id, "memory_id_b": one.id}
        await call("compare", **pair, relation="related", reasoning="LESSON and parser")
        return await call("delete", id=one.id, hard_delete=True)

    async def find(call):
        return await call("search", query="parser invoices")

    refused = talk(save_both)
    with world.memories() as memories:
        files.refresh_files(memories)
        curation.delete(memories, refused.next.split()[4], hard=True)
        files.refresh_files(memories)
        (relation,) = relating.list_relations(memories)
    found = talk(find)

    assert (refused.is_error, "ademem delete" in refused.next) == (True, True)
    assert relation.status == "orphaned"
    assert "related: #(deleted)" in found.result or "(deleted)" in str(found.results)
    for path in (world.root / ".ade").rglob("*"):
        assert path.is_dir() or b"the mirror syncs" not in path.read_bytes(), path


def test_e15_a_prompt_is_redacted_found_and_deleted_for_good(talk, world):
    token = "ghp_" + "a1B2" * 9

    async def scenario(call):
        return await call("save_prompt", content=f"Rotate the keys, not {token}", session_id="e1")

    talk(scenario)
    with world.memories() as memories:
        (row,) = sessions.search_prompts(memories, "rotate")
        assert token not in row["text"]
        sessions.delete_prompt(memories, row["id"])
    talk(scenario)
    with world.memories() as memories:
        assert sessions.search_prompts(memories, "rotate") == []
        assert memories.store.db.execute("select 1 from tombstones where entity = 'prompt'")


def test_e16_a_near_memory_is_a_candidate_and_an_unrelated_one_none(talk):
    async def scenario(call):
        first = await call("save", title="Release day", content=LESSON)
        near = await call("save", title="Release day now", content=NEAR)
        far = await call("save", title="Parser", content=OTHER)
        more = await call("save", title="Backups", content="Backups are kept for ninety days")
        return first, near, far, more

    first, near, far, more = talk(scenario)
    (candidate,) = near.candidates
    assert candidate["id"] == first.id
    assert candidate["judgment_id"].startswith("rel-")
    assert (near.judgment_required, far.candidates, more.candidates) == (True, [], [])


@pytest.mark.parametrize("verb", [*VERBS])
def test_e17_each_verb_is_judged_and_judged_again(talk, world, verb):
    async def scenario(call):
        first = await call("save", title="Release day", content=LESSON)
        near = await call("save", title="Release day now", content=NEAR)
        (one,) = near.candidates
        pair = {"memory_id_a": first.id, "memory_id_b": near.id}
        before = await call("compare", **pair, relation="compatible")
        verdict = {"reason": "one is for tests", "evidence": "commit abc", "confidence": 0.9}
        judged = await call("judge", judgment_id=one["judgment_id"], relation=verb, **verdict)
        foreign = await call("compare", memory_id_a=first.id, memory_id_b="ffff", relation=verb)
        return before, judged, foreign

    before, judged, foreign = talk(scenario)
    assert (judged.status, judged.relation) == ("judged", verb)
    assert judged.relation_id == before.relation_id
    assert (foreign.is_error, foreign.rule) == (True, "not_found")
    with world.memories() as memories:
        (row,) = relating.list_relations(memories)
        assert (row.reason, row.evidence) == ("one is for tests", "commit abc")
        ends = (row.source, row.target), (row.target, row.source)
        values = {"cosine": 0.9, "plain": 0.9, "second": 0.1}
        near = [neighbours.Nearest(id=a, neighbour=b, **values) for a, b in ends]
        neighbours.save(memories.store, (), near)
        assert curation.list_neighbours(memories) == []


def test_e18_what_is_superseded_leaves_search_context_and_files(talk, world):
    world.know(LESSON)

    async def scenario(call):
        new = await call("save", title="Release day now", content=NEAR)
        await call("compare", memory_id_a=new.id, memory_id_b=1, relation="supersedes")
        found = await call("search", query="releases mirror")
        return found, await call("context"), await call("get_observation", id=1)

    with world.memories() as memories:
        files.refresh_files(memories)
    index = world.root / ".ade/memory/MEMORY.md"
    assert "Mondays" in index.read_text()
    found, context, old = talk(scenario)
    with world.memories() as memories:
        files.refresh_files(memories)

    assert [row["number"] for row in found.results] == [2]
    assert "supersedes: #" in found.result
    assert "Mondays" not in context.result + index.read_text()
    assert old.is_error


def test_e23_a_write_without_a_certain_project_changes_nothing(serve, world, tmp_path):
    root = tmp_path / "other"
    root.mkdir()
    other = World(root)

    async def scenario(client):
        saved = await client.call_tool("mem_save", {"title": "Release day", "content": LESSON})
        named = await client.call_tool("mem_current_project", {})
        return unpack(saved), unpack(named)

    refused, named = serve(scenario, tools="engram", named=False, cwd=tmp_path)
    assert (refused.is_error, refused.rule) == (True, "project")
    assert "other" in str(refused.next) + str(refused.why)
    assert not named.is_error
    assert world.live() == other.live() == []


def test_e24_an_agent_merges_spellings_alone(talk, world):
    async def scenario(call):
        same = await call("merge_projects", **{"from": "Project,  PROJECT ", "to": "project"})
        return same, await call("merge_projects", **{"from": "billing", "to": "project"})

    same, refused = talk(scenario)
    assert (same.is_error, refused.is_error) == (False, True)
    assert "person" in refused.next


def test_e25_previews_lead_to_neighbours_and_to_the_whole_text(talk):
    long = f"{LESSON}. " + "All of the release is long. " * 60

    async def scenario(call):
        await call("save", title="Elsewhere", content="Backups run at night", session_id="e2")
        before = await call("save", title="Parser", content=OTHER, session_id="e1")
        focus = await call("save", title="Release day", content=long, session_id="e1")
        found = await call("search", query="mirror releases")
        around = await call("timeline", observation_id=focus.id)
        return before, focus, found, around, await call("get_observation", id=focus.id)

    before, focus, found, around, whole = talk(scenario)
    (row,) = found.results
    assert (row["number"], len(row["text"]) <= 240) == (focus.id, True)
    assert [each["text"][:10] for each in around.timeline["before"]] == [OTHER[:10]]
    assert (around.timeline["after"], before.is_error) == ([], False)
    assert whole.result == long.strip()


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


@pytest.mark.parametrize(
    ("heading", "saved"),
    [(f"{'#' * level} Key Learnings", 1) for level in range(1, 7)]
    + [
        ("**Key Learnings**", 1),
        ("## Lessons learned:", 1),
        ("## Key Takeaways", 1),
        ("## Aprendizajes clave", 1),
        ("## Lecciones aprendidas", 1),
        ("## Next steps", 0),
        ("Key Learnings of last year are below", 0),
    ],
)
def test_e29_learnings_stand_under_a_heading_of_any_level_in_two_languages(talk, heading, saved):
    async def scenario(call):
        text = f"Done.\n\n{heading}\n\n- too short\n- The cache is cleared before migrations run\n"
        return (await call("capture_passive", content=text)).saved

    assert talk(scenario) == saved


def test_e30_a_decision_is_due_after_six_months_until_it_is_marked(talk, world):
    world.know("Backups run at night, in UTC", OTHER, category="fact")

    async def save(call):
        await call("pin", id=2)
        await call("save", title="Release day", content=LESSON, type="decision")
        return await call("review"), await call("stats"), await call("context")

    async def review(call):
        due = await call("review")
        await call("review", action="mark_reviewed", observation_id=3)
        return due, await call("review")

    early, stats, context = talk(save)
    change(world, "review_after = '2026-01-01T00:00:00.000Z' where review_after is not null")
    due, marked = talk(review)
    assert (early.count, due.count, marked.count) == (0, 1, 0)
    assert "#3 [decision] Release day" in due.result
    assert (stats.observations["promoted"], stats.observations["candidates"]) == (2, 1)
    assert context.result.index("parser of invoices") < context.result.index("Backups")


def test_e31_a_broken_index_is_named_and_whole_once_repaired(talk, world):
    async def scenario(call):
        return await call("doctor")

    world.know(LESSON)
    with world.memories() as memories:
        memories.store.db.execute("delete from unified_memories_fts")
    broken = talk(scenario)
    assert (broken.ok, "bad database" in broken.result) == (False, True)
    found = project.at(str(world.root))
    doctor.fix(doctor.Patient(project=found, environment=world.environment, now=world.now))
    assert talk(scenario).ok


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

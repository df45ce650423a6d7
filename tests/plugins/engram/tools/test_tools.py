"""Engram's tools, as a client of the official SDK calls them."""

import pytest

from tests.plugins.mcp.conftest import unpack

NAMES = """
    search save update review pin unpin suggest_topic_key delete save_prompt context stats timeline
    get_observation session_summary session_start session_end capture_passive merge_projects
    current_project list_projects doctor judge compare
"""
LESSON = "Releases are cut on Mondays, because the mirror syncs on Sunday"
OTHER = "Releases are cut on Fridays now, because the mirror syncs each night"
LEARNED = "## Key Learnings\n\n1. The cache must be cleared before each migration of the schema\n"


@pytest.fixture
def talk(serve):
    """Call Engram's tools in turn; each answer has its envelope."""

    def run(scenario):
        async def hold(client):
            async def call(name, **arguments):
                result = unpack(await client.call_tool(f"mem_{name}", arguments))
                if not result.is_error:
                    assert result.project == "project"
                    assert result.project_source == "CLAUDE_PROJECT_DIR"
                    assert isinstance(result.result, str)
                return result

            return await scenario(call)

        return serve(hold, tools="engram")

    return run


def test_the_profile_has_the_names_of_engram(serve):
    async def scenario(client):
        return [tool.name for tool in (await client.list_tools()).tools]

    assert serve(scenario, tools="engram") == [f"mem_{name}" for name in NAMES.split()]


CONTRACT = {
    "capture_passive": "content* session_id source",
    "compare": "confidence* memory_id_a* memory_id_b* model reasoning* relation*",
    "context": "compact max_bytes project scope",
    "current_project": "",
    "delete": "hard_delete id*",
    "doctor": "check project",
    "get_observation": "history_cursor id* include_history",
    "judge": "confidence evidence judgment_id* reason relation* session_id",
    "list_projects": "",
    "merge_projects": "from* to*",
    "pin": "id*",
    "review": "action* id limit observation_id project",
    "save": "capture_prompt content observation project project_choice_reason"
    " recovery_token scope session_id title* topic_key type",
    "save_prompt": "content* project project_choice_reason recovery_token session_id",
    "search": "all_projects limit match_mode project query* response_format scope type",
    "session_end": "id* summary",
    "session_start": "directory id*",
    "session_summary": "content* project project_choice_reason recovery_token session_id",
    "stats": "project",
    "suggest_topic_key": "content title type",
    "timeline": "after before observation_id* project",
    "unpin": "id*",
    "update": "content id* scope title topic_key type",
}
"""Arguments of the tools in version 1 of Engram's contract; those with a star are required."""


def test_what_the_contract_of_engram_allows_is_taken(serve):
    async def scenario(client):
        return {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}

    schemas = serve(scenario, tools="engram")
    assert schemas.keys() == {f"mem_{name}" for name in CONTRACT}
    for name, arguments in CONTRACT.items():
        schema, words = schemas[f"mem_{name}"], set(arguments.split())
        assert {word.rstrip("*") for word in words} <= schema["properties"].keys(), name
        assert {f"{each}*" for each in schema.get("required", ())} <= words, name
        assert schema["additionalProperties"], name


def test_an_observation_lives_from_its_save_to_its_deletion(talk, world):
    async def scenario(call):
        await call("session_start", id="e1", directory="/p")
        saved = await call(
            "save", title="Release day", content=LESSON, type="decision", session_id="e1", x=1
        )
        number = world.row("select seq from unified_memories")[0]
        assert saved.id == number
        found = await call("search", query="mirror releases")
        await call("update", id=number, find="Mondays", replace="Tuesdays")
        whole = await call("get_observation", id=str(number), include_history=True)
        around = await call("timeline", observation_id=number)
        due = await call("review")
        await call("review", action="mark_reviewed", observation_id=number)
        hard = await call("delete", id=number, hard_delete=True)
        await call("delete", id=number)
        gone = await call("get_observation", id=number)
        return saved, found, whole, around, due, hard, gone

    saved, found, whole, around, due, hard, gone = talk(scenario)
    assert (saved.judgment_required, saved.candidates) == (False, [])
    assert saved.suggested_topic_key
    assert found.results[0]["number"] == saved.id
    assert "[decision] Release day" in found.result
    assert "Tuesdays" in whole.result
    assert len(whole.revisions) == 2
    assert around.timeline["session"]["id"] == "e1"
    assert due.count == 0
    assert (hard.is_error, gone.is_error, gone.rule) == (True, True, "not_found")


def test_a_search_takes_the_mode_and_the_format_and_names_pairs_by_number(talk, world):
    async def scenario(call):
        await call("save", title="Release day", observation=LESSON, type="decision")
        near = await call("save", title="Release day", content=OTHER, type="decision")
        (pair,) = near.candidates
        verdict = {"relation": "conflicts_with", "judgment_id": pair["judgment_id"]}
        await call("judge", **verdict)
        strict = await call("search", query="mirror zebra", match_mode="all")
        loose = await call("search", query="mirror zebra", match_mode="any")
        short = await call("search", query="mirror", limit=5.0, response_format="concise")
        return near, strict, loose, short

    near, strict, loose, short = talk(scenario)
    assert near.suggested_topic_key.startswith("decision/")
    assert (strict.results, len(loose.results)) == ([], 2)
    assert "syncs" not in short.result.replace("sync…", "")
    assert {f"conflicts: #{number}" for number in (1, 2)} <= {
        line.strip() for line in short.result.splitlines()
    }


def test_an_observation_keeps_its_scope(talk):
    async def scenario(call):
        await call("save", title="Release day", content=LESSON)
        kept = await call("update", id=1, scope="personal", title="Day")
        return kept, await call("update", id=1, scope="project", title="Day")

    refused, updated = talk(scenario)
    assert (refused.is_error, refused.rule) == (True, "conflict")
    assert updated.changed == ["title"]


def test_a_long_history_comes_in_parts(talk, world):
    world.configure("[doors]\nwrites_per_minute = 1000\n")

    async def scenario(call):
        for number in range(20):
            content = f"Release {number} went out on day {number}. {'word ' * 60}"
            await call("save", title="Last release", content=content, topic_key="topic/release")
        seen, cursor = [], 0
        while cursor is not None:
            part = await call("get_observation", id=1, include_history=True, history_cursor=cursor)
            seen += [row["revision"] for row in part.revisions]
            cursor = getattr(part, "next_history_cursor", None)
        return seen

    assert talk(scenario) == list(range(20, 0, -1))


def test_what_a_session_saves_by_engrams_protocol_the_next_one_finds(talk):
    told = "**What**: Releases on {}\n**Why**: the mirror syncs\n**Where**: ci/release.yml"
    summary = "## Goal\nMove the release day\n## Next Steps\n- Tell the team\n"

    async def scenario(call):
        await call("session_start", id="p1", directory="/p")
        nothing = await call("context"), await call("search", query="release day")
        key = (await call("suggest_topic_key", type="decision", title="Release day")).topic_key
        about = {"title": "Release day", "type": "decision", "topic_key": key, "session_id": "p1"}
        for day in ("Mondays", "Fridays"):  # what evolves keeps its key
            await call("save", content=told.format(day), **about)
        await call("capture_passive", content=LEARNED, session_id="p1")
        await call("session_summary", content=summary, session_id="p1")
        await call("session_end", id="p1", summary="Moved the release day")

        await call("session_start", id="p2", directory="/p")
        context = await call("context")
        found = await call("search", query="release day")
        number = found.results[0]["number"]
        whole = await call("get_observation", id=number, include_history=True)
        return nothing, context, whole, await call("timeline", observation_id=number)

    (before, none), context, whole, around = talk(scenario)
    assert ("Release" in before.result, none.results) == (False, [])
    assert "Moved the release day" in context.result
    assert whole.result == told.format("Fridays")
    assert whole.memory["topic_key"] == "decision/release-day"
    assert [row["revision"] for row in whole.revisions] == [2, 1]
    assert "The cache must be cleared" in around.result


def test_two_observations_are_judged_and_compared(talk):
    async def scenario(call):
        first = await call("save", title="Release day", content=LESSON)
        second = await call("save", title="Release day now", content=OTHER)
        (one,) = second.candidates
        judged = await call("judge", judgment_id=one["judgment_id"], relation="related")
        pair = {"memory_id_a": second.id, "memory_id_b": first.id}
        replaced = await call("compare", **pair, relation="supersedes", reasoning="it is later")
        found = await call("search", query="mirror releases")
        return judged, replaced, [row["number"] for row in found.results], second.id

    judged, replaced, found, second = talk(scenario)
    assert (judged.relation, judged.status) == ("related", "judged")
    assert (replaced.relation, replaced.status) == ("supersedes", "judged")
    assert found == [second]


def test_a_session_with_a_prompt_ends_with_its_summary(talk, world):
    async def scenario(call):
        await call("session_start", id="e1")
        await call("save_prompt", content="Fix the release, token ghp_" + "a1B2" * 9)
        await call("capture_passive", content=LEARNED, session_id="e1")
        await call("session_summary", content=f"## Goal\n{LESSON}", session_id="e1")
        ended = await call("session_end", id="e1")
        late = await call("save", title="Late", content=OTHER, session_id="e1")
        return ended, late, await call("stats"), await call("context")

    ended, late, stats, context = talk(scenario)
    assert ended.session["ended_at"]
    assert (late.is_error, late.rule) == (True, "session")
    assert stats.sessions == 2
    assert "ghp_" not in world.row("select content from user_prompts")[0]
    assert world.row("select count(*) from unified_memories where content like '%migration%'")[0]
    assert context.result


def test_projects_are_named_and_only_spellings_are_merged(talk):
    async def scenario(call):
        merged = await call("merge_projects", **{"from": "Project, PROJECT", "to": "project"})
        refused = await call("merge_projects", **{"from": "other", "to": "project"})
        named = await call("current_project")
        return merged, refused, named, await call("list_projects"), await call("doctor")

    merged, refused, named, listed, health = talk(scenario)
    assert (merged.is_error, refused.is_error) == (False, True)
    assert (named.result, listed.projects, health.ok) == ("project", ["project"], True)


def test_agents_pin_what_is_confirmed(talk, world):
    world.know(LESSON)

    async def scenario(call):
        pinned = await call("pin", id=1)
        key = await call("suggest_topic_key", type="bugfix", title="Login fails")
        return pinned, key, await call("unpin", id=1)

    pinned, key, unpinned = talk(scenario)
    assert (pinned.result, key.topic_key.partition("/")[0]) == ("Pinned: #1", "bug")
    assert unpinned.result == "Unpinned: #1"

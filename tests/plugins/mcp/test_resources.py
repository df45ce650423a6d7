"""Resources, prompts and completions, as a client of the official SDK sees them."""

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from ademem.core.memory import Category
from tests.builders import insert, memory
from tests.plugins.mcp.conftest import unpack

RULE = "Login sessions expire after ten minutes"
LESSON = "Releases are cut on Mondays, because the mirror syncs on Sunday"
MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])


@MODES
def test_texts_of_memory_are_read_by_their_address(serve, world, mode):
    world.know(RULE, category="convention")

    async def scenario(client):
        listed = [str(each.uri) for each in (await client.list_resources()).resources]
        templates = (await client.list_resource_templates()).resource_templates
        added = unpack(await client.call_tool("memory_add", {"content": LESSON}))
        session = world.row("select id from sessions order by rowid desc")[0]
        uris = [
            *("memory://briefing", "memory://core", "memory://candidates"),
            *("memory://topics/conventions", f"memory://item/{added.id}"),
            f"memory://session/{session}",
        ]
        texts = {uri: (await client.read_resource(uri)).contents[0] for uri in uris}
        return listed, [each.uri_template for each in templates], texts

    listed, templates, texts = serve(scenario, mode=mode)
    assert listed == ["memory://briefing", "memory://core", "memory://candidates"]
    assert templates == ["memory://topics/{topic}", "memory://item/{id}", "memory://session/{id}"]
    found = {uri.split("/")[2]: each.text for uri, each in texts.items()}
    assert {each.mime_type for each in texts.values()} == {"text/markdown"}
    assert all(text.startswith("Notes from project memory: data") for text in found.values())
    assert RULE in found["briefing"]
    assert RULE in found["topics"]
    assert all(LESSON in found[name] for name in ("candidates", "item", "session"))


@pytest.mark.parametrize(
    "uri",
    [
        "memory://nothing",
        "memory://topics/none",
        "memory://item/ffff",
        "memory://session/x",
        "file:///etc/passwd",
    ],
)
def test_an_unknown_address_has_the_code_of_the_protocol(serve, uri):
    async def scenario(client):
        with pytest.raises(MCPError) as raised:
            await client.read_resource(uri)
        return raised.value.error.code

    assert serve(scenario) == -32002


def test_a_long_text_ends_with_a_whole_line(serve, world):
    said = (f"Service {n} listens on port {n * 7} since the {n}th of May" for n in range(400))
    with world.memories() as memories:
        insert(memories.store, *(memory(text, category=Category.CONVENTION) for text in said))

    async def scenario(client):
        return (await client.read_resource("memory://briefing")).contents[0].text

    text = serve(scenario)
    assert 10_000 < len(text.encode()) <= 25_000
    assert text.endswith("</ademem-memory>\n")


def test_prompts_are_filled(serve):
    async def scenario(client):
        names = [each.name for each in (await client.list_prompts()).prompts]
        recall = await client.get_prompt("recall", {"words": "login {tokens}"})
        summary = await client.get_prompt("session_summary")
        return names, recall.messages[0].content.text, summary.messages[0].content.text

    names, recall, summary = serve(scenario)
    assert names == ["recall", "save", "review_candidates", "session_summary"]
    assert "memory_search with: login {tokens}" in recall
    assert summary.count("## ") == 6


@pytest.mark.parametrize("given", [None, {}, {"lesson": "x"}])
def test_a_prompt_without_its_argument_is_a_protocol_error(serve, given):
    async def scenario(client):
        with pytest.raises(MCPError) as raised:
            await client.get_prompt("recall", given)
        return raised.value.error

    error = serve(scenario)
    assert error.code == -32602
    assert "'words'" in error.message


def test_sessions_are_completed_for_sessions_and_nothing_for_words(serve, world):
    world.know(RULE)
    world.fire("session_start", source="startup")

    async def scenario(client):
        session = ResourceTemplateReference(type="ref/resource", uri="memory://session/{id}")
        prompt = PromptReference(type="ref/prompt", name="recall")
        found = await client.complete(session, {"name": "id", "value": "s"})
        words = await client.complete(prompt, {"name": "words", "value": ""})
        return found.completion.values, words.completion.values

    assert serve(scenario) == (["s1"], [])


def test_ids_topics_categories_and_keys_are_completed(serve, world):
    world.know(RULE, topic_key="login/expiry")
    id = world.row("select id from unified_memories")[0]

    async def scenario(client):
        async def complete(name, begun):
            template = ResourceTemplateReference(type="ref/resource", uri="memory://item/{id}")
            answer = await client.complete(template, {"name": name, "value": begun})
            return answer.completion.values

        prompt = PromptReference(type="ref/prompt", name="recall")
        other = await client.complete(prompt, {"name": "category", "value": "pr"})
        return (
            await complete("id", id[:3]),
            await complete("topic", "gotch"),
            await complete("topic_key", "log"),
            other.completion.values,
        )

    ids, topics, keys, categories = serve(scenario)
    assert (ids, topics, keys) == ([id], ["gotchas"], ["login/expiry"])
    assert categories == [each for each in Category if each.startswith("pr")]

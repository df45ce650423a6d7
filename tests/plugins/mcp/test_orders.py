"""What is held alone is held where a tool of MCP writes it."""

from tests.strangers.orders import HARMLESS, TEXTS, passed, shown_by


def test_what_is_held_alone_is_held_from_a_tool(serve, world):
    world.environment["ADEMEM_DOORS_WRITES_PER_MINUTE"] = "100"

    async def scenario(client):
        for text in TEXTS:
            await client.call_tool("memory_add", {"content": text})

    serve(scenario)
    assert passed(shown_by(world)) == [HARMLESS]

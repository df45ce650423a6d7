"""A client of the official Python SDK, 1.x or 2.x: python sdk_client.py [MODE] < steps

Reads `command` of a server and `steps`, each the name of a tool and its arguments, in which ID0 is
the id that the first `memory_add` returned. Prints what the server answered.
"""

import asyncio
import json
import os
import sys


async def use(client, steps):
    def plain(result):
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)

    found = {"ids": [], "calls": []}
    found["tools"] = plain(await client.list_tools())["tools"]
    for name, given in steps:
        placed = {
            key: found["ids"][int(value[2])] if str(value)[:2] == "ID" else value
            for key, value in given.items()
        }
        result = plain(await client.call_tool(name, placed))
        if name == "memory_add":
            found["ids"].append(result["structuredContent"]["id"])
        found["calls"].append(result)
    found["resources"] = plain(await client.list_resources())["resources"]
    found["templates"] = plain(await client.list_resource_templates())["resourceTemplates"]
    found["core"] = plain(await client.read_resource("memory://core"))["contents"]
    found["prompts"] = plain(await client.list_prompts())["prompts"]
    found["prompt"] = plain(await client.get_prompt("recall", {"words": "mirror"}))
    begun = {"name": "id", "value": found["ids"][0][:4]}
    template = reference(type="ref/resource", uri="memory://item/{id}")
    found["completion"] = plain(await client.complete(template, begun))["completion"]
    return found


def reference(**fields):
    try:
        from mcp_types import ResourceTemplateReference
    except ImportError:
        from mcp.types import ResourceTemplateReference
    return ResourceTemplateReference(**fields)


async def main(command, steps):
    from mcp import StdioServerParameters

    parameters = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    try:
        from mcp import Client
    except ImportError:
        from mcp import ClientSession
        from mcp.client.stdio import stdio_client

        async with stdio_client(parameters) as streams, ClientSession(*streams) as client:
            await client.initialize()
            return await use(client, steps)
    async with Client(parameters, mode=sys.argv[1]) as client:
        return await use(client, steps)


if __name__ == "__main__":
    given = json.load(sys.stdin)
    print(json.dumps(asyncio.run(main(given["command"], given["steps"]))))

"""The tool of an operation follows from its signature."""

from ademem.plugins.ade import server
from ademem.plugins.mcp.tools import make_tools
from tests.doors.cli.test_derived import OPERATION


def test_a_function_is_a_tool_with_the_limits_of_its_signature():
    (tool,) = make_tools([OPERATION], "memory_")
    schema = tool.input_schema

    assert (tool.name, tool.description) == ("memory_shout", "Say a text loudly.")
    assert schema["required"] == ["text"]
    assert schema["properties"]["times"] == {
        "type": "integer",
        "description": "How often.",
        "minimum": 1,
        "maximum": 3,
        "default": 1,
    }


def test_it_is_a_method_of_json_rpc_with_the_same_parameters(monkeypatch):
    (tool,) = make_tools([OPERATION], "memory_")
    monkeypatch.setattr(server, "TOOLS", {tool.name: tool})
    (method,) = (each for each in server.discover()["methods"] if each["name"] == tool.name)

    assert [each["name"] for each in method["params"]] == [
        *("text", "times", "tone", "twice_a_day", "project"),
    ]

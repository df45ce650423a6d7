"""The tool of an operation follows from its signature."""

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

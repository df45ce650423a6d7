"""Settings of the server for MCP."""

from __future__ import annotations

from ademem.core.settings import MORE, Section, yours


class McpSettings(Section):
    _name = "mcp"

    tools: str = yours("core")
    """Tools that `ademem mcp` serves: core, engram, all, or their names with commas."""
    read_only: bool = yours(False, stricter=MORE)
    """Serve only the tools that change nothing."""
    model: str = yours("shared", choices=("shared", "off"))
    """Model of searches by MCP: shared asks a process that has it loaded, off means words alone."""
    instructions: bool = yours(True)
    """Tell the client how its model uses the tools."""


SETTINGS = (McpSettings,)

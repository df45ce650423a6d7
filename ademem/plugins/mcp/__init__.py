"""Serve memory to other programs by MCP: tools, resources and prompts."""

COMMANDS = {"ademem.plugins.mcp.command": "mcp"}
PANELS = {"Set-up": "mcp"}
SETTINGS = "ademem.plugins.mcp.settings"

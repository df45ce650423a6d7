"""Exchange memories with Engram: its tools by MCP, its exports and database, and its chunks."""

FORMATS = EXPORTS = {"ademem.plugins.engram.commands": "engram"}
CARRIERS = {"ademem.plugins.engram.commands": "engram"}
TOOLS = {"ademem.plugins.engram.tools": "engram"}

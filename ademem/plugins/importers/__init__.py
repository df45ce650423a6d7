"""Import the memories of other programs and agents, and of Beads."""

FORMATS = {"ademem.plugins.importers.beads_format": "beads"}
READERS = {
    "ademem.plugins.importers.programs": (
        "claude-mem mcp-memory-service mempalace mem0 openmemory letta"
    ),
    "ademem.plugins.importers.notes": "memsearch basic-memory mempalace",
}

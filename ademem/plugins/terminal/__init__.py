"""Browse and review the memory in the terminal: `ademem tui`."""

PACKAGES = ("textual",)
COMMANDS = {"ademem.plugins.terminal.command": "tui"}
PANELS = {"Review": "tui"}

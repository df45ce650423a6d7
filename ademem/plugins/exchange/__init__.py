"""Exchange memories with other machines through shared folders, and by what other parts add."""

COMMANDS = {"ademem.plugins.exchange.command": "sync"}
PANELS = {"Team": "sync"}
CHECKS = "ademem.plugins.exchange.checks"

"""Answer the 24 methods of ADE's memory service by JSON-RPC, for programs that speak it."""

COMMANDS = {"ademem.plugins.ade.command": "rpc"}
HIDDEN = ("rpc",)

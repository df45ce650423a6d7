"""Compare the places that memories are anchored to with the code: `ademem verify`."""

COMMANDS = {"ademem.plugins.verify.command": "verify"}
PANELS = {"Upkeep": "verify"}
JOBS = "ademem.plugins.verify.jobs"
VERIFIER = "ademem.plugins.verify.anchor_verification"

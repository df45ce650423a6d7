"""Measure how good recall is, on datasets and on recorded queries."""

COMMANDS = {"ademem.plugins.evaluation.commands": "eval"}
GROUPS = {"eval": "How good recall is, measured."}
HIDDEN = ("eval", "eval run", "eval add", "eval gate")

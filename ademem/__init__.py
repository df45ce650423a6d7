"""Project memory for Claude Code that a team can trust."""

__version__ = "0.1.0"

"""Engram's tools, whose clients send more arguments than each has: unknown ones are left out."""

from ademem.plugins.engram.answers import TOOLS as ANSWERS
from ademem.plugins.mcp.tools import make_tools

TOOLS = make_tools(ANSWERS, "mem_", is_tolerant=True)

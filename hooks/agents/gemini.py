"""Any event of Gemini CLI."""

from ademem.plugins.agents.events import GEMINI, run

run(GEMINI)

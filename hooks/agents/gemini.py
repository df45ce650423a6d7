"""Any event of Gemini CLI."""

from ademem.session.agents import GEMINI, run

run(GEMINI)

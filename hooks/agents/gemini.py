"""Any event of Gemini CLI."""

from ademem.session.agents import run
from ademem.session.agents.gemini import render, translate

run(translate, render)

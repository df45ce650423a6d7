"""Any event of Codex."""

from ademem.session.agents import run
from ademem.session.agents.codex import render, translate

run(translate, render)

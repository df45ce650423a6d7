"""Any event of Codex."""

from ademem.session.agents import CODEX, run

run(CODEX)

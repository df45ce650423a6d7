"""Any event of Codex."""

from ademem.plugins.agents.events import CODEX, run

run(CODEX)

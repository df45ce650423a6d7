"""Run the hooks in Codex, Gemini CLI and OpenCode: `ademem install --agent`."""

AGENTS = {"ademem.plugins.agents.installing": "codex gemini opencode"}

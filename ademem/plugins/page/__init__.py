"""Show and review the memory in a browser of this machine: `ademem web`."""

PACKAGES = ("starlette", "uvicorn", "jinja2")
COMMANDS = {"ademem.plugins.page.command": "web ui"}
PANELS = {"Review": "web"}
HIDDEN = ("ui",)

"""A conversation that a person types into the real client in a terminal."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

from tests import persons

from .world import World

DRIVER = Path(__file__).with_name("typing_person.py")

SOUGHT = {"downloads.claude.ai:443", "github.com:443"}
"""Where an interactive client looks for plugins and newer versions; nothing answers it."""


def type_to(world: World, *prompts: str, **options: object) -> None:
    """Hold a conversation in an interactive client that a login started."""
    approved = {"approved": [world.environment["ANTHROPIC_API_KEY"][-20:]], "rejected": []}
    seen = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    state = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "bypassPermissionsModeAccepted": True,
        "customApiKeyResponses": approved,
        "projects": {str(world.project): seen},
    }
    (world.config / ".claude.json").write_text(json.dumps(state))
    client = shlex.join(
        [str(world.claude), "--permission-mode", "bypassPermissions", *world.options]
    )
    command = [sys.executable, str(DRIVER), str(world.root), client, *prompts]
    environment = world.environment | {"TERM": "xterm-256color"}
    persons.run_below(
        *("sshd", "bash"), command=command, environment=environment, folder=world.project, **options
    )


def marks(world: World) -> dict[str, object]:
    """A hook of the project that notes each turn that ended, but of clients below this one."""
    noted = f"n=$(ls {world.root} | grep -c answered-); : >{world.root}/answered-$((n + 1))"
    count = f'[ "$NESTED" ] || {{ {noted}; }}'
    hook = {"hooks": [{"type": "command", "command": count}]}
    return {"hooks": {"Stop": [hook]}, "permissions": {"allow": ["Bash"]}}

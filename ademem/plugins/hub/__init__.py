"""Share memories through a server of the team: the server, its members and its page."""

COMMANDS = {"ademem.plugins.hub.commands": "hub"}
PANELS = {"Team": "hub"}
HIDDEN = ("hub page",)
GROUPS = {
    "hub": "Share memories through a server of the team.",
    "hub project": "Projects of the hub.",
    "hub member": "Members of a project of the hub.",
    "hub token": "Tokens of the members of a project.",
}

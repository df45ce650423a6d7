"""Share memories through a server of the team: its clients, the server, members and the page."""

COMMANDS = {"ademem.plugins.hub.commands": "hub"}
PANELS = {"Team": "hub"}
HIDDEN = ("hub page",)
JOBS = "ademem.plugins.hub.jobs"
EXCHANGE = "ademem.plugins.hub.exchange"
GROUPS = {
    "hub": "Share memories through a server.",
    "hub project": "Projects of the hub.",
    "hub member": "Members of a project of the hub.",
    "hub token": "Tokens of the members of a project.",
}
SETTINGS = "ademem.plugins.hub.settings"

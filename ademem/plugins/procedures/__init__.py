"""Procedures learned from sessions, the skills that they become, and missions."""

COMMANDS = {"ademem.plugins.procedures.commands": "mission procedures skills"}
PANELS = {"Insight": "procedures"}
HIDDEN = ("procedures outcome", "skills", "mission")
GROUPS = {
    "procedures": "Procedures learned from sessions.",
    "skills": "Skill and command files of the project.",
    "mission": "Missions, whose memories are separate until they end.",
}
JOBS = "ademem.plugins.procedures.jobs"

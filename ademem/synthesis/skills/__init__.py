"""Skill files of the project, as memories that are found when asked for."""

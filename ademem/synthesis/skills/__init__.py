"""Skill files of the project as memories."""

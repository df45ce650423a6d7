"""Files below `.ade/`: rendered from memories and parsed; their paths in the project."""

FOLDER = ".ade/memory/"
INDEX = FOLDER + "MEMORY.md"
SHEET = FOLDER + "candidates.md"
KNOWLEDGE = FOLDER + "knowledge.jsonl"
ARCHIVE = FOLDER + "knowledge.archive.jsonl"
LINE_FILES = (ARCHIVE, KNOWLEDGE)
"""Oldest first: of two lines about one memory that are equally new, the later counts."""
BRIEF = ".ade/cto/core-memory.json"
BRIEF_PAGE = ".ade/cto/MEMORY.md"

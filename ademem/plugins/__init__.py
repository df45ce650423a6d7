"""Parts around the core; each folder is one, and `core/plugins.py` says how it is found."""

MODULES = {"JOBS": ("hub",), "EXCHANGE": ("hub",), "BUILDER": ("models",)}
"""Parts that name a module at a seam, which hooks load by this record."""

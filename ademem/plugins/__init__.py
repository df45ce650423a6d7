"""Parts around the core; each folder is one, and `core/plugins.py` says how it is found."""

MODULES = {
    "JOBS": ("verify", "procedures", "hub"),
    "EXCHANGE": ("hub",),
    "BUILDER": ("models",),
    "CHECKS": ("exchange", "client"),
    "CLIENT": ("client",),
    "LISTS": ("client",),
    "NOTICES": ("client",),
    "VERIFIER": ("verify",),
    "SETTINGS": ("hub", "mcp"),
}
"""Parts that name a module at a seam, which are loaded by this record."""

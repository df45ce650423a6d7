"""Parts around the core; each folder is one, and `core/plugins.py` says how it is found."""

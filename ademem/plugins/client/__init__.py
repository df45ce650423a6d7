"""A second lock inside Claude Code: the module of `ademem install --client`, and what it reads.

The client runs `module/hooks/client.mjs` at each tool call. `find.mjs` looks the call up in a file
that `compiling.py` writes with the lists of keys, so that no rule is interpreted twice.
"""

LISTS = "ademem.plugins.client.lists"
CLIENT = "ademem.plugins.client.installing"
NOTICES = "ademem.plugins.client.notices"
CHECKS = "ademem.plugins.client.checks"

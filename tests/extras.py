"""Packages that only extras bring."""

import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
IMPORTED_AS = {"psycopg[binary,pool]": ("psycopg", "psycopg_pool")}
"""Names of a requirement that are not those by which its packages are imported."""


def packages(requirements):
    """Return the names by which the packages of some requirements are imported."""
    found = set()
    for each in requirements:
        name = each.partition(">")[0].partition("=")[0]
        found.update(IMPORTED_AS.get(name, (name.replace("-", "_"),)))
    return found


EXTRAS = {
    extra: packages(requirements)
    for extra, requirements in PROJECT["optional-dependencies"].items()
    if extra not in ("dev", "test")
}
PACKAGES = frozenset().union(*EXTRAS.values())
"""What a default installation lacks."""

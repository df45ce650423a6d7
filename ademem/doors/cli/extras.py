"""Packages of the extras: which one a command lacks, and how this installation gets it."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ademem.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PACKAGE = "ademem"
REPOSITORY = f"https://github.com/ademem/{PACKAGE}"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
"""Folder of the package; with `install.sh` in it, a checkout or a plugin."""
PREFIX = "~/.local/share/ademem"
"""Where the installer puts its environment, of which ADEMEM_PREFIX names another place."""
SWITCHES = {"web": "--page", "tui": "--page", "mcp": "--mcp"}
"""Extras that the installer has an option for."""


@contextmanager
def needs(extra: str, what: str) -> Iterator[None]:
    """Import in it what is only there with *extra*, or several separated by commas."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package == PACKAGE:
            raise
        why = f"{what} needs the package {package} of the extra {extra}"
        raise UsageError(why, describe_install(extra)) from error


def describe_install(extra: str = "") -> str:
    """Return the command that adds *extra* to the installation that runs this."""
    from importlib import metadata  # which is slow to load, and for a refusal alone

    try:
        installed = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        return _run_installer(extra)
    origin = json.loads(installed.read_text("direct_url.json") or "{}")
    requirement = _requirement(origin, f"[{extra}]" if extra else "")
    python = shlex.quote(sys.executable)
    if find_spec("pip") is None:
        return f"uv pip install --python {python} {requirement}"
    return f"{python} -I -m pip install {requirement}"


def _run_installer(extra: str) -> str:
    """Only the plugin, or a checkout, is there; the installer makes an environment from it."""
    script = f"{ROOT}/install.sh"
    clone = "" if os.path.exists(script) else f"git clone {REPOSITORY} && "
    source = f"./{PACKAGE}" if clone else ROOT
    switches = dict.fromkeys(SWITCHES.get(name, "") for name in extra.split(","))
    command = " ".join(
        [f"sh {shlex.quote(f'{source}/install.sh')} --project .", *filter(None, switches)]
    )
    if extra and "" in switches:
        python = f"{os.environ.get('ADEMEM_PREFIX') or PREFIX}/bin/python"
        command += f" && {python} -I -m pip install {shlex.quote(f'{source}[{extra}]')}"
    return clone + command


def _requirement(origin: Mapping[str, object], extras: str) -> str:
    """Return what pip installed from: a folder, an archive, a repository, or its index."""
    url = str(origin.get("url") or "")
    if not url:
        return shlex.quote(f"{PACKAGE}{extras}")
    if not url.startswith("file:"):
        scheme = "git+" if "vcs_info" in origin else ""
        return shlex.quote(f"{PACKAGE}{extras} @ {scheme}{url}")
    encoded = url.removeprefix("file://").encode()
    path = os.fsdecode(re.sub(rb"%(..)", lambda code: bytes.fromhex(code[1].decode()), encoded))
    if not os.path.exists(path):
        return shlex.quote(f"{PACKAGE}{extras} @ git+{REPOSITORY}")
    details = origin.get("dir_info")
    editable = isinstance(details, dict) and details.get("editable")
    return f"{'--editable ' if editable else ''}{shlex.quote(path + extras)}"

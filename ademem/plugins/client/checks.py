"""Checks of `ademem doctor`: was the module loaded, and which modules does a clone bring."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from glob import escape, glob
from typing import TYPE_CHECKING, Any

from ademem.core import confined, shared_files
from ademem.operations.doctor import Finding
from ademem.operations.install import client_settings
from ademem.plugins.client import installing, places
from ademem.store.runtime import open_runtime

if TYPE_CHECKING:
    from ademem.operations.doctor import Patient

HOOKS_BYTES = 100_000
SWITCHES: tuple[tuple[str, Any], ...] = (
    ("disableAllHooks", True),
    ("allowManagedHooksOnly", True),
    ("strictPluginOnlyCustomization", None),
    ("strictKnownMarketplaces", []),
)
"""Settings of the client, with the value, if not any, with which it loads no module of a person."""


def module_is_loaded(patient: Patient) -> Finding:
    """Compare the module with the package, and the last session with what it leaves there."""
    environment = patient.environment
    if not installing.is_installed(environment):
        return Finding(check="module", ok=True, message="no module is in the client")
    target, again = places.module_folder(environment), "`ademem install --client` writes it again"
    if any(
        shared_files.read_text(os.path.join(target, name)) != text
        for name, text in installing.texts(environment)
    ):
        return Finding(check="module", ok=False, message=f"{target} differs", hint=again)
    with open_runtime(patient.project, environment, patient.now) as runtime:
        last = places.last_session(runtime.store, environment)
    if not last or places.was_loaded(last, environment):
        message = f"the client loaded {target}" if last else f"{target} waits for a session"
        return Finding(check="module", ok=True, message=message)
    switch = next(_find_switches(patient), "")
    return Finding(
        check="module",
        ok=False,
        message=f"the client did not load it: {switch or 'no switch for it was found'}",
        hint="the hooks guard alone; `claude --debug` says why, `ademem uninstall --client`"
        " removes it",
    )


def _find_switches(patient: Patient) -> Iterator[str]:
    """Yield settings with which the client loads no module, with their files."""
    for source in client_settings.read_sources(patient.project.root, patient.environment):
        for name, value in SWITCHES:
            if name in source.values and value in (None, source.values[name]):
                yield f"{name} in {source.path}"
        enabled = source.values.get("enabledPlugins")
        if isinstance(enabled, dict) and enabled.get(f"{places.NAME}@skills-dir") is False:
            yield f"enabledPlugins in {source.path}"


def clones_bring_no_module(patient: Patient) -> Finding:
    """List modules of the project, which the client runs once its folder is trusted."""
    found = list(_list_modules(patient.project.root))
    if not found:
        return Finding(check="modules", ok=True, message="the project brings no module")
    hint = "the client runs them in this folder once it is trusted, with your rights: read them"
    return Finding(check="modules", ok=False, message=", ".join(found), hint=hint)


def _list_modules(root: str) -> Iterator[str]:
    for path in sorted(glob(os.path.join(escape(root), ".claude/skills/*/hooks/hooks.json"))):
        try:
            data = confined.read_bytes(root, path, HOOKS_BYTES) or b""
            given = json.loads(data.decode("utf-8-sig", "replace"))
        except ValueError:  # which the client does not read either
            continue
        except (OSError, RecursionError):
            yield f"{os.path.relpath(path, root)} (cannot be read)"
            continue
        modules = given.get("modules") if isinstance(given, dict) else None
        for name in modules if isinstance(modules, list) else filter(None, [modules]):
            yield os.path.relpath(os.path.join(os.path.dirname(path), str(name)), root)


CHECKS = (module_is_loaded, clones_bring_no_module)

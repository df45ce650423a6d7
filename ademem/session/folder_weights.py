"""Weights by the folder in which a session works, such as a package of the repository."""

from __future__ import annotations

import os

from ademem.store import bindings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.store import Store

HERE, ELSEWHERE = 2.0, 0.5
"""Weights of a memory with a place in the folder of the session, and in another one alone."""


def folder_of(cwd: str, root: str) -> str:
    """Return the folder below the root; empty for the root itself and for what is outside."""
    inside = os.path.relpath(os.path.realpath(cwd or root), root)
    return "" if inside == os.curdir or inside.startswith(os.pardir) else inside


def weigh_places(store: Store, folder: str, ids: Iterable[str], most: int) -> dict[str, float]:
    """Weigh memories of the folder more than those of others; *most* are looked for in it."""
    if not folder:
        return {}
    here = set(bindings.find_below(store, folder, most))
    elsewhere = bindings.find_placed(store, ids) - here
    return dict.fromkeys(here, HERE) | dict.fromkeys(elsewhere, ELSEWHERE)

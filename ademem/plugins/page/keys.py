"""Keys of the page, by the address at which they act; each presses what a mouse does, too."""

from __future__ import annotations

Keys = dict[str, str]

EVERYWHERE: Keys = {
    "/": "search",
    "?": "these keys",
    "z Z": "undo, redo",
    "Esc": "leave a field, close this",
}
ROWS: Keys = {"j k": "next, previous row", "Enter": "open it"}
KEYS: dict[str, tuple[str, Keys]] = {
    "/": (
        "Today",
        ROWS
        | {
            "a e r": "keep, edit, drop what was learned, in the row",
            "n": "not right: this was not prevented, or not answered",
            "v": "review what waits",
        },
    ),
    "/memories": ("Memories", ROWS),
    "/memory/": (
        "A memory",
        {"a r": "keep, drop, while it waits", "e": "edit", "w": "change where it comes up"},
    ),
    "/review": (
        "Review",
        {
            "a": "keep; it does belong here",
            "e": "edit, then keep",
            "r R": "drop; with a reason",
            "w": "change where it comes up",
            "n": "only tell it",
            "p": "keep and pin",
            "m": "merge with the one like it",
            "1 2 b": "keep the older one of two, the newer one, both",
            "j k": "next, previous",
            "x": "select; then a r t p act on all selected",
            "s": "later: leave it until tomorrow",
        },
    ),
    "/sessions": ("Sessions", ROWS),
}


def list_keys(path: str) -> list[tuple[str, Keys]]:
    """Return what keys do at an address, by title; those of all places at that of the keys."""
    if path == "/keys":
        return [*KEYS.values(), ("Everywhere", EVERYWHERE)]
    here = [KEYS[each] for each in KEYS if path == each or (each != "/" and path.startswith(each))]
    return [*here[-1:], ("Everywhere", EVERYWHERE)]

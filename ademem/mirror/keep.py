"""Regions of MEMORY.md that a person wrote and no rendering may lose."""

from __future__ import annotations

from ademem.value import Value

OPEN = "<!-- ademem:keep -->"
CLOSE = "<!-- /ademem:keep -->"


class Region(Value):
    lines: tuple[str, ...]
    """With the comments around them."""
    heading: str = ""
    """The heading it stands under; it goes back to the end of that section."""


def regions(page: str) -> tuple[Region, ...]:
    """The regions in order; one that was never closed reaches to the end."""
    return _split(page)[0]


def outside(page: str) -> str:
    """What is ours of the page: the lines outside all regions, blank ones left out."""
    return "\n".join(line for line in _split(page)[1] if line)


def _split(page: str) -> tuple[tuple[Region, ...], list[str]]:
    found: list[Region] = []
    ours: list[str] = []
    inside: list[str] = []
    heading = ""
    for line in page.split("\n"):
        if inside or line.strip() == OPEN:
            inside.append(line)
            if line.strip() == CLOSE:
                found.append(Region(lines=tuple(inside), heading=heading))
                inside = []
            continue
        ours.append(line.rstrip())
        if line.startswith("## "):
            heading = line.rstrip()
    if inside:
        found.append(Region(lines=(*inside, CLOSE), heading=heading))
    return tuple(found), ours

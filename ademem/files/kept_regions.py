"""Regions of MEMORY.md that a person wrote and no rendering may lose."""

from __future__ import annotations

from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

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


def without(page: str, unwanted: Collection[Region]) -> str:
    """The page without these regions."""
    for region in unwanted:
        page = page.replace("\n".join(region.lines) + "\n", "", 1)
    return page


def placed(page: str, region: Region) -> str:
    """The page with the region in its section, or at the end if it has none."""
    lines = page.rstrip("\n").split("\n")
    at = lines.index(region.heading) + 1 if region.heading in lines else len(lines)
    return "\n".join([*lines[:at], "", *region.lines, *lines[at:]]) + "\n"


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

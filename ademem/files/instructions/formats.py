"""The instruction files of agents, by path: the scope of each, and if Claude Code loads it."""

from __future__ import annotations

from ademem.core import regex
from ademem.core.value import StrEnum, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection


class Load(StrEnum):
    """Who puts the text before the model."""

    CLIENT = "client"
    """Claude Code, when a session starts or a file of the folder is read."""
    ALONE = "alone"
    """A newer Claude Code, where no CLAUDE.md stands in the project's root or beside the file."""
    MATCHING = "matching"
    """Claude Code, when a file that its globs match is read."""
    NONE = "none"


class Format(Value):
    name: str
    pattern: str
    """Regular expression of paths; its group is the folder that the text is about."""
    load: Load = Load.NONE
    fields: tuple[str, ...] = ()
    """Keys of the front matter with globs."""
    is_decision: bool = False
    is_bank: bool = False


_ABOVE = r"((?:.*/)?)"
_MARKDOWN = r".*\.(?:md|mdc|markdown)"

FORMATS: tuple[Format, ...] = (
    Format(
        name="claude-rules",
        pattern=rf"{_ABOVE}\.claude/rules/.*\.md",
        load=Load.MATCHING,
        fields=("paths",),
    ),
    Format(name="claude", pattern=rf"{_ABOVE}\.claude/CLAUDE\.md", load=Load.CLIENT),
    Format(name="claude", pattern=rf"{_ABOVE}CLAUDE(?:\.local)?\.md", load=Load.CLIENT),
    Format(name="agents", pattern=rf"{_ABOVE}AGENTS\.md", load=Load.ALONE),
    Format(name="gemini", pattern=rf"{_ABOVE}GEMINI\.md"),
    Format(name="copilot", pattern=rf"{_ABOVE}\.github/copilot-instructions\.md"),
    Format(name="copilot", pattern=rf"{_ABOVE}copilot-instructions\.md"),
    Format(name="rules", pattern=rf"{_ABOVE}\.(?:cursor|windsurf|cline)rules"),
    Format(name="rules", pattern=rf"{_ABOVE}\.rules"),
    Format(
        name="cursor",
        pattern=rf"{_ABOVE}\.cursor/rules/{_MARKDOWN}",
        fields=("globs",),
    ),
    Format(
        name="copilot",
        pattern=rf"{_ABOVE}\.github/instructions/.*\.instructions\.md",
        fields=("applyTo",),
    ),
    Format(name="windsurf", pattern=rf"{_ABOVE}\.windsurf/rules/{_MARKDOWN}", fields=("globs",)),
    Format(
        name="rules",
        pattern=rf"{_ABOVE}\.(?:cline)?rules/(?:.*\.(?:md|mdc|markdown|txt))",
        fields=("paths", "globs"),
    ),
    Format(name="memory-bank", pattern=rf"{_ABOVE}memory-bank/.*\.md", is_bank=True),
    Format(
        name="decision",
        pattern=rf"{_ABOVE}(?:adrs?|decisions)/(?:.*/)?(?:adr[-_ ]?)?\d+[^/]*\.(?:md|markdown)",
        is_decision=True,
    ),
)
"""The first that fits a path decides."""

BESIDE = ("CLAUDE.local.md",)
"""Files that git usually ignores, and that are looked for beside the others."""

MANIFESTS = frozenset(
    "package.json pyproject.toml setup.py Cargo.toml go.mod pom.xml build.gradle build.gradle.kts"
    " composer.json Gemfile mix.exs pubspec.yaml Package.swift deno.json".split()
)
"""Files that make a folder a package."""

LEFT_OUT = frozenset(
    "node_modules vendor vendored third_party third-party fixtures fixture __fixtures__ testdata"
    " test-data __snapshots__ dist build target out templates template site-packages"
    " .venv venv .git .ade".split()
)
"""Folders whose files are of another project, for tests, made by a program, or patterns to fill."""

VENDORED = "it is in a folder that is left out (vendored, fixture, build, template)"


class Place(Value):
    """A file, and what its path tells."""

    path: str
    format: Format
    folder: str
    """The folder that it is about, with a slash at its end; empty for the project."""


def find_format(path: str) -> Place | None:
    """Return the format of a path relative to the project; None for any other file."""
    for each in FORMATS:
        if found := regex.fullmatch(each.pattern, path):
            return Place(path=path, format=each, folder=found[1])
    return None


def may_be_instructions(path: str) -> bool:
    """Tell quickly that a path is worth a look at all formats."""
    return _SIGNS.search(path) is not None


_SIGNS = regex.compile(
    r"(?:^|/)(?:\.claude/|CLAUDE\.|AGENTS\.md|GEMINI\.md|\.github/|copilot-instructions\.md|\.cursor"
    r"|\.windsurf|\.clinerules|\.rules|memory-bank/|adrs?/|decisions/)"
)


def is_left_out(path: str) -> bool:
    return not LEFT_OUT.isdisjoint(path.split("/")[:-1])


def package_above(folder: str, files: Collection[str]) -> str:
    """Return the nearest folder above that is a package, or the project, with a slash behind."""
    parts = folder.rstrip("/").split("/") if folder else []
    while parts:
        here = "/".join(parts) + "/"
        if any(here + name in files for name in MANIFESTS):
            return here
        parts.pop()
    return ""

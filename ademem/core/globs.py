"""Globs of instruction files: whether a path is in scope, as the file's own client reads them.

Two readings. An editor's: a pattern is relative to the project, one without a slash counts at any
depth, a folder for all that is in it, and `!` excludes. Claude Code reads the `paths` of its rules
as git reads `.gitignore`: the last pattern that matches decides, and what a matching folder holds
is in scope whatever comes later.
"""

from __future__ import annotations

from itertools import filterfalse, islice

from ademem.core.caching import lru_cache
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

LONGEST = 400
MOST_CHOICES = 64
"""Patterns that the braces of one pattern may stand for; more are left out."""
MOST_PATTERNS = 64
MOST_STARS = 12
"""Stars in one pattern; matching more can take forever."""
EVERYTHING = frozenset(("", "*", "**", "**/*", "/**", "**/**", "/"))
_WILD = frozenset("*?[")


class Scope(Value):
    """The paths that a rule is about; without a pattern all."""

    globs: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    like_gitignore: bool = False
    """True for `paths` of Claude Code, whose patterns are in `globs` alone, in their order."""

    @property
    def is_everything(self) -> bool:
        return not self.globs and not self.excluded

    def holds(self, path: str) -> bool:
        """Tell whether a path, relative to the project, is in scope."""
        if self.like_gitignore:
            return _is_matched_like_gitignore(path, self.globs)
        if any(_editor(glob).match(path) for glob in self.excluded):
            return False
        return not self.globs or any(_editor(glob).match(path) for glob in self.globs)


def read_scope(patterns: Iterable[str], *, like_gitignore: bool = False) -> Scope:
    """Return the scope of patterns as they are written, with braces; all for `**` and its kin."""
    given = list(islice(_readable(patterns), MOST_PATTERNS))
    if like_gitignore:
        plain = tuple(filter(None, (pattern.removesuffix("/**") for pattern in given)))
        return Scope(globs=plain if set(plain) - {"**"} else (), like_gitignore=True)
    wanted = dict.fromkeys(_plain(pattern) for pattern in given if pattern[0] != "!")
    excluded = dict.fromkeys(_plain(pattern[1:]) for pattern in given if pattern[0] == "!")
    return Scope(
        globs=tuple(wanted) if EVERYTHING.isdisjoint(wanted) else (),
        excluded=tuple(filterfalse(EVERYTHING.__contains__, excluded)),
    )


def _readable(patterns: Iterable[str]) -> Iterator[str]:
    """Yield what patterns with braces stand for, without what is too long to be matched."""
    for written in patterns:
        for pattern in expand_braces(written.strip()):
            if pattern and len(pattern) <= LONGEST and pattern.count("*") <= MOST_STARS:
                yield pattern


def split_patterns(line: str) -> list[str]:
    """Split a line at commas; one in braces separates none."""
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(line):
        depth += (sign == "{") - (sign == "}" and depth > 0)
        if sign == "," and not depth:
            parts.append(line[start:at])
            start = at + 1
    parts.append(line[start:])
    return [part.strip().strip("\"'") for part in parts if part.strip().strip("\"'")]


def expand_braces(pattern: str) -> list[str]:
    """Return the patterns that `{a,b}` stands for, at most MOST_CHOICES."""
    found, waiting = list[str](), [pattern]
    while waiting and len(found) + len(waiting) <= MOST_CHOICES:
        each = waiting.pop(0)
        start, end = _innermost(each)
        if start < 0:
            found.append(each)
            continue
        inner = each[start + 1 : end].split(",")
        waiting[:0] = [each[:start] + one.strip() + each[end + 1 :] for one in inner]
    return found


def _innermost(pattern: str) -> tuple[int, int]:
    end = pattern.find("}")
    while end >= 0:
        start = pattern.rfind("{", 0, end)
        if start >= 0 and "," in pattern[start:end]:
            return start, end
        end = pattern.find("}", end + 1)
    return -1, -1


def keys_of(scope: Scope) -> list[tuple[str, str, str]]:
    """Return kind (`glob` or `suffix`), key and pattern of each glob, for a table of bindings.

    A path that the glob matches has the key among its folders or names, or ends with the suffix;
    an empty key stands for any path.
    """
    globs = [each for each in scope.globs if not each.startswith("!")]
    return [_key_of(each) for each in globs] or [("glob", "", "")]


def _key_of(glob: str) -> tuple[str, str, str]:
    parts = [part for part in glob.split("/") if part and part != "."]
    plain = [part for part in parts if _WILD.isdisjoint(part)]
    if plain:
        return "glob", plain[-1], glob
    last = parts[-1] if parts else ""
    tail = last[max(map(last.rfind, "*?]")) + 1 :]
    dot = tail.find(".")
    if dot >= 0 and len(tail) > dot + 1:
        return "suffix", tail[dot:], glob
    return "glob", "", glob


def _plain(pattern: str) -> str:
    return pattern.removeprefix("./").lstrip("/").strip()


@lru_cache(maxsize=512)
def _editor(glob: str) -> re.Pattern[str]:
    """Compile a pattern relative to the project; what it matches may be a folder."""
    import re

    folder = glob.rstrip("/")
    anywhere = "" if "/" in folder else "(?:.*/)?"
    is_wild = not _WILD.isdisjoint(folder.rpartition("/")[2])
    below = "/.*" if glob.endswith("/") else "(?:/.*)?" if not is_wild else ""
    return re.compile(f"(?s:{anywhere}{''.join(_translate(folder))}{below})\\Z")


def _is_matched_like_gitignore(path: str, globs: tuple[str, ...]) -> bool:
    """Follow the `ignore` package: what a matched folder holds is matched."""
    parts = path.split("/")
    for end in range(1, len(parts) + 1):
        here = "/".join(parts[:end])
        is_folder = end < len(parts)
        is_matched = False
        for glob in globs:
            negates = glob.startswith("!")
            if _gitignore(glob[negates:], is_folder).match(here):
                is_matched = not negates
        if is_matched:
            return True
    return False


@lru_cache(maxsize=1024)
def _gitignore(glob: str, is_folder: bool) -> re.Pattern[str]:
    import re

    needs_folder = glob.endswith("/")
    plain = glob.rstrip("/")
    if (needs_folder and not is_folder) or not plain:
        return re.compile(r"(?!)")
    anywhere = "" if "/" in plain else "(?:.*/)?"
    return re.compile(f"(?is:{anywhere}{''.join(_translate(plain.lstrip('/')))})\\Z")


def _translate(glob: str) -> Iterator[str]:
    at = 0
    while at < len(glob):
        expression, at = _translate_at(glob, at)
        yield expression


def _translate_at(glob: str, at: int) -> tuple[str, int]:
    """Return the expression for the sign, stars or class at a place, and the place behind it."""
    import re

    begins_name = at == 0 or glob[at - 1] == "/"
    if begins_name and glob.startswith("**/", at):
        return "(?:.*/)?", at + 3
    if glob[at:] == "/**":
        return "/.*", at + 3
    if glob[at] == "*":
        return _translate_stars(glob, at, begins_name)
    if glob[at] == "?":
        return "[^/]", at + 1
    if glob[at] == "[" and (end := glob.find("]", at + 2)) > 0:
        return _class(glob[at + 1 : end]), end + 1
    return re.escape(glob[at]), at + 1


def _translate_stars(glob: str, at: int, begins_name: bool) -> tuple[str, int]:
    behind = glob[at:].lstrip("*")
    end = len(glob) - len(behind)
    is_whole = begins_name and not behind and end - at > 1
    return ".*" if is_whole else "[^/]*", end


def _class(written: str) -> str:
    """Return a class of characters; one that is no valid expression matches its signs."""
    import re

    inner = written.replace("\\", "\\\\")
    inner = f"^{inner[1:]}" if inner[0] in "!^" else inner
    try:
        re.compile(f"[{inner}]")
    except re.error:
        return re.escape(f"[{inner}]")
    return f"[{inner}]"

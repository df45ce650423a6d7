"""The closed vocabulary of acts, such as a push or a release, and their names in a text."""

from __future__ import annotations

from ademem.core import regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ACTS = {
    "force push": r"force[- ]?(?:push\w*|with[- ]lease)"
    r"|push\w*\s+(?:(?:with|using)\s+)?-{0,2}force",
    "whole suite": r"(?:(?:whole|full|entire|complete)\s+(?:test\s*)?suite|all\s+(?:the\s+)?tests)",
    "pull request": r"(?:pull|merge)[- ]requests?|PRs?|MRs?",
    "commit": r"commit(?:s|ted|ting)?",
    "push": r"push(?:es|ed|ing)?",
    "merge": r"merg(?:es?|ed|ing)",
    "rebase": r"rebas(?:es?|ed|ing)",
    "tag": r"tag(?:s|ged|ging)?",
    "branch": r"branch(?:es|ed|ing)?",
    "discard": r"discard(?:s|ed|ing)?|reset\s+--hard|hard[- ]reset",
    "delete": r"delet(?:es?|ed|ing|ions?)|remov(?:es?|ed|ing)\s+(?:files?|folders?|director\w+)|rm",
    "dependency": r"dependenc(?:y|ies)|(?:npm|pip|third[- ]party|new)\s+packages?",
    "release": r"releas(?:es?|ed|ing)|publish(?:es|ed|ing)?",
    "deploy": r"(?:re)?deploy(?:s|ed|ing|ments?)?|roll(?:s|ed|ing)?\s*-?outs?",
    "migration": r"migrat(?:es?|ed|ing|ions?)",
    "e2e": r"e2e|end[- ]to[- ]end",
    "test": r"tests?|test(?:ed|ing)",
    "format": r"(?:re)?format(?:s|ted|ting|ters?)?",
    "runtime": r"(?:node|python|ruby|java|go|rust)\s+versions?|(?:nvm|fnm|pyenv|rbenv|asdf|mise)",
    "database": r"databases?|DBs?|sql(?:ite)?|psql|postgres\w*|mysql",
    "container": r"containers?|dockers?|docker-compose|podman",
    "install": r"(?:re)?install(?:s|ed|ing|ations?)?",
}
"""Each act, and the pattern of its name in a text; one that holds another stands before it."""

NAMED = ("deploy", "release", "migration", "e2e", "test", "format")
"""Acts that scripts, targets and subcommands of unknown programs are named after."""


def find_acts(text: str) -> list[str]:
    """Return the acts that a text names, in their order; none stands in the name of another."""
    matches = regex.finditer(_NAMED, text) if _may_name(text.casefold()) else ()
    return [found.lastgroup.replace("_", " ") for found in matches if found.lastgroup]


def acts_in(text: str) -> list[str]:
    """Return the first act of each clause of a text, each once."""
    clauses = regex.split(_CLAUSE_END, text)
    firsts = (find_acts(clause)[:1] for clause in clauses)
    return list(dict.fromkeys(act for first in firsts for act in first))


_CLAUSE_END = (
    r"[,;:!?\n\u2013\u2014]+|\.(?=\s|$)|(?i:\b(?:and|or|but|then|before|after|when|while|unless|until"
    r"|because|so that)\b)"
)
_beginnings: list[str] = []
_ACT = "|".join(f"(?P<{act.replace(' ', '_')}>{pattern})" for act, pattern in ACTS.items())
_NAMED = rf"(?i)(?<![\w./-])(?:{_ACT})(?![\w/]|-\w|\.\w)"


def _may_name(folded: str) -> bool:
    """Tell whether a text has the beginning of an act; where it has none, no pattern is loaded."""
    if not _beginnings:
        _beginnings.extend(dict.fromkeys(each for act in ACTS.values() for each in _begin(act)))
    return any(map(folded.__contains__, _beginnings))


def _begin(pattern: str) -> Iterator[str]:
    """Yield letters, one of which is in each text that a pattern of ACTS matches."""
    for part in _split(pattern):
        if part.startswith("(?:"):
            inner, rest = _cut_group(part)
            yield from _begin(rest[1:] if rest.startswith("?") else inner)
        else:
            letters = part[: next((at for at, sign in enumerate(part) if not sign.isalnum()), None)]
            yield (letters[:-1] if part[len(letters) :].startswith("?") else letters).lower()


def _split(pattern: str) -> list[str]:
    """Split a pattern at the bars outside of groups."""
    parts, depth = [""], 0
    for sign in pattern:
        depth += (sign == "(") - (sign == ")")
        if sign == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def _cut_group(part: str) -> tuple[str, str]:
    """Return the content of a group at the beginning, and what stands behind it."""
    depth = 0
    for at, sign in enumerate(part):
        depth += (sign == "(") - (sign == ")")
        if not depth:
            return part[len("(?:") : at], part[at + 1 :]
    raise ValueError(part)

"""Recognize placeholders for a lesson: "TODO", "n/a", `<describe the lesson>`."""

from __future__ import annotations

import re

LONGEST = 300
"""Longest text that may be a placeholder."""

_BLANKS = r"<[^<>]*>|\{\{[^{}]*\}\}|\$\{?\w+\}?|\$\([^()]*\)"
"""Blanks of a template."""

_STAND_IN = (
    r"(?:n\W?a|todo|tbd|tba|tbc|fixme|xxx+|wip|none|nothing|nil|null|undefined|unknown|ditto"
    r"|placeholder|test|testing|foo(?:\W+bar)?(?:\W+baz)?|lorem ipsum.*|as above|see above"
    r"|nothing new|(?:nothing|no) (?:new )?(?:learnings?|lessons?|learned|to (?:add|report|note))"
    r"|(?:todo|tbd)\W+(?:describe|write|fill|add|explain|document)\b.*"
    r"|(?:(?:please )?(?:describe|insert|write|add|put|enter|fill in|summari[sz]e|explain) )?"
    r"(?:(?:your|the|a|an|one|what (?:you|i|we) learned|short|key|main) )*"
    r"(?:lessons?|learnings?|findings?|insights?|descriptions?|texts?|summary|gotchas?|decisions?"
    r"|conventions?|facts?|patterns?|content|details?)(?: (?:goes|go) )?(?: ?here| ?learned)?"
    r"|what (?:you|i|we) learned|(?:describe|insert|fill in|your) .{0,80}\bhere)"
)
"""Compiled only for a text that may match, because compiling it is slow."""

_BEGINNINGS = tuple(
    """
    fixme xxx wip none nothing nil null undefined unknown ditto placeholder test foo as see no tba
    tbc please describe insert write add put enter fill summari explain your the a one what short
    key main lesson learning finding insight description text summary gotcha decision convention
    fact pattern content detail
    """.split()
)
_ENDS = tuple(
    """
    fixme x wip none nothing nil null undefined unknown ditto placeholder test testing foo bar baz
    above new learned add report note here tba tbc lesson lessons learning learnings finding
    findings insight insights description descriptions text texts summary gotcha gotchas decision
    decisions convention conventions fact facts pattern patterns content detail details
    """.split()
)
"""First and last words of a placeholder, unless it is short or begins with `_OPEN`."""
_OPEN = ("lorem ipsum", "todo", "tbd")
"""First words that any text may follow."""
_SHORT = 3


def is_placeholder(text: str) -> bool:
    """True for a template's blank, a word for "nothing", or a text without letters."""
    if len(text) > LONGEST:
        return False
    rest = re.sub(_BLANKS, " ", text) if any(sign in text for sign in "<{$") else text
    at = [place for place, sign in enumerate(rest) if sign.isalnum()]
    if not at:
        return True
    words = rest[at[0] : at[-1] + 1]
    return _may_stand_in(words) and re.fullmatch(_STAND_IN, words, re.I) is not None


def _may_stand_in(words: str) -> bool:
    folded = words.casefold()
    return (
        len(words) <= _SHORT
        or folded.startswith(_OPEN)
        or (folded.startswith(_BEGINNINGS) and folded.endswith(_ENDS))
    )

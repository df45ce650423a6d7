"""Texts that stand for a lesson that nobody wrote: "TODO", "n/a", `<describe the lesson>`."""

from __future__ import annotations

import re

LONGEST = 300
"""A longer text was written by somebody."""

_BLANKS = r"<[^<>]*>|\{\{[^{}]*\}\}|\$\{?\w+\}?|\$\([^()]*\)"
"""What a template leaves to be filled in."""

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
"""Compiled when it is first asked for: most messages that a hook reads hold no lesson at all."""


def is_placeholder(text: str) -> bool:
    """Whether the text is a template's blank, a word for "nothing", or has no letter at all."""
    if len(text) > LONGEST:
        return False
    rest = re.sub(_BLANKS, " ", text).strip()
    words = re.sub(r"^[\W_]+|[\W_]+$", "", rest)
    return not words or re.fullmatch(_STAND_IN, words, re.I) is not None

"""Find the marks of conversations, calls of tools and hidden text in a text that quotes none."""

from __future__ import annotations

from ademem.core import regex
from ademem.core.untrusted import as_displayed


def markup_in(text: str) -> str | None:
    folded = without_mentions(text)
    for what, hints, pattern in SHAPES:
        if any(map(folded.__contains__, hints)) and regex.search(pattern, folded):
            return what
    return None


def without_mentions(text: str) -> str:
    """Fold a text by its look; what a sentence only quotes, as of an attack, is left out."""
    plain = as_displayed(text)
    if any(sign in plain for sign in "\"\u201c\u201e\u00ab`'"):
        plain = regex.sub(rf"({_ABOUT}[^.\n\"`]{{0,60}}){_MENTION}", "\\1\u2026", plain)
    return plain


_MENTION = r"""["\u201c\u201e\u00ab`']([^"\n\u201c\u201d\u00bb`]{4,120})["\u201d\u201c\u00bb`']"""
_ABOUT = (
    r"\b(?:injections?|jailbreaks?|phrases?|attack\w*|says?|called|e\.g\.|such as|like|contains?)\b"
)
"""Words of a sentence that only mentions the instruction it quotes."""

_SHAPES = (
    (
        "writes to what starts by itself",
        "> ~/. >~/. >$home >>$home > $home",
        r">>?\s*[\"']?(?:~|\$home)/\.(?:bashrc|bash_\w+|profile|zsh\w+|zprofile|ssh/(?:authorized_keys"
        r"|config)|config/fish)",
    ),
    (
        "speaks as the system or the assistant",
        "system: assistant: developer: human: user: prompt: message: ]: *: # <s </s <a </a <h <u <|"
        " [inst [/inst role </m </c </t </d message] note] prompt] instruction] update] notice]",
        # a turn after other text, one that is marked, or two of them
        r"\n[*_#\[<> ]{0,6}(?:system|assistant|developer|human|user)(?: prompt"
        r"| message)?[\]*_>]{0,3}:|^[*_#\[<>]{1,6} ?(?:system|assistant|developer|human)(?: prompt"
        r"| message)?[\]*_>]{0,3}:|(?<![\n#])#{2,6} ?(?:user|human|assistant|system):.*#{2,6}"
        r" ?(?:user|human|assistant|system):|(?m:^\s{0,4}[\"']?role[\"']?\s*[:=]\s*[\"']?(?:system"
        r"|assistant)\b)|\[\s?(?:system|admin|administrator|operator|developer)[ _-](?:message|note"
        r"|prompt|instruction|update|notice)s?\s?\]|</\s?(?:memory|context|tool_result"
        r"|document)\s?>|<\s?/?\s?user-prompt[\w-]*\s?>|(?m:^ ?#+ ?(?:system|instruction"
        r"|response)s?:?$)|<\s?/?\s?(?:system|assistant|human|user)(?:[-_]\w+)*\s?>"
        r"|(?m:^\s{0,4}(?:<\|\w+\|>|\[/?inst\]|<</?sys>>))|(?:<\|\w+\|>|\[/?inst\]"
        r"|<</?sys>>)[^\0]*(?:<\|\w+\|>|\[/?inst\]|<</?sys>>)",
    ),
    (
        "is shaped like a tool call",
        "function_call invoke tool_use tool_call tool_result parameter mcp__ to= functions."
        """ arguments" arguments' input" input' type" type' role" role'""",
        r"<\s?/?\s?(?:\w{1,20}:)?"
        r"(?:function_calls?|invoke|tool_(?:use|calls?|result)|parameter name)\b"
        r"""|["'](?:type|role)["']\s*:\s*["'](?:tool_(?:use|calls?|result)|function_call|system)"""
        r"""|["'](?:name|function|tool)["']\s*:\s*["'][\w.-]+["']\s*,"""
        r"""\s*["'](?:arguments|input|parameters)["']\s*:\s*[{\[]"""
        r"|\b(?:call|invoke|use|run) (?:the )?(?:tool )?mcp__\w+"
        r"|\bto=\w+\.\w+|\bfunctions\.(?:bash|shell|exec|edit|write|read|run|task)\w*\s?\(",
    ),
    (
        "orders what it does not show",
        "end of <!-- style= ![ [//]:",
        r"(?m:^\W{0,6}end of (?:\w+ )?(?:context|document|data|file|input|memory|prompt|quote)\b)"
        r"|<!--[^>]{0,80}\b(?:ai|assistant|llm|claude|agent|model)\b"
        r"|<\w+[^>]{0,80}style\s?=[^>]{0,80}(?:display:\s?none|visibility:\s?hidden|font-size:\s?0"
        r"|opacity:\s?0)[^>]*>\s?\w|!\[[^\]\n]{0,80}\]\(https?://[^)\n]{0,200}(?:\{|\$|\?(?:data"
        r"|log|msg|text|prompt|content|summary|secret|token)=)|\[//\]: ?# ?\([^\n]{0,200}\b(?:you"
        r"|ai|must|assistant)\b",
    ),
    (
        "switches protection off",
        "skip-permissions bypasspermissions ademem_guard_mode ademem_disable bash(*",
        r"--dangerously-skip-permissions|\bbypasspermissions\b|\bademem_disable\s?="
        r"""|\bademem_guard_mode\s?=\s?["']?off|["']bash\(\*""",
    ),
)
"""Effect, substrings of which one must be present, and pattern for the folded text."""
SHAPES = tuple((what, tuple(hints.split()), pattern) for what, hints, pattern in _SHAPES)

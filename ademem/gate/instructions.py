"""Text that would rather be obeyed than known."""

from __future__ import annotations

import re
import unicodedata

from ademem.gate.alike import said
from ademem.gate.form import noted
from ademem.value import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.gate.verdict import Gate, Reviewed

SHAPES = (
    (
        "tells to forget instructions",
        r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}"
        r"\b(?:instructions?|prompts?|rules|guidelines|directives|safeguards)\b"
        r"|\b(?:new|updated|real|following) (?:system )?instructions?:"
        r"|\b(?:ignoriere|vergiss)\b[^.\n]{0,40}\banweisungen\b"
        r"|\b(?:ignora|olvida)\b[^.\n]{0,40}\binstrucciones\b"
        r"|\b(?:ignore[zs]?|oublie[zs]?)\b[^.\n]{0,40}\b(?:instructions|consignes)\b"
        r"|(?:忽略|無視|无视)[^。\n]{0,20}(?:指示|指令|命令)"
        r"|(?:指示|指令|命令)[^。\n]{0,10}(?:忽略|無視|无视)",
    ),
    (
        "gives the reader a role",
        r"\byou are now\b|\bfrom now on,? you\b|\bpretend (?:to be|you are)\b"
        r"|\b(?:act|behave) as (?:if you|an? (?:unrestricted|admin))"
        r"|\byour (?:new|real|only) (?:role|task|goal|instructions?)\b"
        r"|\b(?:developer|dan|god) mode\b",
    ),
    (
        "speaks as the system or the assistant",
        r"(?m)^[^\w\n]{0,9}(?:system|assistant|developer)(?: prompt| message)?\W{0,3}:"
        r"|^ ?#+ ?(?:system|instruction)s?:?$"
        r"|<\s?/?\s?(?:system|assistant|human|user)(?:[-_]\w+)*\s?>"
        r"|<\|\w+\|>|\[/?inst\]|<</?sys>>",
    ),
    (
        "is shaped like a tool call",
        r"<\s?/?\s?(?:\w{1,20}:)?"
        r"(?:function_calls?|invoke|tool_(?:use|calls?|result)|parameter name)\b"
        r"""|["'](?:type|role)["']\s*:\s*["'](?:tool_(?:use|calls?|result)|function_call|system)"""
        r"""|["'](?:name|function)["']\s*:\s*["'][\w.-]+["']\s*,"""
        r"""\s*["'](?:arguments|input|parameters)["']\s*:""",
    ),
    (
        "asks for credentials",
        r"\b(?:send|post|upload|share|reveal|give|show|print|output|paste|e?mail|leak|tell)\b"
        r"[^.\n]{0,40}\b(?:your|the user['’]s|their|all|any) [^.\n]{0,20}(?:passwords?|tokens?"
        r"|api[ _-]?keys?|private keys?|secrets?|credentials?|\.env\b|environment variables)"
        r"|\b(?:cat|read|send|upload|post)\b[^.\n]{0,40}"
        r"(?:~/\.ssh|id_rsa|\.aws/credentials|/etc/shadow)",
    ),
    (
        "wants something hidden from the user",
        r"\b(?:do not|don['’]t|never|without) (?:tell|mention|inform|ask|reveal|notify|show|alert)"
        r"\w*\b[^.\n]{0,30}\buser\b",
    ),
    (
        "addresses the AI",
        r"\b(?:attention|important|note|instructions?|message)\b[^.\n]{0,20}\b(?:to|for|all)?\s?"
        r"(?:ai|llm|claude|language model|assistants?|agents?)\s?[:,!]"
        r"|\b(?:ai|llm|claude|language model)s? (?:assistants? |agents? )?"
        r"(?:reading|processing) this\b",
    ),
)
"""What it does, and how that reads after case folding."""

HIDDEN = (
    r"[\u200b\ufeff"  # blanks without width
    r"\u202a-\u202e\u2060-\u2069"  # overrides of the writing direction, invisible operators
    r"\U000e0000-\U000e007f]"  # tags, which spell whole messages
    r"|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}"  # variation selectors in a row do so too
)
"""Signs that a reader does not see and a model does."""


def instruction_shaped(draft: Reviewed, gate: Gate) -> Reviewed:
    """An order in a text from outside waits for a person, unseen by any search."""
    found = None if draft.trusted else instruction_in(said(draft))
    if not found:
        return draft
    draft = replace(draft, quarantine_reason=found, promoted=False, pinned=False)
    return noted(draft, f"quarantined, as it {found}; a person approves it with `ademem promote`")


def instruction_in(text: str) -> str | None:
    """What the text does that knowledge does not; None for knowledge."""
    if not text.isascii() and re.search(HIDDEN, text):
        return "has characters that nobody sees"
    folded = unicodedata.normalize("NFKC", text).casefold()
    return next((what for what, shape in SHAPES if re.search(shape, folded)), None)

"""Find seed phrases, lists of codes and lists of passwords by the form of their lines and words."""

from __future__ import annotations

from ademem.core import regex
from ademem.core.credential_nouns import PASSWORD_STEMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

SEED_LEADS = (
    "12 word",
    "24 word",
    *"""
    seed mnemonic phrase frase фраз recovery wiederherst herstel wörter wallet ledger portefeuille
    billetera cartera carteira portafogli portfel кошел 助记 ニーモニック リカバリー ウォレット
    """.split(),
)
CODE_LEADS = ("code", "códig", "codig", "codic", "kody", "код", "コード", "码", "碼")
LEAD_CHARS = 400
"""Characters after a lead in which its words begin and end."""
SEED_LENGTHS = (12, 15, 18, 21, 24)
"""Words of a phrase, by BIP-39."""
_SEED_WORD = r"[a-z]{3,8}"
_PLURAL = r"[a-z]+[^aiosu]s"
"""Form of a word in the plural, of which BIP-39 has next to none."""
_COMMON = frozenset("the and for with was are not has but his her its who how let our".split())
"""Words of a sentence that are in no phrase."""
_DASHES = frozenset("-–—")
_COUNTED = r"\(?(?!1\D|1\Z)\d{1,2}[.):]?|[-*•]"
"""What stands before the second word of a phrase and the others."""
FEWEST_CODES, MOST_CODES = 3, 40
CODE_CHARS = 8
HEADING_STEMS = frozenset(stem for stem in PASSWORD_STEMS if len(stem) >= 5)
"""Parts of a heading about passwords; shorter ones are in other words, too."""
MOST_ITEMS = 20
"""Items below a heading that are read."""
_HEADING = r"[^\n]*\w \S[^\n]*[.:]\**[ \t]*\Z"
"""A line of several words with a sign at its end."""
_ITEM = (
    r"[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+(?:[^\n:=]{1,40}(?::|[ \t]=)[ \t]+"
    r"(?:(?=\S*[a-z])(?=\S*[A-Z])(?=\S*\d)(?!\S*\.[a-z])([^\s/:@()]{8,40})[ \t]*(?=\n|\Z))?)?"
    r"[^\n]*(?:\n|\Z)"
)
_LINE = r"[ \t]*(?:[-*•][ \t]+|\d{1,2}[.):][ \t]+)?"
_CODE = r"[A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{3,12})*"
_COMMA = r"[ \t]*[,;/][ \t]*"
_CODES = rf"(?<![\w-]){_CODE}-\w+(?:{_COMMA}{_CODE}-\w+){{2,}}"


def list_spans(text: str, signs: Collection[str]) -> Iterator[tuple[int, int]]:
    """Yield start and end of seed phrases, lists of codes and listed passwords; spans may overlap.

    Leads that are not among *signs* are not in the text.
    """
    seed_leads, code_leads = (
        [lead for lead in leads if lead in signs] for leads in (SEED_LEADS, CODE_LEADS)
    )
    headings = HEADING_STEMS.intersection(signs)
    if not seed_leads and not code_leads and not headings:
        return
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text
    end = 0
    yield from _items_below(text, sorted(_places(headings, lowered)))
    for start, stop in _regions(sorted(_places(seed_leads, lowered))):
        yield from _find_seeds(text, start, stop)
    for at in sorted(_places(code_leads, lowered)):
        if at < end:
            continue
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield from _codes_between_commas(text, at, end)
        if found := _find_codes(text, end + 1):
            end = found[1]
            yield found


def _items_below(text: str, places: list[int]) -> Iterator[tuple[int, int]]:
    """Find values in a list of names and values below a line about passwords."""
    item, end = regex.compile(_ITEM), 0
    for at in places:
        if at < end:
            continue
        end = text.find("\n", at) + 1
        if not end:
            return
        if not regex.match(_HEADING, text[text.rfind("\n", 0, at) + 1 : end - 1]):
            continue
        for _ in range(MOST_ITEMS):
            found = item.match(text, end)
            if not found or found.end() == end:
                break
            end = found.end()
            if found[1]:
                yield found.span(1)


def _regions(places: list[int]) -> list[tuple[int, int]]:
    regions: list[tuple[int, int]] = []
    for at in places:
        start = regions.pop()[0] if regions and at <= regions[-1][1] else at
        regions.append((start, at + LEAD_CHARS))
    return regions


def _places(leads: Iterable[str], lowered: str) -> Iterator[int]:
    for lead in leads:
        at = lowered.find(lead)
        while at >= 0:
            at += len(lead)
            yield at
            at = lowered.find(lead, at)


def _find_seeds(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Find 12 to 24 lower-case words in a row, also numbered, quoted or one a line."""
    run: list[tuple[int, int]] = []
    end, is_listed = start, True
    for word in regex.compile(r"[^\s,\"'`\[\]=:]+:?|\Z").finditer(text, start, stop):
        between = text[end : word.start()]
        end = word.end()
        kind = _kind_of(word[0])
        bare = word[0].rstrip(".;!")
        if kind == "other" and run and _kind_of(bare) == "word":  # the last one of a sentence
            run.append((word.start(), word.start() + len(bare)))
        is_quoted = '"' in between and not is_listed
        if word[0] in _DASHES and "\n" not in between:
            kind = "other"
        if kind in ("lead", "other") or is_quoted or _breaks(text, run, between):
            yield from _seed(text, run)
            run = []
        if kind in ("lead", "word"):
            is_listed = kind == "lead" or '"' in between
        if kind == "word":
            run.append(word.span())
    yield from _seed(text, run)


def _kind_of(word: str) -> str:
    """Tell of a word that may be in a phrase, a lead, a number before a word, or another."""
    if word in SEED_LEADS:
        return "lead"
    if word not in _COMMON and regex.fullmatch(_SEED_WORD, word):
        return "word"
    return "number" if regex.fullmatch(_COUNTED, word) else "other"


def _breaks(text: str, run: list[tuple[int, int]], between: str) -> bool:
    """Tell whether a paragraph ends, or the line of a sentence."""
    if "\n" not in between or not run:
        return False
    line = text[max(0, run[0][0] - 40) : run[0][0]].rpartition("\n")[2]
    return between.count("\n") > 1 or line.strip(" \t-*•0123456789.():") != ""


def _seed(text: str, run: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield a run of an allowed length; lines with other words may follow it."""
    lengths = [
        at for at, (_, end) in enumerate(run, 1) if text[end : end + 1] == "\n" or at == len(run)
    ]
    length = max((at for at in lengths if at in SEED_LENGTHS), default=0)
    plurals = sum(regex.fullmatch(_PLURAL, text[start:end]) is not None for start, end in run)
    if (
        length
        and plurals <= length / 4
        and len({text[end : end + 1] == "," for _, end in run[: length - 1]}) == 1
    ):
        yield run[0][0], run[length - 1][1]


def _find_codes(text: str, at: int) -> tuple[int, int] | None:
    """Find lines of one form that no rule made: none is the one before with another number."""
    lines = list(_lines_of_codes(text, at))
    if not _are_drawn([line[1] for line in lines]):
        return None
    return lines[0].start(1), lines[-1].end(1)


def _codes_between_commas(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for found in regex.compile(_CODES).finditer(text, start, end):
        if _are_drawn(regex.split(_COMMA, found[0])):
            yield found.span()


def _lines_of_codes(text: str, at: int) -> Iterator[regex.Match[str]]:
    line = regex.compile(rf"{_LINE}({_CODE}(?:[ \t]+{_CODE})*)[ \t]*(?:\n|\Z)")
    for _ in range(MOST_CODES):
        found = line.match(text, at)
        if not found:
            return
        yield found
        at = found.end()


def _are_drawn(codes: list[str]) -> bool:
    """Tell of codes of one form that begin in different ways and mostly have digits."""
    if len(codes) < FEWEST_CODES or len(codes[0]) < CODE_CHARS:
        return False
    forms = {regex.sub(r"[A-Za-z0-9]", "x", code) for code in codes}
    beginnings = {code[:2] for code in codes}
    with_digits = sum(any(map(str.isdigit, code)) for code in codes)
    half = len(codes) / 2
    return len(forms) == 1 and len(beginnings) > half and with_digits >= half

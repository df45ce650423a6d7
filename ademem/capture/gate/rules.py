"""The rules of the write gate, in order."""

from __future__ import annotations

from ademem.capture import EXTENSIONS
from ademem.capture.gate.duplicates import (
    echo,
    exact_duplicate,
    rejected_before,
    same_key,
    same_topic,
    same_words,
)
from ademem.capture.gate.form import (
    Insert,
    Reject,
    Reviewed,
    RuleEffect,
    Ruling,
    is_key_from_text,
    known_category,
    length,
    normal_form,
    redaction,
    strict_mode,
    with_note,
)
from ademem.core import plugins, regex
from ademem.core.memory import EVENTS, Draft, Trust
from ademem.core.text import words
from ademem.core.value import as_dict, replace
from ademem.guard.injection import drop_orders, instruction_in, instruction_in_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ademem.capture.gate.form import Gate, Rule, Verdict

    Reader = Callable[[str], str | None]


def harmless_labels(draft: Reviewed, gate: Gate) -> Reviewed:
    """Leave out labels that are an instruction: a memory that says the same would take them.

    Where occasions are one by themselves, and nothing beside them is, only these are left out.
    """
    if draft.by_person or not (found := _instruction_in_labels(draft)):
        return draft
    anchors, notes = drop_orders(draft.anchors)
    harmless = replace(draft, anchors=anchors, notes=(*draft.notes, *notes))
    if not _instruction_in_labels(harmless):
        return harmless
    own_key = draft.knowledge_key if is_key_from_text(draft) else None
    bare = {"tags": (), "topic_key": None, "path": None, "bead": None, "anchors": ()}
    draft = replace(draft, knowledge_key=own_key, **bare)
    without = "without tags, keys, path, bead, anchors and occasions"
    return with_note(draft, f"{without}: what stood there {found}")


def _instruction_in_labels(draft: Reviewed) -> str | None:
    given_key = None if is_key_from_text(draft) else draft.knowledge_key
    named = (draft.path, draft.bead, given_key)
    return instruction_in_fields((*draft.tags, draft.topic_key), *named, *draft.anchors)


def instruction_shaped(draft: Reviewed, gate: Gate) -> Reviewed:
    """Quarantine an instruction that no person typed; an agent may repeat what it has read."""
    return _quarantine(draft, None if draft.by_person else gate.lookup.find_instruction(draft))


def instruction_in_two_parts(draft: Reviewed, gate: Gate) -> Reviewed:
    """Quarantine the second half of an instruction: what its source wrote before it is the first.

    The two are read as one text of one source and session, in the order in which they came.
    """
    if draft.by_person or draft.quarantine_reason:
        return draft
    before = gate.lookup.previous_text(draft)
    found = before and instruction_in(f"{before}\n{draft.whole_text}")
    return _quarantine(draft, f"{found}, together with the text before it" if found else None)


def instruction_beside(draft: Reviewed, gate: Gate) -> Reviewed:
    """Quarantine an instruction in tags, path, anchors, keys or names."""
    if draft.by_person or draft.quarantine_reason:
        return draft
    labels = (*draft.tags, draft.topic_key)
    named = (draft.path, draft.knowledge_key, draft.bead, draft.owner, draft.origin.agent_id)
    return _quarantine(draft, instruction_in_fields(labels, *draft.anchors, *named))


def _quarantine(draft: Reviewed, found: str | None) -> Reviewed:
    if not found:
        return draft
    draft = replace(draft, quarantine_reason=found, promoted=False, pinned=False, strict=False)
    return with_note(
        draft, f"quarantined, as it {found}; a person approves it with `ademem promote`"
    )


DERIVABLE_SHARE = 0.5
DERIVABLE_SHARE_STRICT = 0.3
"""Share of the words in derivable lines from which a text is rejected, also in strict mode."""

LINE = ""
"""Mark of a line that proves nothing by itself; every other mark is unmistakable."""

PATH = "a list of paths"

_HEX = frozenset("0123456789abcdef")
_BULLETS = "-*•├└│─ "
_GIT_STATUS = frozenset(("M", "A", "D", "R", "C", "U", "??", "modified:", "deleted:", "renamed:"))

_LASTING = (
    r"(?i)\b(?:must|should|always|never|because|requires?|needs?|means?|instead|unless|otherwise"
    r"|avoids?|prefer|so that|don['’]t|do not)\b"
)
"""Words of a sentence that holds beyond the session."""

_BANNERS = (
    "Traceback (most recent call last)",
    'Exception in thread "',
    "thread 'main' panicked at",
    "goroutine 1 [",
)
_FRAME = r"at .*(?::\d+:\d+\)?|\([\w$]+\.(?:java|kt|scala):\d+\)|\(Native Method\)|<anonymous>\)?)$"
_RAISED = r"(?:[\w$]+\.)*\w*(?:Error|Exception|Failure)(?: \[\w+\])?: \S"
_STAMP = r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d\b"
_LEVEL = (
    r"\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)(?:\]|:| +[-|\[])|(?:fatal |internal"
    r" )?error(?:\[\w+\]| TS\d+)?: |fatal: |npm ERR! |E (?:assert |\w+Error)|\S+:\d+(?::\d+)?:"
    r" (?:fatal )?(?:error|warning|note)\b|(?:FAILED|ERROR) \S+::|={3,} .* ={3,}$"
)
_LOUD = tuple("rror ERR WARN warn INFO note DEBUG TRACE atal FA CRIT ===".split())
"""Parts of which every line with a log level has one."""

_DEEDS = (
    "fixed|updated|changed|added|removed|renamed|created|completed|finished|resolved|merged|moved"
    "|deployed|installed|wrote|ran|pushed|committed|tested|migrated|replaced|bumped"
)
_WORK = "implemented|refactored|investigated|debugged"
_DEED = (
    rf"(?:i|we)(?:['’]ve| have)?(?: just| now| also| already)? (?:{_DEEDS}|{_WORK})\b"
    rf"|(?:{_WORK}) "
    rf"|(?:{_DEEDS}) (?:(?:the|a|an|all|some|my|our|this|that|these|those|several|two|three|\d+)\b"
    r"|(?:\S+ ){0,3}(?:bugs?|issues?|tests?|typos?|errors?|crash|failures?|docs|readme)\b"
    r"|\S+ (?:from|to|into) |\S*[/_.#`(]\S)"
)
_SESSION = (
    r"(?:session|mission|task|sprint|daily|weekly|today['’]?s) "
    r"(?:summary|recap|report|notes|log|status|update|progress) ?(?:[:–—]|- |$)"
)
_PROGRESS = r"(?:status|progress)(?: update| report| so far)? ?(?:[:–—]|- )|working on\b"
_RECAP = (
    r"(?:summary|recap|update|done) ?(?:[:–—]|- ).*\b(?:done|remaining|pending|blocked|passing"
    rf"|next|so far|{_DEEDS}|{_WORK}|\d+ ?(?:/|of) ?\d+|\d+ ?%)"
)
_NEXT = r"(?:next steps?|todo|remaining work) ?(?:[:–—]|- |is |are )"
_OPENERS = frozenset(
    (
        *(*_DEEDS.split("|"), *_WORK.split("|")),
        *("i", "we", "i've", "we've", "i’ve", "we’ve", "working"),
        *("session", "mission", "task", "sprint", "daily", "weekly", "today's", "today’s"),
        *("status", "progress", "summary", "recap", "update", "done", "next", "todo", "remaining"),
    )
)
"""First words of all patterns above; most lines begin with none."""


def classify_lines(lines: Sequence[str]) -> Iterator[tuple[str | None, str]]:
    """Yield kind and mark of each line, None for prose; a continuation is like its line."""
    last: str | None = None
    for line in lines:
        for kind, reader in KINDS:
            mark = reader(line)
            if mark is not None:
                last = kind
                yield kind, mark
                break
        else:
            if last is None or line[0] not in HANGS_ON.get(last, " "):
                last = None
            yield last, LINE


def mark_diff(line: str) -> str | None:
    if line.startswith("diff --git "):
        return "header"
    if line.startswith("@@ -") and " @@" in line:
        return "hunk"
    if line.startswith(("--- a/", "+++ b/", "--- /dev/null", "+++ /dev/null")):
        return "file"
    first, _, second = line.removeprefix("index ").partition(" ")[0].partition("..")
    return "index" if line.startswith("index ") and _is_hash(first) and _is_hash(second) else None


def mark_stack(line: str) -> str | None:
    text = line.strip()
    if text.startswith(_BANNERS):
        return "banner"
    if text.startswith('File "') and '", line ' in text:
        return "frame"
    if text.startswith("at ") and regex.match(_FRAME, text):
        return "frame"
    if text.startswith(("Caused by: ", "panic: ")):
        return LINE
    return LINE if ": " in text and regex.match(_RAISED, text) and not _lasts(text) else None


def mark_history(line: str) -> str | None:
    name, _, rest = line.partition(" ")
    rest = rest.strip()
    if name == "commit" and _is_hash(rest.partition(" (")[0]):
        return "commit"
    if name == "Author:" and rest.endswith(">") and "@" in rest:
        return "author"
    if name == "Date:" and regex.match(r"\w{3} \w{3} \d", rest):
        return "date"
    first, _, subject = line.lstrip(_BULLETS + "|/\\").partition(" ")
    return LINE if subject and _is_hash(first) and not _lasts(subject) else None


def mark_report(line: str) -> str | None:
    text = " ".join(line.lower().strip(_BULLETS + "#").split())
    if text.partition(" ")[0].rstrip(":,") not in _OPENERS:
        return None
    if regex.match(_SESSION, text):
        return "session"
    if _lasts(text):
        return None
    if regex.match(_NEXT, text):
        return "next"
    return LINE if any(regex.match(shape, text) for shape in (_PROGRESS, _RECAP, _DEED)) else None


def mark_log(line: str) -> str | None:
    text = line.strip()
    if text[0] in "[0123456789" and regex.match(_STAMP, text):
        return LINE
    if not any(word in text for word in _LOUD):
        return None
    return LINE if regex.match(_LEVEL, text) and not _lasts(text) else None


def mark_path(line: str) -> str | None:
    parts = line.strip(_BULLETS).split()
    if len(parts) == 2 and parts[0] in _GIT_STATUS:
        del parts[0]
    if len(parts) != 1:
        return None
    name = parts[0].strip("`'\",;:").rstrip("0123456789:")
    named = "/" in name or "\\" in name or name.rpartition(".")[2].lower() in EXTENSIONS
    return LINE if named and "://" not in name else None


def _is_hash(word: str) -> bool:
    return 7 <= len(word) <= 40 and _HEX.issuperset(word) and not (word.isdigit() or word.isalpha())


def _lasts(text: str) -> bool:
    return regex.search(_LASTING, text) is not None


KINDS: tuple[tuple[str, Reader], ...] = (
    ("a diff", mark_diff),
    ("a stack trace", mark_stack),
    ("git history", mark_history),
    ("a progress report", mark_report),
    ("a log", mark_log),
    (PATH, mark_path),
)

QUOTED = ("a stack trace", "a log")
"""Kinds of lines with which a person begins what they say about an error."""
HANGS_ON = {"a diff": " +-", "a progress report": " -*•"}
"""First characters of continuation lines; a blank for the other kinds."""


DECISIVE_MARKS = 2
"""Number of different unmistakable marks that decide, whatever the prose around them."""
HEADING_WORDS = 4
LESSON_WORDS = 5
"""Fewest words of prose that a fenced snippet may illustrate."""
LISTED_PATHS = 3
PATH_WEIGHT = 0.5


def code_derivable(draft: Reviewed, gate: Gate) -> Reviewed | Reject:
    """Reject mostly derivable lines, or two unmistakable marks; events and imports pass.

    So does one line of a person about an error: `remember: ImportError: … is solved by …`.
    """
    if draft.category in EVENTS or draft.origin.trust is Trust.IMPORT:
        return draft
    threshold = DERIVABLE_SHARE_STRICT if draft.strict else DERIVABLE_SHARE
    kind = _find_derivable(draft.content, threshold)
    is_line_of_person = draft.origin.trust is Trust.USER and "\n" not in draft.content
    if kind is None or (kind in QUOTED and is_line_of_person):
        return draft
    return Reject(
        draft=draft,
        why=f"reads as {kind}, which can be looked up again;"
        " write the lesson, not the log (a short quote may follow it in a ``` fence)",
    )


def _find_derivable(content: str, threshold: float) -> str | None:
    """Return the kind of most derivable lines, if their share or their marks decide."""
    lines, fenced = _split_fences(content)
    found = [(line, *trace) for line, trace in zip(lines, classify_lines(lines), strict=True)]
    weights, prose = _weigh_lines(found)
    if fenced and prose < LESSON_WORDS:
        weights["a code dump"] = sum(len(line.split()) for line in fenced)
    if not weights:
        return None
    total = sum(weights.values())
    marks = {(kind, mark) for _, kind, mark in found if mark}
    if total / (total + prose) < threshold and len(marks) < DECISIVE_MARKS:
        return None
    return max(weights, key=weights.__getitem__)


def _split_fences(content: str) -> tuple[list[str], list[str]]:
    """Return the lines outside of ``` fences and those inside, without empty ones."""
    parts: tuple[list[str], list[str]] = ([], [])
    is_inside = False
    for line in content.split("\n"):
        if line.lstrip().startswith("```"):
            is_inside = not is_inside
        elif line.strip():
            parts[is_inside].append(line)
    return parts


def _weigh_lines(found: Sequence[tuple[str, str | None, str]]) -> tuple[dict[str, float], int]:
    """Return the weight of each kind of derivable lines, and the number of words of prose."""
    paths = sum(kind == PATH for _, kind, _ in found)
    weights: dict[str, float] = {}
    prose = 0
    for line, kind, _ in found:
        if kind is None or (kind == PATH and paths < LISTED_PATHS):
            count = len(words(line))
            is_heading = count <= HEADING_WORDS and line.rstrip().endswith(":")
            prose += 0 if is_heading else count
        else:
            weight = PATH_WEIGHT if kind == PATH else len(line.split())
            weights[kind] = weights.get(kind, 0) + weight
    return weights, prose


RULES: tuple[Rule, ...] = (
    normal_form,
    redaction,
    harmless_labels,
    known_category,
    strict_mode,
    length,
    echo,
    rejected_before,
    same_topic,
    same_key,
    exact_duplicate,
    same_words,
    code_derivable,
    instruction_shaped,
    instruction_beside,
    instruction_in_two_parts,
)


def load_rules() -> tuple[Rule, ...]:
    """Return the rules, and behind them those of parts, of which a broken one changes nothing."""
    of_parts = (rule for module in plugins.modules("RULES") for rule in module.RULES)
    return (*RULES, *map(_unless_it_fails, of_parts))


def _unless_it_fails(rule: Rule) -> Rule:
    def apply(draft: Reviewed, gate: Gate) -> Reviewed | Verdict:
        outcome: Reviewed | Verdict | None = plugins.attempt(rule, draft, gate)
        return draft if outcome is None else outcome

    apply.__name__ = rule.__name__
    return apply


def judge(draft: Draft, gate: Gate, rules: Sequence[Rule] = RULES) -> Ruling:
    """Apply the rules in order; the first that does not return a draft decides."""
    reviewed = Reviewed(**as_dict(draft))
    trail = []
    for rule in rules:
        outcome = rule(reviewed, gate)
        trail.append((rule.__name__, reviewed, outcome))
        if not isinstance(outcome, Reviewed):
            return Ruling(rule=rule.__name__, verdict=outcome, trail=tuple(trail))
        reviewed = outcome
    verdict = Insert(draft=reviewed, why="nothing like it is remembered")
    trail.append(("insert", reviewed, verdict))
    return Ruling(rule="insert", verdict=verdict, trail=tuple(trail))


def steps(judged: Ruling) -> list[RuleEffect]:
    found = []
    for rule, before, after in judged.trail:
        if isinstance(after, Reviewed):
            changed = [
                name for name in Reviewed._fields if getattr(after, name) != getattr(before, name)
            ]
            why = "; ".join(after.notes[len(before.notes) :]) or ", ".join(changed)
            outcome = "change" if changed else "pass"
        else:
            outcome, why = type(after).__name__.lower(), after.why
        found.append(RuleEffect(rule=rule, outcome=outcome, why=why))
    return found

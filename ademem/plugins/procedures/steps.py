"""The steps of sessions, and those that several have in common."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import groupby

from ademem.core.value import Value, replace
from ademem.synthesis.steps import EDIT, INTERPRETERS, RUN, USE, Step, command_steps, edit_step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from ademem.store.episodes import Action

    Steps = tuple["Step", ...]

SUCCEEDED, PARTIAL, FAILED, UNKNOWN = "succeeded", "partial", "failed", "unknown"
MOST_STEPS = 200

_SHELLS = frozenset({"Bash", "PowerShell"})
_READING_KINDS = frozenset({"read", "search", "web"})
_GENERAL = frozenset(
    "chmod chown cp curl install ln mkdir mv patch rm rmdir rsync sed tar touch wget".split()
)
"""Programs that work on any files: without the names of these they say nothing."""

_NUMBERED = re.compile(r"^\s*\d+[.)]\s+(.*)$", re.MULTILINE)
_QUOTED = re.compile(r"`([^`\n]+)`")
_FENCED = re.compile(r"```[^\n]*\n(.*?)```", re.DOTALL)
_FILE = re.compile(r"[\w*./-]*\.\w+")
_EDITING = frozenset("edit change write update create add adapt".split())


class Work(Value):
    """A session, or a remark in a review, as material for procedures."""

    id: str
    session: str
    """The mission or session; for a remark, the pull request."""
    task: str
    outcome: str
    at: datetime
    steps: tuple[Step, ...] = ()
    skills: tuple[str, ...] = ()
    pitfalls: tuple[str, ...] = ()
    """Corrections by a person."""
    weight: float = 1.0
    is_review: bool = False
    files: str = ""
    """The pattern of files that a review is about."""


def steps_of_actions(actions: Iterable[Action]) -> tuple[Step, ...]:
    """Return the steps that changed something, in order, without immediate repetition."""
    steps: list[Step] = []
    for action in actions:
        if action.kind in _READING_KINDS or not action.target:
            continue
        if action.tool in _SHELLS:
            steps += command_steps(action.target)
        elif action.kind == EDIT:
            steps.append(edit_step(action.target))
        elif action.tool.startswith("mcp__"):
            steps.append(Step(signature=f"{USE} {action.tool}", words=(action.tool,)))
    runs = groupby(steps, key=lambda step: step.signature)
    return tuple([[*run][-1] for _, run in runs][-MOST_STEPS:])


def steps_of(markdown: str) -> tuple[Step, ...]:
    """Return the files to edit and the commands in backticks on its numbered lines."""
    found: list[Step] = []
    for line in _NUMBERED.findall(markdown):
        quoted = _QUOTED.findall(line)
        if line.partition(" ")[0].lower() in _EDITING:
            found += map(edit_step, quoted)
        else:
            found += (step for command in quoted for step in command_steps(command))
    return tuple(found)


def steps_in_page(text: str) -> tuple[Step, ...]:
    listed = "\n".join(_FENCED.findall(text)).split("\n")
    fenced = [line.removeprefix("$ ") for line in listed]
    quoted = _QUOTED.findall(_FENCED.sub("", text))
    commands = (step for line in (*fenced, *quoted) for step in command_steps(line))
    return (*commands, *(edit_step(name) for name in quoted if _FILE.fullmatch(name)))


def in_folder(step: Step) -> Step:
    """Generalize an edit to the files with this ending in its folder."""
    if step.kind != EDIT:
        return step
    folder, _, name = step.words[0].rpartition("/")
    _, dot, ending = name.rpartition(".")
    return edit_step("/".join(filter(None, (folder, f"*{dot}{ending}" if dot else name))))


def in_any_folder(step: Step) -> Step:
    if step.kind != EDIT:
        return step
    return edit_step(in_folder(step).words[0].rpartition("/")[2])


LEVELS: tuple[Callable[[Step], Step], ...] = (lambda step: step, in_folder, in_any_folder)
"""Ways to name the file of a step, the most specific first."""


def common_steps(sessions: Sequence[Steps], share: float) -> Steps:
    """Return the steps that *share* of the sessions have, as the most typical session orders them.

    Files that differ are named by folder and ending; of commands that differ the newest is kept.
    """
    sessions = [steps for steps in sessions if steps]
    if not sessions:
        return ()
    needed = math.ceil(share * len(sessions))
    general = _generalize(sessions, needed)
    typical, alignments = _find_typical(general)
    found = []
    for place, step in enumerate(typical):
        lines = [
            other[pairs[place]].words
            for other, pairs in zip(general, alignments, strict=True)
            if place in pairs
        ]
        if len(lines) >= needed and (merged := _merge_lines(step, lines)):
            found.append(merged)
    return tuple(found)


def _find_typical(sessions: Sequence[Steps]) -> tuple[Steps, list[dict[int, int]]]:
    """Return the session with most in common with all, and its alignment with each of them."""
    alignments = [[align(one, other) for other in sessions] for one in sessions]
    typical = max(range(len(sessions)), key=lambda at: (sum(map(len, alignments[at])), at))
    return sessions[typical], alignments[typical]


def _merge_lines(step: Step, lines: Sequence[Sequence[str]]) -> Step | None:
    common = tuple(common_command(lines))
    if not common or _says_nothing(step, common):
        return None
    kept = keep_newest(lines, list(common))
    return replace(step, words=kept, varies=step.kind == RUN and kept != common)


def _generalize(sessions: Sequence[Steps], needed: int) -> list[Steps]:
    """Name each file by the most specific level that enough sessions agree on."""
    counts = [
        Counter(each for steps in sessions for each in {level(step).signature for step in steps})
        for level in LEVELS
    ]

    def choose(step: Step) -> Step:
        levels = zip(LEVELS, counts, strict=True)
        agreed = (level for level, count in levels if count[level(step).signature] >= needed)
        return next(agreed, LEVELS[0])(step)

    runs = (groupby(map(choose, steps), key=lambda step: step.signature) for steps in sessions)
    return [tuple(next(run) for _, run in each) for each in runs]  # without immediate repetition


def _says_nothing(step: Step, common: Sequence[str]) -> bool:
    """Tell whether what sessions have in common is no step: `mv PATH PATH`, `python -`."""
    program, *words = common
    if step.kind != RUN:
        return program == "*"
    is_plain = any(word[:1] != "-" and word not in MASK_WORDS | {"…"} for word in words)
    return (program in _GENERAL or program in INTERPRETERS) and not is_plain


def align(one: Steps, other: Steps) -> dict[int, int]:
    """Return a longest common sequence as positions in *one* and their positions in *other*."""
    rows = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for at in range(len(one) - 1, -1, -1):
        for there in range(len(other) - 1, -1, -1):
            rows[at][there] = (
                rows[at + 1][there + 1] + 1
                if one[at].signature == other[there].signature
                else max(rows[at + 1][there], rows[at][there + 1])
            )
    found = {}
    at = there = 0
    while at < len(one) and there < len(other):
        if one[at].signature == other[there].signature:
            found[at] = there
            at, there = at + 1, there + 1
        elif rows[at + 1][there] >= rows[at][there + 1]:
            at += 1
        else:
            there += 1
    return found


def share_taken(steps: Steps, session: Steps) -> float:
    return len(align(steps, session)) / len(steps) if steps else 0.0


def agreement(one: Steps, other: Steps) -> float:
    longer = max(len(one), len(other))
    return len(align(one, other)) / longer if longer else 1.0


def distinctive_steps(steps: Steps, others: Sequence[Steps], rare: float) -> Steps:
    taken = [{level(step).signature for step in other for level in LEVELS} for other in others]
    return tuple(
        step for step in steps if sum(step.signature in each for each in taken) <= rare * len(taken)
    )


MASKS = (
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?\b"), "DATE"),
    (re.compile(r"\bv?\d+(?:\.\d+)+(?:[-+][0-9A-Za-z]+(?:\.\d+)*)?\b"), "VERSION"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b"), "ID"),
    (re.compile(r"(?:\b[A-Z][A-Z0-9]+-|#)\d+\b"), "ISSUE"),
    (re.compile(r"\b\d+\b"), "NUMBER"),
)
"""Patterns of what differs each time, with the word for it; earlier patterns come first."""
MASK_WORDS = frozenset(word for _, word in MASKS) | {"MESSAGE", "PATH", "NAME"}
_MESSAGE_OPTION = re.compile(r"-[a-z]*m|-[tbn]|--(?:message|title|body|notes)")


def mask(text: str) -> str:
    for pattern, word in MASKS:
        text = pattern.sub(word, text)
    return text


def keep_newest(lines: Sequence[Sequence[str]], merged: Sequence[str]) -> tuple[str, ...]:
    """Return the newest command as it was typed; what it had printed by another one is masked."""
    return tuple(
        common if word == "…" else word for word, common in zip(lines[-1], merged, strict=True)
    )


def common_command(lines: Sequence[Sequence[str]]) -> list[str]:
    """Merge commands of one signature word by word; where they differ stands a word in capitals."""
    newest = lines[-1]
    alike = [line for line in lines if len(line) == len(newest)]
    if len(alike) == 1 < len(lines):
        return [mask(word) for word in newest]
    places = zip(zip(*alike, strict=True), ("", *newest), strict=False)
    return [_common_word(words, before) for words, before in places]


def _common_word(words: Sequence[str], before: str) -> str:
    """Return what the words of one place have in common, of which the newest stands *before*."""
    masked = {mask(word) for word in words}
    if len(set(words)) == 1 and words[0] != "…":
        return words[0]
    if len(masked) == 1 and "…" not in masked:
        return masked.pop()
    if _MESSAGE_OPTION.fullmatch(before):
        return "MESSAGE"
    return "PATH" if all("/" in word or "." in word for word in words) else "NAME"

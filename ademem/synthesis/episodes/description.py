"""An episode as text: by rules, or in the words of an AI that was told the same."""

from __future__ import annotations

from ademem.core.text import bounded, preview, unique
from ademem.core.value import Value, replace
from ademem.store.episodes import SESSION, Episode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ademem.synthesis.episodes.gathering import Gathering

CHARS = 1_900
"""Longest text of an episode: what the gate lets through, and some room."""
RULES_CONFIDENCE = 0.5
MODEL_CONFIDENCE = 0.7
TITLE_CHARS = 80
SHOWN = 8
"""Most items of a kind in the text; the data has them all."""
DEEDS = ("edit", "run", "test")
"""Kinds of actions that changed or checked something."""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "task": {"type": "string", "minLength": 3, "maxLength": 200},
        "summary": {"type": "string", "minLength": 3, "maxLength": 900},
        "outcome": {"type": "string", "enum": ["succeeded", "failed", "unknown"]},
        "decisions": {
            "type": "array",
            "items": {"type": "string", "maxLength": 300},
            "maxItems": 10,
        },
    },
    "required": ["task", "summary", "outcome", "decisions"],
    "additionalProperties": False,
}

ASKED = """\
Below is what one coding session did, as data. Say in `task` what was wanted, in one sentence
without "the user"; in `summary` how it was approached, what worked and what did not, so that
somebody who does the like next time learns from it; in `outcome` whether it was reached, `unknown`
unless the data shows it; in `decisions` what was settled and why, nothing that is not in the data.

"""


class Told(Value):
    """The text, and how far it is believed."""

    episode: Episode
    text: str
    confidence: float = RULES_CONFIDENCE

    @property
    def title(self) -> str:
        return preview(self.episode.task, TITLE_CHARS)


def by_rules(episode: Episode) -> Told:
    """Everything that counts, a line a kind."""
    lines = [f"Task: {episode.task}", f"Outcome: {episode.outcome}.", *_facts(episode)]
    return Told(episode=episode, text=bounded("\n".join(lines), CHARS))


def by_model(episode: Episode, answer: dict[str, Any], model: str) -> Told:
    """What an AI made of it; what tests showed is not for it to say, and facts follow its words."""
    outcome = answer["outcome"] if episode.outcome == "unknown" else episode.outcome
    decisions = unique(filter(None, (*episode.decisions, *answer["decisions"])))
    episode = replace(
        episode,
        task=answer["task"],
        outcome=outcome,
        decisions=decisions,
        summarised_by=model or "model",
    )
    lines = [
        f"Task: {episode.task}",
        f"Outcome: {outcome}.",
        answer["summary"],
        *_facts(episode),
    ]
    return Told(episode=episode, text=bounded("\n".join(lines), CHARS), confidence=MODEL_CONFIDENCE)


def question(episode: Episode, beside: Iterable[str]) -> str:
    """What an AI is told: the same facts, and what was said beside them."""
    return ASKED + "\n".join([*by_rules(episode).text.splitlines(), *beside])


def of_conversation(episode: Episode, gathered: Gathering) -> list[str]:
    """Some of what was said and done in a session."""
    return [
        *(f"Asked: {prompt}" for prompt in gathered.prompts),
        *(f"Did ({action.kind}): {action.target}" for action in episode.actions),
        f"At the end: {gathered.last_said}",
    ]


def of_parts(parts: Iterable[Episode], learned: Iterable[str]) -> list[str]:
    """What the sessions of a mission were, one after the other, and what they learned."""
    return [
        *(by_rules(part).text for part in parts),
        *(f"Learned: {text}" for text in learned),
    ]


def _facts(episode: Episode) -> list[str]:
    done = [_deed(action.kind, action.target) for action in episode.actions if action.kind in DEEDS]
    runs = [f"`{run.command}` {run.error or 'passed'}" for run in episode.tests[-3:]]
    sessions = [action.target for action in episode.actions if action.tool == SESSION]
    told = (
        ("Sessions", sessions),
        ("Did", done),
        ("Changed", episode.files),
        ("Tests", unique(runs)),
        ("Decided", episode.decisions),
        ("Corrected", episode.corrections),
        ("Met", episode.errors),
    )
    return [f"{title}: {_some(items)}" for title, items in told if items]


def _deed(kind: str, target: str) -> str:
    return f"edited {target}" if kind == "edit" else f"`{target}`"


def _some(items: Iterable[str]) -> str:
    """The first and the last of them, in order."""
    said = list(unique(items))
    if len(said) > SHOWN:
        half = SHOWN // 2
        said = [*said[:half], "…", *said[-half:]]
    return "; ".join(said)

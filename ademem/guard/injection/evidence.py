"""Show a person why a text is held: the rule that spoke, and the words that weigh most."""

from __future__ import annotations

from itertools import chain

from ademem.core import judge
from ademem.core.judge import Held
from ademem.core.value import Value
from ademem.guard.injection import ORDER, judged_parts, structure_in


class Evidence(Value):
    structure: str | None
    """What the form of the text shows."""
    held: tuple[Held, ...]
    """The whole text and its pieces, as far as they are over the judge's limit."""
    damage: str = ""
    """Why there is no judge."""

    @property
    def highest(self) -> Held | None:
        return max(self.held, key=lambda held: held.score, default=None)


def evidence_of(text: str) -> Evidence:
    held: tuple[Held, ...] = ()
    damage = ""
    try:
        all_held = judge.load("orders").all_held
        held = tuple(chain.from_iterable(map(all_held, judged_parts(text))))
    except judge.DamagedJudge as error:
        damage = str(error)
    return Evidence(structure=structure_in(text), held=held, damage=damage)


def describe(held: Held) -> str:
    heaviest = ", ".join(f'"{run}"' for run in held.because)
    scale = f"{held.limit:.2g} is the limit, this is {held.score:.2g}"
    return f"{ORDER} ({heaviest}); {scale}"

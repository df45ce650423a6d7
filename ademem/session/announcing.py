"""Say at a prompt what is bound to what it announces; which places of a memory are firm.

Apart from `consulting`, which loads the parser of shell commands.
"""

from __future__ import annotations

from ademem.core.memory import STOP, Trust, is_rule
from ademem.guard.policy import MOST_CARRIED
from ademem.search.announced import announced
from ademem.search.meeting import GIVEN, NAMED, READ
from ademem.store.bindings import BROAD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.core.memory import Memory
    from ademem.search.meeting import Met
    from ademem.store.runtime import Runtime


def find_announced(prompt: str, is_question: bool, runtime: Runtime) -> list[Memory]:
    """Return memories that a prompt brings up by what it names; only a firm binding does."""
    here = (None, runtime.branch)
    found = [
        each
        for each in announced(prompt, runtime.store, is_question=is_question)
        if each.memory.source_branch in here
    ]
    firm = [each.memory for each in found if is_firm(each)]
    firm.sort(key=lambda memory: (memory.status == "candidate", not is_rule(memory)))
    return firm[:MOST_CARRIED]


def is_firm(each: Met, doubted: Iterable[tuple[str, str]] = ()) -> bool:
    """Tell whether a place was chosen, or is named by a rule that somebody typed.

    One that an agent chose too broadly is firm only for a memory marked to stop calls. One that is
    *doubted* was overruled too often: it stays firm only where a person chose it.
    """
    if each.binding.strength != GIVEN and (each.memory.id, each.binding.place) in doubted:
        return False
    if each.binding.state == BROAD and STOP not in each.memory.tags:
        return False
    is_typed_rule = is_rule(each.memory) and is_typed(each.memory)
    return each.binding.strength in (GIVEN, READ) or (
        each.binding.strength == NAMED and is_typed_rule
    )


def is_typed(memory: Memory) -> bool:
    """Tell whether its author typed it: a person here, or by accepted files somebody there."""
    return memory.trust in (Trust.USER, Trust.IMPORT)

"""A scripted model that obeys each denial of the guard and heeds the memories it is shown."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from .request import Request, ToolResult
from .script import Call, Reply, bash, model
from .scripted_model import ScriptedModel

_RECALL = r"Run `(.+?)` in Bash"


@dataclass(frozen=True)
class Temptation(Call):
    """A mistaken call, made unless its turn showed the rule against it."""

    rule: str
    instead: Call


class ObedientModel(ScriptedModel):
    """Searches where a denial asks for it, then makes the denied calls again.

    It acts on what was shown since the last prompt: at the prompt, by a search, by a denial. What a
    briefing showed before, and what comes beside the result of a call, is too late for that call.
    """

    def __init__(self) -> None:
        super().__init__()
        self.denials = 0
        self.mistakes: list[Temptation] = []
        """Mistaken calls that ran."""
        self._asked: dict[str | None, tuple[Call, ...]] = {}
        """Calls of each speaker's last answer."""
        self._denied: dict[str | None, tuple[Call, ...]] = {}
        """Calls to make again once memory was searched."""

    def choose(self, request: Request) -> Reply | None:
        who = request.agent
        outcomes = list(zip(self._asked.pop(who, ()), request.results, strict=False))
        denied = [(call, result) for call, result in outcomes if _is_denial(result)]
        self.denials += len(denied)
        self.mistakes += [
            call
            for call, result in outcomes
            if isinstance(call, Temptation) and not _is_denial(result)
        ]
        again = self._denied.pop(who, ()) + tuple(call for call, _ in denied)
        searches = [found[1] for _, result in denied if (found := re.search(_RECALL, result.text))]
        if searches:
            self._denied[who] = again
            reply: Reply | None = model(bash(searches[0]))
        elif again:
            reply = model(*again)
        else:
            reply = super().choose(request)
        if reply:
            shown = request.turn
            calls = tuple(_heed(call, shown) for call in reply.calls)
            reply = replace(reply, calls=calls)
            self._asked[who] = calls
        return reply


def _is_denial(result: ToolResult) -> bool:
    ours = ("ademem guard", "make the same call again")
    return result.is_error and any(words in result.text for words in ours)


def _heed(call: Call, shown: str) -> Call:
    return call.instead if isinstance(call, Temptation) and call.rule in shown else call

"""Ask today's guard about calls and prompts of the past, without a trace in the store."""

from __future__ import annotations

import os
import re
from collections import Counter

from ademem.core.memory import STOP, Memory
from ademem.core.value import Value, replace
from ademem.guard import readers
from ademem.guard import touch as touches
from ademem.guard.policy import SHELL_TOOLS, WRITING_TOOLS, Carry, Show, consult, own_tool
from ademem.guard.prompts import TurnClass, classify
from ademem.plugins.replay.counting import Effects, Met, typed_text
from ademem.plugins.replay.naming import contains, forbidden_in, longest_token, names_in, tokens
from ademem.search import binding, instruction_meeting, meeting
from ademem.search.query import names_subject
from ademem.session import announcing, consulting
from ademem.store import adopted, bindings, memories
from ademem.store.runtime import Runtime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.capture.transcript import Prompt
    from ademem.guard.touch import Touch
    from ademem.plugins.replay.counting import Done, Key

MOST_KEPT = 4096
"""Commands of which it is kept what they touch."""


class Rule(Value):
    """A memory, or an item of an adopted file, that may come up."""

    id: str
    text: str
    first_said: str
    """When it was first said, as a stamp; what came before does not count."""
    names: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()
    is_bound: bool = False


class TodaysGuard:
    """The guard with today's bindings, for sessions one after another."""

    def __init__(self, runtime: Runtime, rules: Iterable[Rule], roots: Iterable[str]) -> None:
        self.runtime = runtime
        self.rules = {rule.id: rule for rule in rules}
        self.roots = sorted(roots, key=len, reverse=True)
        self.early: Counter[str] = Counter()
        """How many calls met a memory before it was first said, by its id."""
        self.came_up: set[str] = set()
        """Memories that met a call or a prompt."""
        self._branch = runtime.branch
        self._has_items = memories.any_adopted(runtime.store)
        only_read = map(re.escape, readers.list_plain(runtime.settings.guard))
        self._only_reads = re.compile(rf"(?:{'|'.join(only_read)})(?:[ \t][\w \t./:=@,+#-]*)?")
        self._literals = bindings.list_literals(runtime.store)
        self._strings = _Strings(runtime)
        self._touches: dict[tuple[str, str], Touch] = {}
        self._by_token = _index(self.rules.values())

    def meet(self, done: Done, seen: set[Key], announced: set[str]) -> list[Met]:
        if not self._may_meet(done):
            return []
        touch = self._touch(done)
        found = [each for each in self._find(touch, done) if self._is_said(each, done)]
        first = found[0].memory.id if found else ""
        found = [each for each in found if (each.memory.id, each.binding.place) not in seen]
        if not found:
            return []
        stopping, shown = self._consult(found, touch, announced)
        shown |= announced.intersection(each.memory.id for each in found)
        self.came_up |= stopping | shown
        return [
            Met(
                memory_id=each.memory.id,
                place=each.binding.place,
                stops=each.memory.id in stopping,
                is_first=each.memory.id == first,
                names=self.rules[each.memory.id].names,
                forbidden=self.rules[each.memory.id].forbidden,
            )
            for each in found
            if each.memory.id in stopping | shown
        ]

    def effects(self, done: Done, watched: set[str]) -> Effects:
        if done.change:
            return Effects(writes=(done.change.path,))
        command = done.call.text("command")
        if self._only_reads.fullmatch(command):
            return Effects()
        is_near = any(os.path.basename(path) in command for path in watched)
        is_near |= bool(watched) and "git" in command
        if not is_near and not self._may_meet(done):
            return Effects()
        touch = self._touch(done)
        git = [argv[1:2] for argv in touch.argvs if argv[0] == "git"]
        restores = ("checkout",) in git or ("restore",) in git
        return Effects(
            writes=touch.writes,
            restores=touch.writes if restores else (),
            discards=("discard" in touch.acts and not touch.writes) or ("stash",) in git,
        )

    def announce(self, prompt: Prompt) -> set[str]:
        is_question = prompt.text.rstrip().endswith(("?", "？"))
        found = announcing.find_announced(prompt.text, is_question, self.runtime)
        said = {each.id for each in found if self._was_said(each.id, prompt.at)}
        self.came_up |= said
        return said

    def answer(self, prompt: Prompt, answer: str, calls: list[Done]) -> str:
        asked = prompt.text.lower()
        turn = "\n".join((answer, *(typed_text(each.call) for each in calls)))
        wanted = self._named_in(turn)
        for names in wanted.values():
            names -= {name for name in names if contains(asked, name)}
        if not any(wanted.values()) or not self._recalls(prompt):
            return ""
        best = self._best(prompt)
        if best is None or not wanted.get(best.id) or not self._was_said(best.id, prompt.at):
            return ""
        self.came_up.add(best.id)
        changing = next((each for each in calls if self._touch(each).changes), None)
        given = f"{answer}\n{typed_text(changing.call) if changing else ''}".lower()
        return best.id if any(contains(given, name) for name in wanted[best.id]) else ""

    def _best(self, prompt: Prompt) -> Memory | None:
        from ademem.search.engine import suggest_for

        hits = suggest_for(prompt.text, self.runtime)
        return hits[0].memory if hits else None

    def _recalls(self, prompt: Prompt) -> bool:
        turn = classify(prompt.text, settings=self.runtime.settings.guard).turn
        return turn is not TurnClass.NONE and names_subject(prompt.text)

    def _named_in(self, text: str) -> dict[str, set[str]]:
        """Return the ids of memories with the names of theirs that a text has."""
        lower = text.lower()
        found: dict[str, set[str]] = {}
        for token in tokens(text) & self._by_token.keys():
            for id, name in self._by_token[token]:
                if contains(lower, name):
                    found.setdefault(id, set()).add(name)
        return found

    def _was_said(self, id: str, at: str) -> bool:
        rule = self.rules.get(id)
        return rule is not None and rule.first_said < at

    def _is_said(self, each: meeting.Met, done: Done) -> bool:
        was_said = self._was_said(each.memory.id, done.call.at)
        if not was_said:
            self.early[each.memory.id] += 1
        return was_said

    def _find(self, touch: Touch, done: Done) -> list[meeting.Met]:
        root = self._root_of(done)
        met = meeting.meet(touch, root, self.runtime.store, literals=self._literals)
        found = consulting.put_in_order(met, touch)
        found = [each for each in found if each.memory.source_branch in (None, self._branch)]
        if self._has_items and root == self.runtime.project.root:
            items = instruction_meeting.meet(touch, self.runtime, (), done.call.folder)
            as_met = (consulting.as_met(item, self.runtime) for item in items)
            found += list(filter(None, as_met))[: consulting.MOST_ITEMS]
        return [each for each in found if each.memory.id in self.rules]

    def _consult(
        self, found: list[meeting.Met], touch: Touch, announced: set[str]
    ) -> tuple[set[str], set[str]]:
        """Return ids of what would deny the call, and of what would be said beside it."""
        judged = consulting.judge(found, touch.changes, self.runtime.store)
        findings = [
            replace(
                finding,
                in_context=each.memory.id in announced,
                in_turn=each.memory.id in announced and STOP not in each.memory.tags,
            )
            for each, finding in zip(found, judged, strict=True)
        ]
        outcome = consult(
            findings,
            irreversible=touch.irreversible,
            was_denied=False,
            is_counted=False,
            denials=0,
            max_blocks=self.runtime.settings.guard.max_blocks,
        )
        match outcome:
            case Carry(ids=carried):
                return set(carried), set()
            case Show(ids=shown):
                return set(), set(shown)
        return set(), set()

    def _root_of(self, done: Done) -> str:
        places = (done.change.path if done.change else "", done.call.folder)
        for place in filter(None, places):
            for root in self.roots:
                if f"{place}/".startswith(f"{root}/"):
                    return root
        return self.runtime.project.root

    def _touch(self, done: Done) -> Touch:
        call = done.call
        folder = call.folder or self.runtime.project.root
        if call.tool not in SHELL_TOOLS:
            touch = touches.touch(call.tool, call.input, folder, self.runtime.settings.guard)
            return replace(touch, creates=done.creates) if call.tool in WRITING_TOOLS else touch
        key = (call.text("command"), folder)
        if key not in self._touches:
            if len(self._touches) >= MOST_KEPT:
                self._touches.clear()
            self._touches[key] = touches.touch(
                call.tool, call.input, folder, self.runtime.settings.guard
            )
        return self._touches[key]

    def _may_meet(self, done: Done) -> bool:
        """Compare a call with the strings of which each that meets a binding holds one."""
        call = done.call
        if own_tool(call.tool, self.runtime.settings.guard.mcp_servers):
            return False
        text = typed_text(call).lower()
        if call.tool not in WRITING_TOOLS:
            if self._only_reads.fullmatch(call.text("command")):
                return self._strings.any_run(text)
            inside = os.path.relpath(call.folder or "/", self._root_of(done))
            return self._strings.any_in(f'"{text}" {inside}/')
        path = done.change.path if done.change else call.text("file_path")
        return self._strings.any_in(f'"{path.lower()}"') or self._strings.any_typed(text)


class _Strings:
    """What the shell looks for in a call, before it starts Python for a memory."""

    def __init__(self, runtime: Runtime) -> None:
        store = runtime.store
        sure = bindings.list_all(store) + adopted.list_bindings(store, runtime.project.root)
        lists = binding.list_lines(sure, bindings.list_weak(store))
        named = {line.lower() for lines in lists.values() for line in lines}
        self.named = sorted(named - {each for each in binding.ALWAYS if each != "\\\\"})
        self.run = sorted(
            {line.lower() for name in ("always", "runs") for line in lists[name]} & {*self.named}
        )
        self.typed = sorted({line.lower() for name in ("texts", "rare") for line in lists[name]})

    def any_in(self, text: str) -> bool:
        return any(string in text for string in self.named)

    def any_run(self, text: str) -> bool:
        """Tell whether a call that only reads may run what is named."""
        return any(string in text for string in self.run)

    def any_typed(self, text: str) -> bool:
        return any(string in text for string in self.typed)


def _index(rules: Iterable[Rule]) -> dict[str, list[tuple[str, str]]]:
    """Map a word of each name to the ids and names that have it."""
    found: dict[str, list[tuple[str, str]]] = {}
    for rule in rules:
        for name in rule.names:
            if token := longest_token(name):
                found.setdefault(token, []).append((rule.id, name))
    return found


def list_rules(runtime: Runtime) -> list[Rule]:
    """Return what may come up today, with the time at which each was first said."""
    store = runtime.store
    rules = [
        Rule(
            id=row["id"],
            text=row["text"],
            first_said=row["first_said"],
            names=names_in(row["text"]),
            forbidden=forbidden_in(row["text"]),
            is_bound=bool(row["is_bound"]),
        )
        for row in bindings.list_first_said(store)
    ]
    for row in adopted.list_items(store, runtime.project.root):
        text = adopted.in_context(row)
        rules.append(
            Rule(
                id=row["id"],
                text=text,
                first_said=row["author_time"] or NEVER,
                names=names_in(text),
                forbidden=forbidden_in(text),
                is_bound=True,
            )
        )
    return rules


NEVER = "9999"
"""A time behind that of any call."""

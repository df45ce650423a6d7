"""Compound commands, each read from behind its first word; they tell how they end."""

from __future__ import annotations

from ademem.guard.shell.cursor import Unreadable
from ademem.guard.shell.values import Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ademem.guard.shell.grammar import Grammar


def _if(grammar: Grammar) -> bool:
    closer, possible = "elif", True
    while closer == "elif":
        _, answer = grammar.commands("then", possible=possible)
        closer, _ = grammar.commands("elif", "else", "fi", possible=possible and answer is True)
        possible = possible and answer is False
    if closer == "else":
        grammar.commands("fi", possible=possible)
    return True


def _while(grammar: Grammar) -> bool:
    _, answer = grammar.commands("do")
    grammar.commands("done", possible=answer is True)
    return True


def _until(grammar: Grammar) -> bool:
    _, answer = grammar.commands("do")
    grammar.commands("done", possible=answer is False)
    return True


def _for(grammar: Grammar) -> bool:
    if grammar.cursor.match(r"[ \t]*\(\("):
        grammar.words.arithmetic()
    else:
        grammar.word()
        grammar.lines()
        if grammar.reserved() == "in":
            grammar.cursor.take(2)
            while grammar.word():
                pass
    grammar.cursor.takes(";")
    grammar.commands("do", "{")
    grammar.commands("done", "}")
    return True


def _case(grammar: Grammar) -> bool:
    """No arm is reached for sure."""
    grammar.word()
    grammar.lines()
    if grammar.reserved() != "in":
        raise Unreadable("case without in")
    grammar.cursor.take(2)
    grammar.lines()
    while grammar.reserved() != "esac":
        grammar.cursor.takes("(")
        while grammar.word() or grammar.cursor.takes("|"):
            pass
        if not grammar.cursor.takes(")"):
            raise Unreadable("no ) after a pattern")
        closer, _ = grammar.commands(";;&", ";;", ";&", "esac", possible=False)
        if closer == "esac":
            return True
        grammar.lines()
    grammar.cursor.take(4)
    return True


def _function(grammar: Grammar) -> bool:
    name = grammar.word()
    grammar.cursor.match(r"[ \t]*\([ \t]*\)")
    grammar.function(name.text if name else "")
    return True


def _test(grammar: Grammar) -> bool:
    words = [Word(text="[[")]
    grammar.lines()
    while not grammar.cursor.match(r"\]\](?=[ \t\n;&|()<>]|\Z)"):
        if grammar.cursor.done:
            raise Unreadable("no ]]")
        words.append(grammar.words.loose())
        grammar.lines()
    grammar.add(words)
    return True


def _group(grammar: Grammar) -> bool | None:
    _, answer = grammar.commands("}")
    return answer


COMPOUNDS: dict[str, Callable[[Grammar], bool | None]] = {
    "if": _if,
    "while": _while,
    "until": _until,
    "for": _for,
    "select": _for,
    "case": _case,
    "function": _function,
    "[[": _test,
    "{": _group,
}

"""The same facts about a script as `ademem.guard.shell`, read off the tree of tree-sitter-bash."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import tree_sitter_bash
from tree_sitter import Language, Parser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from ademem.guard.shell import Command, Script

BASH = Parser(Language(tree_sitter_bash.language()))

TESTS = ("[", "[[")
KEYWORDS = ("declaration_command", "unset_command")
REDIRECTS = ("file_redirect", "herestring_redirect", "heredoc_redirect")
EXPANSIONS = frozenset(
    "simple_expansion expansion command_substitution process_substitution arithmetic_expansion"
    " brace_expression extglob_pattern regex".split()
)


class Facts(NamedTuple):
    """What two readers have to agree on; as multisets, for they walk in different orders."""

    commands: Counter[tuple[str, ...]]
    """The words of each command; of a test only its first."""
    assignments: Counter[str]
    redirects: Counter[tuple[str | None, str, str]]
    heredocs: Counter[str]


def ours(script: Script) -> Facts:
    words = [tuple(word.text for word in each.words) for each in script if each.words]
    return Facts(
        commands=Counter(each[:1] if each[0] in TESTS else each for each in words),
        assignments=Counter(word.text for each in script for word in each.assignments),
        redirects=Counter(
            (redirect.fd, redirect.operator, redirect.target.text)
            for each in script
            for redirect in each.redirects
        ),
        heredocs=Counter(
            each.stdin.text.rstrip("\n") for each in script if each.stdin and _reads_heredoc(each)
        ),
    )


def _reads_heredoc(command: Command) -> bool:
    inputs = [each.operator for each in command.redirects if each.operator[:2] == "<<"]
    return inputs[-1:] in (["<<"], ["<<-"])


def theirs(text: str) -> Facts | None:
    """None where the tree has an error: tree-sitter does not know all of bash."""
    root = BASH.parse(text.encode()).root_node
    if root.has_error:
        return None
    commands: Counter[tuple[str, ...]] = Counter()
    assignments: Counter[str] = Counter()
    redirects: Counter[tuple[str | None, str, str]] = Counter()
    heredocs: Counter[str] = Counter()
    for node in _statements(root):
        if node.type in ("command", *KEYWORDS):
            commands[_untimed(_words(node) + _strayed(node))] += bool(_words(node))
        elif node.type == "test_command" and node.children[0].type in TESTS:
            commands[(node.children[0].type,)] += 1
        elif node.type == "variable_assignment":
            declared = node.parent is not None and node.parent.type in KEYWORDS
            assignments.update(_assigned(node)[declared:])
        elif node.type in REDIRECTS:
            redirects[_redirect(node)] += 1
        elif node.type == "heredoc_body":
            heredocs[_heredoc(node)] += 1
    return Facts(+commands, assignments, redirects, heredocs)


def _statements(node: Node, arithmetic: bool = False) -> Iterator[Node]:
    """Every node that says something, but for the assignments of arithmetic."""
    if not (arithmetic and node.type == "variable_assignment"):
        yield node
    counts = node.type in ("arithmetic_expansion", "c_style_for_statement") or (
        node.type == "compound_statement" and node.children[0].type == "(("
    )
    for child in node.children:
        leaves = child.type in ("command_substitution", "do_group") or (
            child.type == "compound_statement" and child.children[0].type == "{"
        )
        yield from _statements(child, (arithmetic or counts) and not leaves)


def _words(command: Node) -> tuple[str, ...]:
    skipped = REDIRECTS if command.type in KEYWORDS else (*REDIRECTS, "variable_assignment")
    own = [child for child in command.children if child.type not in skipped]
    words: list[str] = []
    end = -1
    for each in own:
        word = _assigned(each)[0] if each.type == "variable_assignment" else resolved(each)
        if each.start_byte == end:  # it may tear a value off its `export A=`
            words[-1] += word
        else:
            words.append(word)
        end = each.end_byte
    inside = [
        word for child in command.children if child.type == "file_redirect" for word in _more(child)
    ]
    return tuple(words + inside)


def _strayed(command: Node) -> tuple[str, ...]:
    """Words behind a redirection, which the tree gives to the redirection."""
    outer = command.parent
    if outer is None or outer.type != "redirected_statement":
        return ()
    behind = (child for child in outer.children if child.type in REDIRECTS)
    return tuple(word for child in behind for word in _more(child))


def _more(redirect: Node) -> list[str]:
    if redirect.type == "heredoc_redirect":
        inner = (child for child in redirect.children if child.type == "file_redirect")
        given = redirect.children_by_field_name("argument")
        return [*map(resolved, given), *(word for each in inner for word in _more(each))]
    if redirect.type != "file_redirect":
        return []
    return [resolved(child) for child in redirect.children_by_field_name("destination")[1:]]


def _untimed(words: tuple[str, ...]) -> tuple[str, ...]:
    """`time` is a word of the shell, not the command."""
    while words[:1] == ("time",):
        words = words[2:] if words[1:2] == ("-p",) else words[1:]
    return words


def _assigned(node: Node) -> list[str]:
    """`name=value`; of an array `name=` and then its items."""
    name, operator, *value = node.children
    start = _text(name) + operator.type
    if value and value[0].type == "array":
        return [start, *(resolved(child) for child in value[0].children if child.is_named)]
    return [start + "".join(map(resolved, value))]


def _redirect(node: Node) -> tuple[str | None, str, str]:
    descriptor = next((c for c in node.children if c.type == "file_descriptor"), None)
    sign = next(child for child in node.children if not child.is_named).type
    operator = sign.removesuffix("-") if sign in (">&-", "<&-") else sign
    targets = [child for child in node.children if child.is_named and child is not descriptor]
    targets = [child for child in targets if child != descriptor]
    target = "-" if operator != sign else resolved(targets[0])
    if node.type == "heredoc_redirect":
        target = re.sub(r"[\"'\\]", "", _text(targets[0]))
    return descriptor and _text(descriptor), operator, target


def _heredoc(body: Node) -> str:
    redirect = body.parent
    assert redirect is not None
    start = next(child for child in redirect.children if child.type == "heredoc_start")
    indented = any(child.type == "<<-" for child in redirect.children)
    quoted = re.search(r"[\"'\\]", _text(start))
    text = _text(body) if quoted else _spliced(body, r"\\([\\$`])|\\\n")
    return (re.sub(r"(?m)^\t+", "", text) if indented else text).rstrip("\n")


def resolved(node: Node) -> str:
    """What the shell makes of a word before it expands; expansions stay as they are written."""
    match node.type:
        case "raw_string":
            return _text(node)[1:-1]
        case "ansi_c_string":
            return _text(node)[2:-1].encode("latin-1", "backslashreplace").decode("unicode_escape")
        case "string":
            return _spliced(node, r"\\([\"\\$`])|\\\n")[1:-1]
        case "translated_string":
            return resolved(node.children[1])
        case kind if kind in EXPANSIONS:
            return _text(node)
        case "concatenation" | "command_name":
            return _joined(node)
        case _:
            return re.sub(r"(?s)\\\n|\\(.)", _unescaped, _text(node))


def _joined(node: Node) -> str:
    """Parts and what stands between them."""
    data, at, parts = node.text or b"", 0, []
    for child in node.children:
        parts += [data[at : child.start_byte - node.start_byte].decode(), resolved(child)]
        at = child.end_byte - node.start_byte
    return "".join(parts) + data[at:].decode()


def _spliced(node: Node, escapes: str) -> str:
    """The text without backslashes before signs that they escape, expansions left alone."""
    data, at, parts = node.text or b"", 0, []
    for child in _expansions(node):
        before = data[at : child.start_byte - node.start_byte].decode()
        parts += [re.sub(escapes, _unescaped, before), _text(child)]
        at = child.end_byte - node.start_byte
    return "".join(parts) + re.sub(escapes, _unescaped, data[at:].decode())


def _expansions(node: Node) -> Iterator[Node]:
    for child in node.children:
        if child.type in EXPANSIONS:
            yield child
        else:
            yield from _expansions(child)


def _unescaped(found: re.Match[str]) -> str:
    return found[1] or ""


def _text(node: Node) -> str:
    return (node.text or b"").decode()

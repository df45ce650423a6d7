"""Our reader of scripts finds what tree-sitter's grammar of bash finds. Nothing here is run.

Ours is written by hand because importing that grammar costs a hook most of what it may cost. Where
the two differ for a known reason, the reason stands below with the commands it is about.
"""

import pytest
from hypothesis import assume, event, given, settings

from ademem.guard.shell import grammar
from tests.examples import examples
from tests.guard.commands import READS, WRITES
from tests.guard.shell.scripts import scripts
from tests.guard.shell.tree import ours, theirs

CORPUS = [
    command for corpus in (READS, WRITES) for commands in corpus.values() for command in commands
]

DIFFERENCES = {
    "we say what echo, printf and a heredoc print, where that takes the place of a word": [
        "$(echo rm) x",
        "`echo rm` x",
        "$(echo ls) && $(echo rm) x",
        "$(echo) rm x",
        "find . $(echo -name x -delete)",
    ],
    "`time` is a word of the shell, and tree-sitter takes it for a program": [
        "time (find / -name core -type f 2>/dev/null | wc -l)",
    ],
    "tree-sitter loses a dash between a word and a redirection": [
        "python3 - <<'EOF'\nopen('x', 'w')\nEOF",
        'python - <<\'PY\'\nopen("a", "w").write("x")\nPY',
    ],
    "a shell that is not bash would run what stands in the parameter": [
        "echo ${A:-<(rm x)}",
    ],
}

WE_REFUSE = {
    "shells read the apostrophe differently": [
        'echo "${A:-it\'s}"; rm x; echo "${A:-it\'s}"',
    ],
    "bash does not take a parenthesis in the place of a word": ["ls (rm x)"],
    "neither of us reads it": [
        "[IO.File]::Delete('x')",
        "ls 'unclosed",
        "ls =(rm x)",
        "echo ${(e):-'$(rm x)'}",
    ],
}

THEY_REFUSE = {
    "tree-sitter knows no `<>`": ["exec 3<> y"],
    "tree-sitter knows no braces in the place of a program": ["{rm,x}"],
}


def listed(table):
    return [command for commands in table.values() for command in commands]


EXPLAINED = {*listed(DIFFERENCES), *listed(WE_REFUSE), *listed(THEY_REFUSE)}


@pytest.mark.parametrize("commands", [*READS.values(), *WRITES.values()], ids=[*READS, *WRITES])
def test_of_the_corpus_both_read_the_same(commands):
    compared = {each: (grammar.parse(each), theirs(each)) for each in {*commands} - EXPLAINED}

    assert {each: script for each, (script, _) in compared.items() if script is None} == {}
    assert {each: ours(script) for each, (script, _) in compared.items()} == {
        each: found for each, (_, found) in compared.items()
    }


def test_every_difference_is_there_for_its_reason():
    assert set(CORPUS) >= EXPLAINED
    assert all(ours(grammar.parse(each)) != theirs(each) for each in listed(DIFFERENCES))
    assert all(grammar.parse(each) is None for each in listed(WE_REFUSE))
    assert all(theirs(each) is None for each in listed(THEY_REFUSE))


@settings(derandomize=True, max_examples=examples(300), database=None)
@given(scripts(0))
def test_of_lists_of_commands_both_read_the_same(text):
    compared(text)


@settings(derandomize=True, max_examples=examples(120), database=None)
@given(scripts(1))
def test_of_scripts_that_nest_both_read_the_same(text):
    compared(text)


def test_a_value_that_tree_sitter_tears_off_is_one_word():
    text = "A=() && ! export A=`A=()`;"

    assert ours(grammar.parse(text)) == theirs(text)


def compared(text):
    """Ours reads every script; what tree-sitter makes an error of is no use."""
    script = grammar.parse(text)
    assert script is not None

    tree = theirs(text)
    event("tree-sitter reads it" if tree else "tree-sitter does not")
    assume(tree is not None)
    assert ours(script) == tree

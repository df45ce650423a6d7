"""Which shell commands change something. The commands below are read, never run."""

import re
from shlex import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.guard import shell
from ademem.guard.mutation import judge
from tests.guard.commands import READS, WRITES


def themes(corpus):
    return [pytest.param(commands, id=theme) for theme, commands in corpus.items()]


@pytest.mark.parametrize("commands", themes(READS))
def test_they_only_read(commands):
    judged = {command: judge(command) for command in commands}

    assert {command: each.reason for command, each in judged.items() if each.mutates} == {}


@pytest.mark.parametrize("commands", themes(WRITES))
def test_they_change_something(commands):
    judged = {command: judge(command) for command in commands}

    assert {command: each.reason for command, each in judged.items() if not each.mutates} == {}


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        pytest.param(
            "git push --force",
            "`git push` does more than read with these arguments",
            id="arguments",
        ),
        pytest.param(
            "cd src && rm x", "`rm` is not known to only read", id="the part that changes"
        ),
        pytest.param("ls > out.txt", "`> out.txt` writes a file", id="a redirection"),
        pytest.param("sort -uo x x", "`sort -o` does more than read", id="an option"),
        pytest.param("deploy now", "`deploy` is not known to only read", id="a stranger"),
        pytest.param("$CMD x", "`$CMD x` may be any command", id="an expansion"),
        pytest.param("ls '", "it cannot be read as a shell command", id="no shell"),
        pytest.param("ls | wc -l", "`ls` only reads; `wc` only reads", id="every part"),
        pytest.param(
            "bd close BD-1",
            "`bd close` writes to the issue tracker, not to files",
            id="what may be written",
        ),
    ],
)
def test_the_reason_names_the_part(command, reason):
    assert judge(command).reason == reason


def test_a_command_nobody_can_wait_for_is_not_read():
    assert not judge("ls\n" * 10_000).mutates
    assert judge("ls\n" * 50_000).mutates


def test_it_tells_what_would_run():
    assert judge("sudo env A=1 ls -a | xargs -n 1 sh -c 'cat x'").commands == ("ls -a", "cat x")


PLAIN = [
    command
    for corpus in (READS, WRITES)
    for commands in corpus.values()
    for command in commands
    if (script := shell.parse(command))
    and len(script) == 1
    and (name := script[0].name).replace("-", "").isalnum()
    and command.startswith(name)
]
"""Commands of one program, spelled without quotes."""

SCRIPTS = [
    command
    for corpus in (READS, WRITES)
    for commands in corpus.values()
    for command in commands
    if shell.parse(command) and not re.search(r"\(\)|^function ", command)
]

BEFORE = [
    "sudo ",
    "sudo -u root -- ",
    "env A=1 ",
    "time ",
    "nohup ",
    "A=1 ",
    "true && ",
    "! ",
    "  ",
]

SPELLINGS = [
    lambda name: "\\" + name,
    lambda name: f'"{name}"',
    lambda name: f"{name[0]}''{name[1:]}",
    lambda name: f"$'\\x{ord(name[0]):02x}'{name[1:]}",
    lambda name: f"\\\n{name}",
]

AROUND = [
    "( {}\n)",
    "{{ {}\n}}",
    "true && {{\n{}\n}} # note",
    "if true; then {}\nfi",
    "for i in 1 2; do {}\ndone",
    ": $( {}\n)",
]

AS_TEXT = [
    "bash -c {}",
    "sudo sh -lc {}",
    "eval {}",
    "env -i bash -euo pipefail -c {}",
    "echo {} | sh",
]


@given(st.sampled_from(PLAIN), st.sampled_from(BEFORE), st.sampled_from(SPELLINGS))
def test_spelling_and_wrapping_a_program_change_nothing(command, before, spelled):
    name = command.split()[0]
    changed = before + spelled(name) + command.removeprefix(name)

    assert judge(changed).mutates == judge(command).mutates


@given(st.sampled_from(SCRIPTS), st.lists(st.sampled_from(AROUND + AS_TEXT), max_size=2))
def test_running_it_in_a_script_changes_nothing(command, wrappings):
    changed = command
    for wrapping in wrappings:
        changed = wrapping.format(quote(changed) if wrapping in AS_TEXT else changed)

    assert judge(changed).mutates == judge(command).mutates


@given(st.sampled_from(SCRIPTS), st.sampled_from(["{}\nrm x", "rm x\n{}", "ls $(rm x)\n{}"]))
def test_company_makes_nothing_harmless(command, together):
    assert judge(together.format(command)).mutates


BARE = [
    command
    for command in PLAIN
    if (words := shell.parse(command)[0])
    and not (words.redirects or words.assignments or any(word.expands for word in words.words))
]
"""Those of them in which nothing but words stands."""

QUOTED = [
    lambda word: quote(word),
    lambda word: "'" + word.replace("'", "'\\''") + "'",
    lambda word: '"' + re.sub(r'(["\\$`])', r"\\\1", word) + '"',
    lambda word: re.sub(r"([^\w./-])", r"\\\1", word) if "\n" not in word else quote(word),
    lambda word: "$'" + word.replace("\\", "\\\\").replace("'", "\\'") + "'",
]


@given(
    st.sampled_from(BARE),
    st.lists(st.sampled_from(QUOTED), min_size=1, max_size=4),
    st.sampled_from([" ", "  ", "\t", " \\\n ", "\\\n\t"]),
)
def test_quoting_and_spacing_of_words_change_nothing(command, quotings, space):
    name, *words = [word.text for word in shell.parse(command)[0].words]
    quoted = [quotings[i % len(quotings)](word) if word else "''" for i, word in enumerate(words)]

    assert judge(space.join([name, *quoted])).mutates == judge(command).mutates


@given(st.text(alphabet="rm ls'\"`$(){}[]<>|&;\\\n#!=-*?x", max_size=60) | st.text(max_size=60))
def test_any_text_is_judged(text):
    assert judge(text).reason

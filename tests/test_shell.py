"""What a shell would run, told from the text alone. The commands below are read, never run."""

import shlex
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.guard.shell import argvs, grammar, parse, parse_plain, unwrap


def commands(text):
    """The words of every command, in the order in which they would run."""
    return [[word.text for word in each.words] for each in parse(text)]


def last(text):
    return parse(text)[-1]


def surely_run(text):
    return [" ".join(argv) for argv in argvs(parse(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("git log -3", [["git", "log", "-3"]], id="a command"),
        pytest.param("a b\n\nc", [["a", "b"], ["c"]], id="lines"),
        pytest.param("a; b & c", [["a"], ["b"], ["c"]], id="a list"),
        pytest.param("a && b || c", [["a"], ["b"], ["c"]], id="and, or"),
        pytest.param("a | b |& c", [["a"], ["b"], ["c"]], id="a pipeline"),
        pytest.param("a &&\n # why\n b", [["a"], ["b"]], id="a list over several lines"),
        pytest.param("a \\\n  b", [["a", "b"]], id="a continued line"),
        pytest.param("a # b; c\nd", [["a"], ["d"]], id="a comment"),
        pytest.param("a#b c", [["a#b", "c"]], id="no comment within a word"),
        pytest.param("! time -p a", [["a"]], id="negated and timed"),
        pytest.param("(a; b) | c", [["a"], ["b"], ["c"]], id="a subshell"),
        pytest.param("{ a; b; }", [["a"], ["b"]], id="a group"),
        pytest.param(
            "if$x; then'' a", [["if$x"], ["then", "a"]], id="words that only look reserved"
        ),
        pytest.param("echo {a} }", [["echo", "{a}", "}"]], id="braces as words"),
        pytest.param(
            "if a; then b; elif c; then d; else e; fi",
            [["a"], ["b"], ["c"], ["d"], ["e"]],
            id="if",
        ),
        pytest.param("while a; do b; done", [["a"], ["b"]], id="while"),
        pytest.param("until a\ndo\nb\ndone", [["a"], ["b"]], id="until"),
        pytest.param("for x in 1 2; do a $x; done", [["a", "$x"]], id="for"),
        pytest.param("for x; do a; done", [["a"]], id="for each argument"),
        pytest.param("for ((i = 0; i < 3; i++)); do a; done", [["a"]], id="for by number"),
        pytest.param("select x in 1 2; do a; done", [["a"]], id="select"),
        pytest.param(
            "case $x in a|b) c;; (d) e;& *) f; esac; g", [["c"], ["e"], ["f"], ["g"]], id="case"
        ),
        pytest.param("case $x in\nesac", [], id="case without arms"),
        pytest.param(
            "[[ x && a < b ]] && c", [["[[", "x", "&&", "a", "<", "b"], ["c"]], id="a test"
        ),
        pytest.param("(( (i + 1) > 2 )) && c", [["c"]], id="arithmetic"),
        pytest.param("f() { a; }; f", [["a"], ["f"]], id="a function"),
        pytest.param("function f {\n a\n}", [["a"]], id="a function with its word"),
        pytest.param("if if a; then b; fi then c; fi", [["a"], ["b"], ["c"]], id="nested"),
        pytest.param("", [], id="nothing"),
        pytest.param(" \n# only a comment", [], id="only a comment"),
    ],
)
def test_every_command_of_a_script_is_found(text, expected):
    assert commands(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a $(b $(c))", [["c"], ["b", "$(c)"], ["a", "$(b $(c))"]], id="$(…)"),
        pytest.param("a `b`", [["b"], ["a", "`b`"]], id="backquotes"),
        pytest.param(
            "a `b \\`c\\``", [["c"], ["b", "`c`"], ["a", "`b \\`c\\``"]], id="backquotes within"
        ),
        pytest.param('"$(a "$(b)")" c', [["b"], ["a", "$(b)"], ['$(a "$(b)")', "c"]], id="quoted"),
        pytest.param("a <(b) >(c)", [["b"], ["c"], ["a", "<(b)", ">(c)"]], id="process"),
        pytest.param("x=$(a) y=(1 $(b)) c", [["a"], ["b"], ["c"]], id="assignments"),
        pytest.param("a ${x:-$(b)}", [["b"], ["a", "${x:-$(b)}"]], id="in a parameter"),
        pytest.param("a $((1 + $(b)))", [["b"], ["a", "$((1 + $(b)))"]], id="in arithmetic"),
        pytest.param(
            "[[ $(a) == <(b) ]]", [["a"], ["b"], ["[[", "$(a)", "==", "<(b)"]], id="in a test"
        ),
        pytest.param("for x in $(a); do b; done", [["a"], ["b"]], id="in the list of a loop"),
        pytest.param("a > $(b)", [["b"], ["a"]], id="in a redirection"),
        pytest.param("a <<E\n$(b) `c`\nE\nd", [["a"], ["b"], ["c"], ["d"]], id="in a heredoc"),
        pytest.param("a <<'E'\n$(b)\nE\nd", [["a"], ["d"]], id="not in a quoted heredoc"),
        pytest.param("a '$(b)' \\$(c", None, id="not in single quotes"),
    ],
)
def test_commands_inside_words_are_found_too(text, expected):
    assert (commands(text) if parse(text) else None) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("'a b'", "a b", id="single quotes"),
        pytest.param('"a \\"b\\" \\x"', 'a "b" \\x', id="double quotes"),
        pytest.param("a\\ b", "a b", id="a backslash"),
        pytest.param("r''\"m\"", "rm", id="pieces"),
        pytest.param("$'\\x72\\155\\n\\u00e9'", "rm\né", id="escapes"),
        pytest.param("$'a\\0b'", "a", id="escapes end at a zero"),
        pytest.param('$"a"', "a", id="translated"),
        pytest.param('"a\\\nb"', "ab", id="a continued line in quotes"),
        pytest.param('"$(echo a b)"', "a b", id="a plain echo"),
        pytest.param("\"$(printf '%s-%s' a b)\"", "a-b", id="a plain printf"),
        pytest.param("\"$(cat <<'E'\nit's\n(a)\nE\n)\"", "it's\n(a)", id="a heredoc of cat"),
        pytest.param("`echo a`", "a", id="backquoted echo"),
        pytest.param("a$", "a$", id="a dollar"),
    ],
)
def test_a_word_with_a_known_value_is_resolved(text, expected):
    word = last(f"x {text}").words[1]

    assert (word.text, word.expands) == (expected, False)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("$x", id="a variable"),
        pytest.param('"a $x"', id="a variable in quotes"),
        pytest.param("${x:-a}", id="a parameter"),
        pytest.param("$(b)", id="what a command prints"),
        pytest.param("$(echo $x)", id="what an echo of a variable prints"),
        pytest.param("$(echo a b)", id="an output that is split"),
        pytest.param("$(echo)", id="an output that vanishes"),
        pytest.param("$(for i in 1 2; do echo a; done)", id="the output of a loop"),
        pytest.param("$((1 + 1))", id="arithmetic"),
        pytest.param("<(b)", id="a process"),
        pytest.param("*.py", id="a pattern"),
        pytest.param("a?", id="a pattern of one sign"),
        pytest.param("[ab]", id="a pattern of a set"),
        pytest.param("{a,b}", id="braces"),
        pytest.param("{1..3}", id="a range"),
    ],
)
def test_a_word_that_only_a_running_shell_knows_is_marked(text):
    assert last(f"x {text}").words[1].expands


@pytest.mark.parametrize("text", ["'*'", '"{a,b}"', "\\*", "[", "{}", "HEAD@{1}", "~/a"])
def test_what_looks_like_a_pattern_and_is_none_is_not_marked(text):
    assert not last(f"x {text}").words[1].expands


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a > f", [(None, ">", "f")], id="to a file"),
        pytest.param("a 2>&1 >>'f g'", [("2", ">&", "1"), (None, ">>", "f g")], id="several"),
        pytest.param("a &> f", [(None, "&>", "f")], id="both"),
        pytest.param(
            "a <in 3<>f {x}>|g",
            [(None, "<", "in"), ("3", "<>", "f"), ("{x}", ">|", "g")],
            id="descriptors",
        ),
        pytest.param("> f a", [(None, ">", "f")], id="before the command"),
        pytest.param("(a) > f", [(None, ">", "f")], id="of a subshell"),
        pytest.param("while a; do b; done < f", [(None, "<", "f")], id="of a loop"),
        pytest.param("a2>f", [(None, ">", "f")], id="a digit that belongs to the word"),
        pytest.param("a '>' f", [], id="quoted"),
    ],
)
def test_redirections_are_kept_apart_from_words(text, expected):
    found = [(each.fd, each.operator, each.target.text) for each in last(text).redirects]

    assert found == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a <<'E'\n$x\n  y\nE", "$x\n  y", id="a heredoc"),
        pytest.param("a <<-E\n\tx\n\tE", "x", id="a heredoc without tabs"),
        pytest.param("a <<E && b\nx \\$y\nE", "x $y", id="a heredoc behind a list"),
        pytest.param('a <<E "$(b\n)"\nx\nE', "x", id="a heredoc behind a substitution"),
        pytest.param("a <<< 'x y'", "x y", id="a here-string"),
        pytest.param("echo -n 'x y' z | a", "x y z", id="an echo"),
        pytest.param("echo -e 'x\\ty' | a", "x\ty", id="an echo with escapes"),
        pytest.param("printf '%s: %s\\n' x y | a", "x: y", id="a printf"),
        pytest.param("cat <<E | cat - | a\nx\nE", "x", id="a cat"),
        pytest.param("cat file | a", None, id="a file"),
        pytest.param("printf '%d' | a", None, id="a conversion"),
        pytest.param("echo x > f | a", None, id="an echo that goes elsewhere"),
        pytest.param("a < f", None, id="a redirection"),
    ],
)
def test_standard_input_is_known_where_it_is_written_out(text, expected):
    (command,) = [each for each in parse(text) if each.name == "a"]

    assert (command.stdin.text if command.stdin else None) == expected


def test_a_heredoc_that_expands_is_marked():
    assert last("a <<E\nx $y\nE").stdin.expands
    assert not last("a <<'E'\nx $y\nE").stdin.expands


def test_assignments_stand_apart_from_the_command_they_precede():
    command = last("A=1 B='x y' c D=2")

    assert [word.text for word in command.assignments] == ["A=1", "B=x y"]
    assert command.line == "c D=2"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param("git log", "git", id="by name"),
        pytest.param("/usr/bin/git log", "git", id="by an absolute path"),
        pytest.param("~/tools/git log", "git", id="at home"),
        pytest.param(".venv/bin/pytest", "pytest", id="in a folder of programs"),
        pytest.param("./git log", "./git", id="any file may be called git"),
        pytest.param("A=1", "", id="no command"),
    ],
)
def test_a_program_is_known_by_its_name(text, name):
    assert last(text).name == name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("cd x && a", ["cd x", "a"], id="all went well before it"),
        pytest.param("a; b & c | d", ["a", "b", "c", "d"], id="one after another"),
        pytest.param("a || b", ["a"], id="only after a failure"),
        pytest.param("a || b && c", ["a", "c"], id="after either"),
        pytest.param("false && a", ["false"], id="never"),
        pytest.param("false || a", ["false", "a"], id="after a sure failure"),
        pytest.param("! true && a", ["true"], id="after a success turned round"),
        pytest.param("if a; then b; else c; fi", ["a", "b"], id="the first branch"),
        pytest.param("if false; then b; else c; fi", ["false", "c"], id="the other branch"),
        pytest.param("if a; then b; elif c; then d; fi", ["a", "b"], id="not the second branch"),
        pytest.param("while false; do a; done", ["false"], id="a loop that is never entered"),
        pytest.param("until a; do b; done; c", ["a", "c"], id="a loop that waits for success"),
        pytest.param("case x in a) b;; esac; c", ["c"], id="not what depends on a value"),
        pytest.param("f() { a; }; b", ["b"], id="not the body of a function"),
        pytest.param("exit; a", ["exit"], id="not behind the end"),
        pytest.param("[ -d x ] || exit 1; a", ["[ -d x ]", "a"], id="an end that is not reached"),
        pytest.param("(exit 1); a", ["exit 1", "a"], id="the end of a subshell only"),
        pytest.param("echo a; echo 'b; c'", ["echo a", "echo b; c"], id="not what is quoted"),
        pytest.param("a $(b)", ["b", "a $(b)"], id="what stands inside"),
        pytest.param("false && sh -c 'a'", ["false"], id="not wrapped either"),
    ],
)
def test_what_is_sure_to_run_if_all_goes_well(text, expected):
    assert surely_run(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("sudo -u root -E a b", ["a b"], id="sudo"),
        pytest.param("env -i A=1 a b", ["a b"], id="env"),
        pytest.param("nice -n 5 nohup a b", ["a b"], id="nice and nohup"),
        pytest.param("/usr/bin/time -f %e a", ["a"], id="time"),
        pytest.param("timeout -k 5 10 a b", ["a b"], id="timeout"),
        pytest.param("command builtin exec a", ["a"], id="words of the shell"),
        pytest.param("command -v a", ["command -v a"], id="command that only looks"),
        pytest.param(
            "find . -name x -exec a {} + -exec b {} \\;",
            ["find . -name x -exec a {} + -exec b {} ;", "a {}", "b {}"],
            id="find",
        ),
        pytest.param("ls | xargs -0 -n 1 a b", ["ls", "a b {}"], id="xargs"),
        pytest.param(
            "echo x y | xargs a", ["echo x y", "a x y"], id="xargs with words it is given"
        ),
        pytest.param("ls | xargs -I% a % b", ["ls", "a {} b"], id="xargs with a mark"),
        pytest.param("sh -c 'a; b'", ["a", "b"], id="sh"),
        pytest.param("bash -euo pipefail -c 'a' x", ["a"], id="bash with options"),
        pytest.param("bash -s <<'E'\na\nE", ["a"], id="bash with a heredoc"),
        pytest.param("echo 'a b' | sh", ["echo a b", "a b"], id="sh at the end of a pipe"),
        pytest.param("eval 'a' b", ["a b"], id="eval"),
        pytest.param("trap 'a' EXIT", ["a"], id="trap"),
        pytest.param("sudo bash -lc \"env sh -c 'a b'\"", ["a b"], id="one in another"),
        pytest.param("python3 -m pytest -q", ["pytest -q"], id="a known module"),
        pytest.param("python3 -m other", ["python3 -m other"], id="another module"),
        pytest.param("npx --yes jest x", ["jest x"], id="a known package"),
        pytest.param("uv run --with x a", ["a"], id="uv run"),
        pytest.param("sudo", ["sudo"], id="alone"),
        pytest.param("bash script.sh", ["bash script.sh"], id="a script in a file"),
        pytest.param('bash -c "a $x"', ["a $x", "bash -c a $x"], id="a script that expands"),
        pytest.param("bash -c '('", ["bash -c ("], id="a script that cannot be read"),
    ],
)
def test_wrappers_are_taken_off(text, expected):
    found = [inner.line for each in parse(text) for inner in unwrap(each) if inner.words]

    assert found == expected


def test_a_wrapped_command_keeps_what_stands_around_it():
    (inner,) = unwrap(last("A=1 env B=2 a > f <<< x"))

    assert [word.text for word in inner.assignments] == ["A=1", "B=2"]
    assert [each.target.text for each in inner.redirects] == ["f", "x"]
    assert inner.stdin.text == "x"


def test_words_that_xargs_fills_in_are_marked():
    (inner,) = unwrap(last("ls | xargs -I% a %.x b"))

    assert [word.expands for word in inner.words] == [False, True, False]


def test_wrappers_beyond_reason_hide_what_they_run():
    (inner,) = unwrap(last("env " * 50 + "a"))

    assert inner.words[0].expands


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("'a", id="a quote"),
        pytest.param('"a', id="a double quote"),
        pytest.param("$'a", id="an escaped quote"),
        pytest.param("`a", id="a backquote"),
        pytest.param("$(a", id="a substitution"),
        pytest.param("${a", id="a parameter"),
        pytest.param("$((1)", id="arithmetic"),
        pytest.param("(a", id="a subshell"),
        pytest.param("{ a", id="a group"),
        pytest.param("[[ a", id="a test"),
        pytest.param("x=(a", id="an array"),
        pytest.param("if a; then b", id="an if"),
        pytest.param("while a; b; done", id="a loop without do"),
        pytest.param("case a b) c;; esac", id="a case without in"),
        pytest.param("a |", id="a pipe to nothing"),
        pytest.param("a >", id="a redirection to nowhere"),
        pytest.param("a ;; b", id="the end of no case"),
        pytest.param("fi", id="the end of nothing"),
        pytest.param("a (b)", id="a subshell as a word"),
        pytest.param("(a) b", id="a command behind a subshell"),
        pytest.param("f() a", id="a function without a body"),
        pytest.param("${ a; }", id="a parameter that is a command"),
        pytest.param('"${a:-it\'s}"', id="an apostrophe that shells read differently"),
        pytest.param("(" * 5000, id="nested too deeply"),
    ],
)
def test_what_is_no_whole_script_is_not_read(text):
    assert parse(text) is None


@given(
    st.text(alphabet="abf ls'\"`$(){}[]<>|&;\\\n\t#!=-*?%x01", max_size=80) | st.text(max_size=80)
)
def test_any_text_is_read_without_harm(text):
    script = parse(text)

    assert script is None or isinstance(script, tuple)
    assert script is None or all(isinstance(words, tuple) for words in argvs(script))


@given(st.lists(st.text(min_size=1, max_size=20).filter(lambda text: "\0" not in text), min_size=1))
def test_quoted_words_are_read_back_as_they_were(given_words):
    assert commands(shlex.join(["x", *given_words])) == [["x", *given_words]]


@pytest.mark.parametrize(
    "repeated",
    [
        "a;",
        "a|",
        "a $(b) ",
        "'x' ",
        "f(){ a; };",
        "<<E ",
        "{a,",
        "[",
        "$[",
        "((1));",
        "find -exec ",
        "env ",
        "\\",
    ],
)
def test_reading_takes_time_in_proportion_to_the_text(repeated):
    def seconds(times):
        """The shortest of three tries: what else the machine does only makes them longer."""
        return min(once(times) for _ in range(3))

    def once(times):
        started = time.process_time()
        for command in parse(repeated * times + "\n") or ():
            list(unwrap(command))
        return time.process_time() - started

    seconds(500)

    assert seconds(4000) < 40 * max(seconds(400), 0.001)


PLAIN_WORDS = st.lists(
    st.one_of(
        st.text("abcxyzAZ019_-./:=,@%+^", min_size=1, max_size=8),
        st.text("ab -./=~#&|;<>()[]{}*?", max_size=8).map(lambda text: f'"{text}"'),
        st.text("ab -./=~#&|;<>()[]{}*?$`\\", max_size=8).map(lambda text: f"'{text}'"),
        st.sampled_from(["if", "time", "!", "A=1", "exit", "false", "~", "git", "rm"]),
    ),
    max_size=6,
)


@given(PLAIN_WORDS.map(" ".join))
def test_plain_words_are_read_as_the_grammar_would(command):
    single = parse_plain(command)

    assert single is None or grammar.parse(command) == (single,)


@pytest.mark.parametrize(
    "command", ["git log -3", "rm -rf build", 'git commit -m "fix: the login"']
)
def test_most_commands_are_plain(command):
    assert parse_plain(command) is not None

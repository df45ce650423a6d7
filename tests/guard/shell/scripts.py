"""Shell scripts made up by a grammar of our own. They are read, never run."""

from functools import cache

from hypothesis import strategies as st

NAMES = st.sampled_from(["ls", "git", "rm", "cat", "./run", "a.b", "né", "変", "x-1", "/bin/sh"])
PLAIN = st.text("abcXYZ019_./:@%,+é字-", min_size=1, max_size=6).filter(lambda text: text != "-")
SPACED = st.text("ab #;|&<>(){}*?!~=\t\n", max_size=6)
VARIABLE = st.sampled_from(
    ["$x", "${x}", "${x:-y}", "${x%.py}", "${#x}", "${x[1]}", "${1}", "${@}", "${x/a/b}"]
)
SINGLE = SPACED.map(lambda text: f"'{text}'")
ANSI = st.lists(st.sampled_from(["a", " ", "\\n", "\\t", "\\'", "\\x41", "\\101", '"']))
ESCAPED = st.sampled_from(list(" $'\"\\;*&|#é")).map("a\\{}b".format)
PATTERN = st.sampled_from(["*", "?", "*.py", "[ab]*", "{a,b}", "{1..3}", "~"])
COMPOUND = ("(", "{", "if", "while", "until", "for", "select", "case", "f()", "function")
BLANK = st.sampled_from([" ", "  ", "\t", " \\\n "])


def double(substitution):
    part = st.one_of(
        st.text("ab '#;|&<>(){}*?\n", max_size=5),
        st.sampled_from(['\\"', "\\$", "\\\\", "\\`", "\\n", "a\\\nb"]),
        VARIABLE,
        substitution,
    )
    return st.lists(part, max_size=4).map(lambda parts: f'"{"".join(parts)}"')


def words(substitution, alone=VARIABLE):
    """What is *alone* is a whole word: tree-sitter takes `0` and backquotes behind it for two."""
    part = st.one_of(
        PLAIN,
        PLAIN,
        SINGLE,
        ANSI.map(lambda parts: f"$'{''.join(parts)}'"),
        VARIABLE,
        double(substitution),
        substitution,
    )
    many = st.lists(part, min_size=1, max_size=3).map("".join)
    escaped = st.lists(ESCAPED, min_size=1, max_size=2).map("".join)
    return st.one_of(PLAIN, many, many, PATTERN, escaped, alone)


def redirects(word):
    target = word.filter(lambda text: text[0] not in "&-(" and not text[0].isdigit())
    return st.one_of(
        st.tuples(st.sampled_from([">", ">>", "<", ">|", "2>", "&>", "&>>", "> ", "2> "]), target),
        st.tuples(st.sampled_from(["<<<", "<<< "]), target.filter(lambda text: "`" not in text)),
        st.sampled_from(["2>&1", ">&2", "1>&2", "<&0", "> /dev/null", "2>/dev/null", "3>&1"]).map(
            lambda text: (text,)
        ),
    ).map("".join)


def assignments(word):
    value = st.one_of(st.just(""), word, word)
    name = st.sampled_from(["A", "b_2", "A[1]"])
    return st.tuples(name, st.sampled_from(["=", "=", "+="]), value).map("".join)


def simple(word):
    """Assignments, a program, its words, and redirections behind them."""

    def text(assigned, name, given, redirected, blank):
        return blank.join([*assigned, name, *given, *redirected])

    return st.builds(
        text,
        st.lists(assignments(word), max_size=1),
        NAMES,
        st.lists(word, max_size=3),
        st.lists(redirects(word), max_size=2),
        BLANK,
    )


def special(word):
    """Commands with a syntax of their own."""
    array = st.lists(word, max_size=3).map(lambda items: f"A=({' '.join(items)})")
    declared = st.builds(
        "{} {}={}".format,
        st.sampled_from(["export", "local", "readonly", "declare -x"]),
        PLAIN_NAME,
        word,
    )
    tests = st.builds(
        "[[ {} {} {} ]]".format,
        word_of_test,
        st.sampled_from(["==", "!=", "&&", "<"]),
        word_of_test,
    )
    old_tests = st.builds('[ "{}" = {} ]'.format, VARIABLE, PLAIN)
    arithmetic = st.sampled_from(["((i++))", "((a = b * (c + 1)))", "(( x > 2 && y < 3 ))"])
    return st.one_of(array, declared, tests, old_tests, arithmetic, assignments(word))


PLAIN_NAME = st.sampled_from(["A", "b_2"])
word_of_test = st.one_of(PLAIN, VARIABLE, SINGLE.filter(lambda text: "\n" not in text))


def heredocs():
    line = st.text("ab $'\"#;|&()*\t", max_size=8).map(lambda text: text.replace("$(", "("))
    body = st.lists(line, max_size=3).map(lambda lines: "".join(f"x{each}\n" for each in lines))
    soft = st.lists(
        st.sampled_from(["a $x\n", "$(rm x)\n", "$(git x)\n", "\\$x \\\\\n", "é 'x\n", "a\n\nb\n"])
    )

    def text(name, mark, body, behind):
        return f"{name} {mark}{behind}\n{body}EOF"

    quoted = st.sampled_from(["<<'EOF'", '<<"EOF"', "<< \\EOF"])
    behind = st.sampled_from(["", "", " > out", " | wc -l", " && ls"])
    return st.one_of(
        st.builds(text, NAMES, quoted, body, behind),
        st.builds(
            text,
            NAMES,
            st.sampled_from(["<<EOF", "<< EOF"]),
            soft.map(lambda lines: "".join(["a\n", *lines])),
            behind,
        ),
    )


def lists(command):
    piped = st.lists(command, min_size=1, max_size=2).map(" | ".join)
    positive = piped.filter(lambda text: not text.startswith(COMPOUND))
    negated = st.one_of(piped, piped, positive.map("! {}".format))
    return st.lists(
        st.tuples(
            negated, st.sampled_from([" && ", " || ", "; ", " & ", ";\n", " &&\n", "; # a 'b\n"])
        ),
        min_size=1,
        max_size=2,
    ).map(lambda pairs: "".join(text + sign for text, sign in pairs[:-1]) + pairs[-1][0])


def compounds(body, word):
    head = st.lists(word, min_size=1, max_size=3).map(" ".join)
    patterns = st.sampled_from(["a", "a|b", "*", '"x y"', "[ab]*", "-?"])
    arm = st.builds("{}) {}\n;;\n".format, patterns, body)
    return st.one_of(
        st.builds("(\n{}\n)".format, body),
        st.builds("( {}\n) > out".format, body),
        st.builds("{{ {}\n}}".format, body),
        st.builds("if {}\nthen {}\nfi".format, body, body),
        st.builds("if {}\nthen {}\nelif {}\nthen :\nelse {}\nfi".format, body, body, body, body),
        st.builds("while {}\ndo\n{}\ndone < in".format, body, body),
        st.builds("until {}\ndo {}\ndone".format, body, body),
        st.builds("for v in {}; do {}\ndone".format, head, body),
        st.builds("for ((i = 0; i < 3; i++)); do {}\ndone".format, body),
        st.builds("select v in {}; do {}\ndone".format, head, body),
        st.builds("case {} in\n{}esac".format, word, st.lists(arm, max_size=2).map("".join)),
        st.builds("f() {{\n{}\n}}".format, body),
        st.builds("function g {{\n{}\n}}".format, body),
    )


@st.composite
def scripts(draw, depth):
    """Scripts whose substitutions and compounds nest *depth* times."""
    return draw(_scripts(depth))


@cache
def _scripts(depth):
    if depth == 0:
        word = words(VARIABLE)
        return lists(st.one_of(simple(word), simple(word), special(word)))
    inner = st.deferred(lambda: scripts(depth - 1))
    one = inner.filter(lambda text: "`" not in text and "\\" not in text and "#" not in text)
    made = st.one_of(
        inner.map(lambda text: f"$( {text}\n)"),
        st.sampled_from(["$((1 + 2))", "$((x * (y + 1)))"]),
    )
    substitution = st.deferred(lambda: made)
    built = words(substitution, one.map(lambda text: f"`{text}`"))
    word = st.deferred(lambda: built)
    command = st.one_of(
        simple(word),
        simple(word),
        special(word),
        compounds(inner, word),
        inner.map("<({}\n)".format).map("diff {}".format),
    )
    whole = st.one_of(lists(command).map("{};\n".format), heredocs().map("{}\n".format))
    return st.lists(whole, min_size=1, max_size=3).map("".join)

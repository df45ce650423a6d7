"""Which commands test, and how a run of tests is read."""

import pytest

from ademem.capture.checks import ERROR_CHARS, is_check, is_test, parse_test_run


@pytest.mark.parametrize(
    "command",
    [
        "pytest",
        "python -m pytest -q tests; exit 1",
        "cd app && .venv/bin/pytest -x | tail -5",
        "npm test",
        "npm run test:unit -- --watch=false",
        "pnpm --filter web test",
        "yarn jest src",
        "npx vitest run",
        "go test ./...",
        "cargo nextest run",
        "cargo test --all",
        "mvn -q verify",
        "./gradlew :app:check",
        "make check",
        "sh .ci/test",
        "./scripts/run-tests.sh",
        "bundle exec rspec spec/models",
        "python -m unittest discover",
        "uv run pytest",
        "timeout 60 tox -e py311",
        "deno test",
        "swift test",
        "CI=1 npm t || npm test",
    ],
)
def test_a_command_that_tests_is_known(command):
    assert is_test(command)


@pytest.mark.parametrize(
    "command",
    [
        "ls tests",
        "cat tests/test_x.py",
        "git commit -m 'fix the tests'",
        "npm install --save-dev jest",
        "echo pytest",
        "grep -rn test src",
        "vim test.py",
        "test -f pytest.ini",
        "npm run build",
        "git checkout -b test/login",
        "rm -rf tests",
        "'unclosed",
        "",
    ],
)
def test_a_command_that_only_names_tests_is_none(command):
    assert not is_test(command)


RUNS = {
    "pytest passes": ("....\n4 passed in 0.02s", False, 4, 0),
    "pytest fails": (
        "F\nE   assert 0\nFAILED tests/test_x.py::test_x - assert 0\n1 failed, 3 passed in 1s",
        True,
        3,
        1,
    ),
    "pytest behind a pipe": ("FAILED t.py::x - boom\n2 failed, 3 passed in 1s", False, 3, 2),
    "jest": ("  ● adds\n\nTests:       1 failed, 12 passed, 13 total\n", True, 12, 1),
    "vitest": (" Test Files  2 passed (2)\n      Tests  9 passed (9)\n", False, 9, 0),
    "mocha": ("  12 passing (40ms)\n  2 failing\n", True, 12, 2),
    "unittest passes": ("....\nRan 4 tests in 0.001s\n\nOK\n", False, 4, 0),
    "unittest fails": ("FAIL: test_x\nRan 4 tests in 0s\n\nFAILED (failures=1)\n", True, 3, 1),
    "cargo": ("test result: FAILED. 3 passed; 1 failed; 0 ignored\n", True, 3, 1),
    "go passes": ("ok  \texample.com/app\t0.003s\n", False, None, None),
    "go fails": ("--- FAIL: TestX (0.00s)\nFAIL\texample.com/app\n", True, None, None),
    "maven": ("Tests run: 7, Failures: 2, Errors: 0\n", True, 5, 2),
    "coloured": ("\x1b[31m1 failed\x1b[0m, \x1b[32m2 passed\x1b[0m\n", True, 2, 1),
    "silent": ("", False, None, None),
    "killed": ("", True, None, None),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_read_from_exit_code_and_counts(name):
    output, failed, passed, broken = RUNS[name]
    run = parse_test_run("pytest", output, failed=failed)

    assert (run.passed, run.failed) == (passed, broken)
    assert bool(run.error) == (failed or bool(broken))


@pytest.mark.parametrize(
    ("output", "error"),
    [
        ("E   assert 0\nFAILED t.py::x - assert 0\n1 failed", "E assert 0"),
        ("--- FAIL: TestX (0.00s)\n    x_test.go:3: no\nFAIL", "--- FAIL: TestX (0.00s)"),
        ("running\nTypeError: boom\nbye", "TypeError: boom"),
        ("", "it failed"),
    ],
)
def test_what_failed_is_named(output, error):
    assert parse_test_run("pytest", output, failed=True).error == error


def test_an_error_without_end_is_cut():
    assert len(parse_test_run("pytest", "FAILED " + "x" * 9_999, failed=True).error) <= ERROR_CHARS


@pytest.mark.parametrize(
    "command",
    ["cargo clippy", "npm run lint", "npx tsc --noEmit", "cd app && uv run mypy .", "pytest -q"],
)
def test_checks_are_tests_linters_and_type_checkers(command):
    assert is_check(command)


@pytest.mark.parametrize("command", ["npm ci", "make db", "npm run migrate", "docker compose up"])
def test_other_commands_check_nothing(command):
    assert not is_check(command)

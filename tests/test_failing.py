"""A property that fails is told as a failed test, and ends nothing else."""

import tomllib
from pathlib import Path

import pytest

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"

PROPERTY = """
from hypothesis import given, strategies


@given(strategies.integers())
def test_it(number):
    assert number < 10
"""
LIBCST = """
import warnings

warnings.warn("what it imports itself is old", DeprecationWarning)
raise ImportError("as far as hypothesis needs it here")
"""


def test_a_property_that_fails_is_reported_though_libcst_warns(pytester):
    settings = tomllib.loads(PYPROJECT.read_text())["tool"]["pytest"]["ini_options"]
    filters = "\n    ".join(settings["filterwarnings"])
    pytester.makeini(f"[pytest]\nfilterwarnings =\n    {filters}\npythonpath = .\n")
    pytester.makepyfile(libcst=LIBCST, test_property=PROPERTY)

    assert pytester.runpytest_subprocess().ret == pytest.ExitCode.TESTS_FAILED

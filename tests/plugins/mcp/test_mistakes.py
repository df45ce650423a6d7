"""What a person mistypes who starts the server."""

import pytest

from tests.doors.cli.conftest import ademem as ademem
from tests.doors.cli.test_mistakes import mistake


@pytest.mark.parametrize(
    ("arguments", "told", "code"),
    [
        pytest.param(["mcp", "80"], "a port is for --http (", 2, id="a port alone"),
        pytest.param(
            ["mcp", "--http", "0.0.0.0:80"],
            "0.0.0.0 can be reached from elsewhere, and memory is served to this machine alone"
            " (on the other machine: ssh -L 80:127.0.0.1:80 HOST)",
            2,
            id="every address",
        ),
    ],
)
def test_a_mistake_is_one_line_with_the_next_step(ademem, arguments, told, code):
    said, exit_code = mistake(ademem, *arguments)

    assert said.startswith(told)
    assert said.endswith(")")
    assert exit_code == code

"""The command line."""

from tests.doors.cli.conftest import ademem as ademem

"""The command line, for rows of Engram."""

from tests.doors.cli.conftest import ademem as ademem

"""A command line in this process, for the commands of the hub."""

from tests.doors.cli.conftest import ademem as ademem

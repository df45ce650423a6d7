"""A command line in this process, for the commands of the part."""

from tests.doors.cli.conftest import ademem as ademem

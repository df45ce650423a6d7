"""The members of a team, who share by git and by folders."""

from tests.sync.conftest import driver as driver
from tests.sync.conftest import team as team

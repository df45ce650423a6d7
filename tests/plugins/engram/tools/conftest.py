"""A client of the server, for Engram's tools."""

from tests.plugins.mcp.conftest import call as call
from tests.plugins.mcp.conftest import serve as serve

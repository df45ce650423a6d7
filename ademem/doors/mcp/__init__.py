"""MCP: the server that gives programs the tools of memory; parse, call one function, show."""

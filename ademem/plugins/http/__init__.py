"""Serve HTTP on the loopback address, for the parts that have pages or tools there."""

PACKAGES = ("starlette", "uvicorn")

"""Servers that answer programs and browsers of this machine over HTTP."""

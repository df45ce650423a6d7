"""The memory in a terminal: lists, one memory with its history, and the review."""

"""Noticing what commands, messages, prompts and errors teach, and bringing it to the gate."""

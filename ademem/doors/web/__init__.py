"""The page: what the memory holds, what sessions were sent, and decisions that can be undone."""

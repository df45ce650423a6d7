"""Memory before mutation: which turns need it, which calls change something, what is allowed."""

"""The hub's database: PostgreSQL, with a schema of its own."""

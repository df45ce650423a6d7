"""The hub's database: PostgreSQL, with a separate schema."""

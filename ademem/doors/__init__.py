"""Programs that people and machines speak to: parse, call, show."""

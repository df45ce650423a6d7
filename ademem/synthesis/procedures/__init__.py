"""Ways of doing things that sessions came to again and again, and how well they work."""

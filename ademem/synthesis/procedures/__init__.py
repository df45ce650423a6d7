"""Procedures: repeated ways of working, learned from sessions and reviews."""

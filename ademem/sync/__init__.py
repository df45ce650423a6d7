"""Reconcile the tracked files and the store; equal stores have equal files."""

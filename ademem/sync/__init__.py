"""Reconcile stores: with the tracked files, and with each other through folders."""

"""Ageing of memories: sweeps, consolidation, missions."""

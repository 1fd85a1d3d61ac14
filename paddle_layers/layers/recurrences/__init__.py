"""Recurrent layers: over sequences, one step, in groups."""

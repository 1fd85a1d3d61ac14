"""Faults of a definition, found when it is registered and reported at the author's own line."""

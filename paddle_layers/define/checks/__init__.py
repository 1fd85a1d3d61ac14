"""Faults of a definition, found when it is registered and told at the author's own line."""

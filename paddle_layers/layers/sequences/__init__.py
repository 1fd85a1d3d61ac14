"""Layers of sequences whose rows do not wait for each other."""

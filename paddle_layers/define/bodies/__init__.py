"""Composite layers: recording of the calls of a body."""

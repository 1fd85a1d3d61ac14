"""Launches: specialized functions with their arguments, over buffers."""

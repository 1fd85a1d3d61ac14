"""Checks of a definition at registration, reported at the line of its author."""

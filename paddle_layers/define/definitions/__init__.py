"""Definitions of all kinds, and their registries."""

"""Definitions of all kinds, and the registries that hold them."""

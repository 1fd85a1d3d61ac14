"""Diagnostics of configs: collection, explanations, rendering."""

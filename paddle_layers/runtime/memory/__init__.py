"""Persistent memory: blocks, parameters, and weights files."""

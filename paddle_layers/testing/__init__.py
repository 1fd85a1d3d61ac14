"""Conformance tests made from a definition."""

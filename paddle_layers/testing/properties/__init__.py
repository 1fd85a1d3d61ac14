"""Conformance properties: one file per property, with its check."""

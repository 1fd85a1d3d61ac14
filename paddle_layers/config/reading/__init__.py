"""Parsers of text and JSON: fields with source positions."""

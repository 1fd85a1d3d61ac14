"""Parsers of text and JSON: fields with source positions; lexer and syntax tree for the formatter and the editor."""

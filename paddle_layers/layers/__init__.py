"""The built-in layers, in family files."""

"""The built-in layers: one folder per family."""

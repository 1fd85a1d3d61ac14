"""The built-in layers: a folder for each family."""

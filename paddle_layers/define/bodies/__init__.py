"""Layers made of layers: the calls of a body, recorded."""

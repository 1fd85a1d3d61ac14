"""Definitions as messages of `schema/layer_def.proto`, and their field numbers."""

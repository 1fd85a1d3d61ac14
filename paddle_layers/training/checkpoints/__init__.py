"""Checkpoints of a training: their files, and the state that they contain."""

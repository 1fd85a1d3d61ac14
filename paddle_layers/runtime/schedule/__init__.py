"""Scheduling: from a graph to launches in order, for the forward and the backward pass."""

"""Batching: from a data set to the feeds of a network."""

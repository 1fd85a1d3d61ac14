"""Batches: feeds, rows, sequence starts and steps of recurrent groups."""

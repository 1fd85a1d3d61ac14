"""Sequence layers without recurrence: attention, embeddings, pooling, slicing."""

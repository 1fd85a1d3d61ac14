"""From a graph to launches in order: forward, backward, and what they share."""

"""Layers to a network: who reads what, which types follow, what is there in which state."""

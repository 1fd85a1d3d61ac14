"""Wiring of layers to a network: names, type inference, states."""

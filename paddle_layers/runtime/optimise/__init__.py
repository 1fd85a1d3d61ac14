"""Optimizers and regularizers at work on the parameters of a net."""

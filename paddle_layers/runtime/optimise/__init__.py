"""Optimizers and regularizers: updates of the parameters of a net."""

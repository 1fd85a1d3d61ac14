"""Costs that networks are trained by."""

"""Execution plans: launches with their memory, for a phase."""

"""Searches for good settings: many trainings, each with other values of some fields."""

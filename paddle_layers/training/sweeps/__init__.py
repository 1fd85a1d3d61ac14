"""Hyperparameter search: many trainings with different values of some fields."""

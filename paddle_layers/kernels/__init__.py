"""Tuned building blocks that replace point functions where they are faster."""

"""Trainer, optimizers, schedules and checkpoints."""

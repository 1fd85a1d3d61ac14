"""Launches with their memory: what runs a phase."""

"""Broken machines and impatient users: what real processes do then. `python -m tests.faults`."""

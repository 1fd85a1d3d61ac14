"""Profiler: synthetic feeds, seconds, operations and bytes of each launch."""

"""Layers for time series. Importing this registers them; `kernels` is imported when one of them first runs."""

from . import costs, filters, sources

__all__ = ["costs", "filters", "sources"]

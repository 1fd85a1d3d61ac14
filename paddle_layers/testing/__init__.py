"""Conformance tests made from a definition: what an author gets for writing examples."""

from .findings import Finding, Report
from .kit import PROPERTIES, check_layer
from .plugin import check_plugin
from .ptx import Ptx, compile_layer

__all__ = ["PROPERTIES", "Finding", "Ptx", "Report", "check_layer", "check_plugin", "compile_layer"]

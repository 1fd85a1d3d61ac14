"""Conformance tests generated from a definition and its examples."""

from paddle_layers.testing.properties.cuda import Ptx, compile_layer

from .findings import Finding, Report
from .kit import CONFIGS, FAST, NEEDS_HYPOTHESIS, check_layer, check_plugin, has_hypothesis
from .properties.catalogue import LAYER_PROPERTIES, PROPERTIES, Property
from .properties.cuda import NEEDS_CUDA, has_cuda
from .properties.lazy_updates import check_lazy_update, check_linear_penalty

__all__ = [
    "CONFIGS",
    "FAST",
    "LAYER_PROPERTIES",
    "NEEDS_CUDA",
    "NEEDS_HYPOTHESIS",
    "PROPERTIES",
    "Finding",
    "Property",
    "Ptx",
    "Report",
    "check_layer",
    "check_lazy_update",
    "check_linear_penalty",
    "check_plugin",
    "compile_layer",
    "has_cuda",
    "has_hypothesis",
]

"""Facts about the functions of a layer."""

from __future__ import annotations

from dataclasses import dataclass

from .point_functions import Function


@dataclass(frozen=True)
class Facts:
    """The order of a layer's functions and its characterization, with the names of Mocha.jl and KUnet.jl."""

    forward: tuple[Function, ...]
    backward: tuple[Function, ...]
    back_reads: tuple[str, ...]
    """Inputs and outputs whose values the backward pass reads."""
    differentiable: tuple[str, ...]
    """Inputs that get a gradient."""
    overwrites: bool
    """Whether the output may take the memory of the input."""
    is_source: bool
    is_sink: bool
    has_param: bool
    has_neuron: bool
    can_do_bp: bool
    is_inplace: bool
    has_loss: bool
    has_stats: bool
    has_phase: bool
    is_random: bool
    has_state: bool
    is_composite: bool
    rows_independent: bool
    """Whether a sample's result does not depend on the other samples of its batch."""

"""Loading of trained weights into a part of the network."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING

from paddle_layers.config.parameters import shared_names
from paddle_layers.runtime.memory.weightfiles import open_weights
from paddle_layers.runtime.memory.weights import converted

if TYPE_CHECKING:
    from paddle_layers.config.training import Training
    from paddle_layers.runtime import Net


def load_trained(net: Net, training: Training, file: Path) -> str:
    """Load the weights of a net that has some layers of the training's network; weights of the others are not read.

    Returns notes about conversions, as `converted` does. Raises `WeightsError`.
    """
    stored, own = open_weights(file).tensors, {*net.parameters, *net.states}
    others = {node.name for node in training.network} - {node.name for node in net.network if node.definition.inputs}
    rename: dict[str, str] = {}
    for group in shared_names(training.network):  # the file has one name of each group, perhaps that of another layer
        ours = next((name for name in group if name in own), None)
        holder = next((name for name in group if name in stored), None)
        if ours is not None and holder is not None and ours not in stored:
            rename[holder] = ours
    unread = [
        name for name in stored if name not in {*own, *rename} and any(name.startswith(f"{one}.") for one in others)
    ]
    # Names that are only unread because a layer is not needed are left out explicitly, so that any other mismatch is
    # still an error.
    report = net.load(file, rename=rename, leave_out=[glob.escape(name) for name in unread])
    return converted(report, net.dtype)

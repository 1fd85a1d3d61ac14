"""Sampling from a categorical distribution."""

from paddle_layers.define import Example, Input, Output, each, layer
from paddle_layers.layers.helpers import uniform


@layer(
    "sampling_id",
    elsewhere={"Paddle": "sampling_id", "ONNX": "Multinomial", "PyTorch": "multinomial"},
    terms=("sampling", "categorical distribution", "multinomial sampling"),
    since=1,
)
class SamplingId:
    """Sampling from a categorical distribution: one id per row, with the probabilities of the row.

    The probabilities need not sum to one, but must not be negative; if all are zero, the last id is sampled. The sample
    depends on the seed, the step and the row, in both phases, so it is the same on every device. ONNX takes
    log-probabilities. To generate text see the command `generate`.
    """

    x = Input("N C...", "probability per class", seq=(0, 1, 2), within=(0.0, 1.0))
    y = Output("N", "sampled id", kind="INT", size="C")
    examples = (
        Example(x="5"),
        Example(x="2x1x3"),
        Example(x="sequence of 4"),
    )


@each(SamplingId.y)
def sampling_id_y(n, x, key, C):
    total = 0.0
    for c in range(C):
        total += x[n, c]
    # Scaled by the sum, so that probabilities need no normalization.
    left = uniform(key, n) * total
    reached = 0.0
    drawn = -1
    for c in range(C):
        reached += x[n, c]
        if drawn < 0 and left < reached:
            drawn = c
    # Rounding may leave the sum below the sampled value.
    return drawn if drawn >= 0 else C - 1

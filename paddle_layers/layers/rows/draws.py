"""Ids that are drawn."""

from paddle_layers.define import Example, Input, Output, each, layer
from paddle_layers.layers.helpers import uniform


@layer("sampling_id", elsewhere={"Paddle": "sampling_id", "ONNX": "Multinomial", "PyTorch": "multinomial"}, since=1)
class SamplingId:
    """An id drawn for every row, with the probabilities that the row has.

    The probabilities need not sum to one, but none may be negative; where all are zero, the last id is drawn. What is
    drawn is a function of the seed, the step and the row, in both phases, so that it is the same on every device. ONNX
    takes logarithms of the probabilities. Texts are drawn by the command `generate`.
    """

    x = Input("N C...", "probability of every class", seq=(0, 1, 2), within=(0.0, 1.0))
    y = Output("N", "id that was drawn", kind="INT", size="C")
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
    left = uniform(key, n) * total
    reached = 0.0
    drawn = -1
    for c in range(C):
        reached += x[n, c]
        if drawn < 0 and left < reached:
            drawn = c
    return drawn if drawn >= 0 else C - 1

"""What a row says: the place of its largest value."""

from paddle_layers.define import Example, Input, Output, each, layer, onnx
from paddle_layers.layers.helpers import exceeds


@layer("maxid", elsewhere={"Paddle": "maxid"}, since=1)
class MaxId:
    """Number of the best score of every row; of equal scores the first, and NaN before all others.

    Paddle gives `beam_size` ids a row inside its beam search and one elsewhere; here it is one id, which an embedding
    takes as it is. Caffe's ArgMax gives real numbers, of equal scores the last; Mocha's runs over any axis.
    """

    x = Input("N C...", "score of every class", seq=(0, 1, 2), kinks=("ties",))
    y = Output("N", "id of the best score", kind="INT", size="C")
    examples = (
        Example(x="5"),
        Example(x="2x1x3"),
        Example(x="sequence of 4"),
    )


@each(MaxId.y)
def maxid_y(n, x, C):
    best = 0
    for c in range(1, C):
        if exceeds(x[n, c], x[n, best]):
            best = c
    return best


@onnx(MaxId)
def maxid_onnx(graph, x):
    return graph.ArgMax(graph.flat(x), axis=1, keepdims=0)

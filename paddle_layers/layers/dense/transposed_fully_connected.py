"""Fully connected layer with a transposed weight, for tied weights."""

from paddle_layers.define import Bias, Example, Input, Int, Output, Param, each, layer, onnx


@layer(
    "trans_fc",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Paddle": "trans_fc", "Mocha": "TiedInnerProductLayer"},
    terms=("tied weights", "transposed fully connected layer"),
    since=1,
)
class TransposedFullyConnected:
    """Fully connected layer with a transposed weight: `y = x @ weight.T + bias`, for tied weights.

    The weight has the shape of that of an `fc` in the other direction, so that `share` makes both one parameter, as in
    the encoder and decoder of an autoencoder. Paddle has it as a projection of `mixed`.
    """

    x = Input("N C...", "feature vectors: samples, tokens, images", seq=(0, 1, 2))
    weight = Param("K C", "one row per output", init="xavier")
    bias = Bias("K")
    y = Output("N K", "`size` values per sample")
    size = Int("number of outputs", min=1, axis="K")
    examples = (Example(x="5", size=3), Example(x="2x1x2", size=2, bias=False), Example(x="sequence of 3", size=2))


@each(TransposedFullyConnected.y)
def trans_fc_y(n, k, x, weight, C):
    return sum(x[n, c] * weight[k, c] for c in range(C))


@onnx(TransposedFullyConnected)
def trans_fc_onnx(graph, x, weight, bias):
    # Gemm transposes by an attribute, so that the tied weight is stored once.
    return graph.Gemm(graph.flat(x), weight, bias, transB=1)

"""Composite layers for feature vectors: gated linear units."""

from paddle_layers.define import Bool, Example, Input, Int, Output, String, body, layer


@layer(
    "gated_unit",
    elsewhere={"Paddle": "gated_unit"},
    terms=("gated linear unit", "GLU"),
    since=1,
)
class GatedUnit:
    """Gated linear unit (GLU): `y = act(x @ V + c) * sigmoid(x @ W + b)` (Dauphin et al. 2017).

    `V` and `c` are `value.weight` and `value.bias`, `W` and `b` those of `gate`. Images are flattened, as in `fc`.
    """

    x = Input("N C...", "feature vectors: samples, tokens, images", seq=(0, 1, 2))
    y = Output("N K", "`size` values per sample")
    size = Int("number of outputs", min=1, axis="K")
    act = String("activation of the value branch", default="linear")
    bias = Bool("add a bias to the value branch", default=True, aliases=("inproj_bias_attr",))
    gate_bias = Bool("add a bias to the gate", default=True)
    examples = (
        Example(x="4", size=3),
        Example(x="2x1x2", size=2, act="tanh", gate_bias=False),
        Example(x="sequence of 2", size=2, bias=False),
    )


@body(GatedUnit)
def gated_unit_body(net, x, size, act, bias, gate_bias):
    value = net.fc(x, size=size, act=act, bias=bias, name="value")
    gate = net.fc(x, size=size, act="sigmoid", bias=gate_bias, name="gate")
    return net.eltwise(value, gate, operation="PROD", name="product")

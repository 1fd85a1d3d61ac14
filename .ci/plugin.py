"""A layer from outside the package, as `--plugins` loads it."""

import paddle_layers as pl


@pl.layer("cube")
class Cube:
    """Third power of every value."""

    examples = [pl.Example(x="3")]
    x = pl.Input("...", "values of any shape")
    y = pl.Output("...", "same shape as `x`")


@pl.each(Cube.y)
def cube_y(i, x):
    return x[i] * x[i] * x[i]


@pl.gradient(Cube.x)
def cube_dx(i, dy, x):
    return 3.0 * x[i] * x[i] * dy[i]

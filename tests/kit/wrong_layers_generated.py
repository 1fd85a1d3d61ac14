"""Layers that are wrong on purpose, and right on all their examples: only generated configs show it."""

from paddle_layers.define import (
    Choice,
    Example,
    Float,
    Input,
    Output,
    Param,
    Type,
    each,
    gradient,
    infer,
    layer,
    output_types,
    real,
)


@layer("wrong_at_the_end")
class AtTheEnd:
    """Scales by `slope`; the gradient is wrong at the maximum of `slope`."""

    x = Input("...", "values")
    y = Output("...", "scaled values")
    slope = Float("factor of the values", default=1.0, min=0, max=2)
    examples = (Example(x="3"), Example(x="3", slope=0.5))


@each(AtTheEnd.y)
def at_the_end_y(i, x, slope):
    return slope * x[i]


@gradient(AtTheEnd.x)
def at_the_end_dx(i, dy, slope):
    return slope * dy[i] if slope < 2.0 else dy[i]


@layer("wrong_choice")
class WrongChoice:
    """Doubles, halves or copies; the gradient of halving is wrong."""

    x = Input("...", "values")
    y = Output("...", "values")
    mode = Choice("what it does", options={"DOUBLE": "twice", "HALF": "a half", "COPY": "the same"}, default="COPY")
    examples = (Example(x="3"), Example(x="3", mode="DOUBLE"))


@each(WrongChoice.y)
def wrong_choice_y(i, x, mode):
    if mode == "COPY":
        return x[i]
    return 2.0 * x[i] if mode == "DOUBLE" else 0.5 * x[i]


@gradient(WrongChoice.x)
def wrong_choice_dx(i, dy, mode):
    return dy[i] if mode == "COPY" else 2.0 * dy[i]


@layer("wrong_three")
class Three:
    """Sum of inputs; the third input has no gradient."""

    x = Input("...", "terms", repeatable=True)
    y = Output("...", "their sum")
    examples = (Example(x=["3", "3"]), Example(x=["4"]))


@each(Three.y)
def three_y(i, x):
    value = x[0][i]
    for j in range(1, len(x)):
        value += x[j][i]
    return value


@gradient(Three.x)
def three_dx(which, i, dy):
    return dy[i] if which < 2 else 0.0


@layer("wrong_single_row")
class SingleRow:
    """Multiplies and divides by the number of rows minus one, which is NaN for a single row."""

    x = Input("N C", "rows")
    y = Output("N C", "rows over their spread")
    examples = (Example(x="3"),)


@each(SingleRow.y)
def single_row_y(n, c, x, N):
    return x[n, c] * real(N - 1) / real(N - 1)


@gradient(SingleRow.x)
def single_row_dx(n, c, dy):
    return dy[n, c]


@layer("wrong_weight")
class Weight:
    """Scales rows by an optional sample weight; the gradient ignores it."""

    x = Input("N C", "rows")
    weight = Input("N", "factor of a row", optional=True)
    y = Output("N C", "scaled rows")
    examples = (Example(x="3"),)


@each(Weight.y)
def weight_y(n, c, x, weight):
    return x[n, c] if weight is None else x[n, c] * weight[n]


@gradient(Weight.x)
def weight_dx(n, c, dy):
    return dy[n, c]


@layer("wrong_sparse")
class Sparse:
    """Weighted sums of rows; for sparse rows with values, the gradient squares the values."""

    x = Input("N C", "rows", kinds=("DENSE", "SPARSE"), repeatable=True)
    weight = Param("C K", "numbers of a column", per="x")
    y = Output("N K", "weighted sums")
    examples = (Example(x=["3"]),)


@infer(Sparse)
def sparse_sizes():
    return {"K": 2}


@each(Sparse.y, over=Sparse.x)
def sparse_y(n, k, x, weight, C):
    total = 0.0
    for c in range(C):
        total += x[n, c] * weight[c, k]
    return total


@gradient(Sparse.weight, over=Sparse.x)
def sparse_dweight(c, k, dy, x, N):
    total = 0.0
    for n in range(N):
        total += x[n, c] * dy[n, k]
    return total


@each(Sparse.y, over=Sparse.x, kind="SPARSE")
def sparse_y_of_entries(n, k, x_start, x_id, x_value, weight):
    total = 0.0
    for p in range(x_start[n], x_start[n + 1]):
        total += x_value[p] * weight[x_id[p], k]
    return total


@gradient(Sparse.weight, over=Sparse.x, kind="SPARSE", used=Sparse.x)
def sparse_dweight_of_entries(u, k, dy, x_used_start, x_used_row, x_used_value):
    total = 0.0
    for p in range(x_used_start[u], x_used_start[u + 1]):
        total += x_used_value[p] * x_used_value[p] * dy[x_used_row[p], k]
    return total


@layer("wrong_image")
class Image:
    """Scales channels of rows and images; the gradient reads only the first pixel of an image."""

    x = Input("N C ...", "rows or images")
    gain = Param("C", "scale of a channel", init="one")
    y = Output("N C ...", "scaled values")
    examples = (Example(x="4"), Example(x="2"))


@each(Image.y)
def image_y(n, c, i, x, gain):
    return gain[c] * x[n, c, i]


@gradient(Image.x)
def image_dx(n, c, i, dy, gain):
    return gain[c] * dy[n, c, i]


@gradient(Image.gain)
def image_dgain(c, dy, x):
    total = 0.0
    for n in range(x.shape[0]):
        total += dy[n, c, 0] * x[n, c, 0]
    return total


@layer("wrong_nested")
class Nested:
    """Copies rows of sequences; for nested sequences it infers non-nested ones."""

    x = Input("N C", "rows of sequences", seq=(1, 2))
    y = Output("N C", "the same rows")
    examples = (Example(x="sequence of 3"),)


@output_types(Nested)
def nested_types(x):
    return [Type.dense(*x.dims, level=1)]


@each(Nested.y)
def nested_y(n, c, x):
    return x[n, c]


@gradient(Nested.x)
def nested_dx(n, c, dy):
    return dy[n, c]

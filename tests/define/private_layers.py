"""Layers that use the parts of the definition language which no built-in layer needs yet."""

import math

from paddle_layers.define import (
    Bool,
    Choice,
    Example,
    Input,
    Output,
    Param,
    Temp,
    each,
    fill,
    gradient,
    infer,
    layer,
    real,
    require,
)


@layer("test_recurrent")
class Recurrent:
    """y_t = tanh(x_t + y_{t-1} weight), in every sequence by itself."""

    x = Input("T:S K", "rows of sequences", seq=(1, 2))
    weight = Param("J K", "from the output before")
    y = Output("T:S K", "output of every row")
    reverse = Bool("run from the last row to the first", default=False)
    total = Temp("T:S K", "gradient of the sum in the tanh")
    examples = (
        Example(x="sequence of 3"),
        Example(x="nested sequence of 2", reverse=True),
    )


@infer(Recurrent)
def recurrent_sizes(K):
    require(K < 100, "x", f"{K} columns are too many for a test")
    return {"J": K}


@each(Recurrent.y, scan="forward")
def recurrent_y(t, k, before, x, y, weight, K):
    total = x[t, k]
    if before >= 0:
        for j in range(K):
            total += y[before, j] * weight[j, k]
    return math.tanh(total)


@each(Recurrent.total, scan="back")
def recurrent_total(t, k, after, y, dy, total, weight, K):
    value = dy[t, k]
    if after >= 0:
        for j in range(K):
            value += total[after, j] * weight[k, j]
    return value * (1.0 - y[t, k] * y[t, k])


@gradient(Recurrent.x)
def recurrent_dx(t, k, total):
    return total[t, k]


@gradient(Recurrent.weight)
def recurrent_dweight(j, k, y, dx, before_of):
    value = 0.0
    for t in range(y.shape[0]):
        if before_of[t] >= 0:
            value += y[before_of[t], j] * dx[t, k]
    return value


@layer("test_expand")
class Expand:
    """Gives every row of `like` the row of `x` that belongs to its sequence."""

    x = Input("S C", "one row a sequence", seq=(0, 1))
    like = Input("T:S E", "rows of sequences", seq=(1, 2))
    y = Output("T:S C", "row of the sequence")
    level = Choice(
        "rows of x",
        options={"SEQUENCE": "whole sequences", "SUBSEQUENCE": "sub-sequences"},
        default="SEQUENCE",
        groups="S",
    )
    examples = (
        Example(x="3", like="sequence of 2"),
        Example(x="3", like="nested sequence of 2"),
        Example(x="sequence of 3", like="nested sequence of 2", level="SUBSEQUENCE"),
    )


@each(Expand.y)
def expand_y(t, c, s, x):
    return x[s, c]


@gradient(Expand.x)
def expand_dx(s, c, dy, S_start):
    total = 0.0
    for t in range(S_start[s], S_start[s + 1]):
        total += dy[t, c]
    return total


@layer("test_sorted")
class Sorted:
    """The columns of every row in ascending order."""

    x = Input("N C", "rows", derivative=False)
    y = Output("N C", "the same numbers, sorted")
    examples = (Example(x="5"),)


@fill(Sorted.y, per="N")
def sorted_y(n, x, y, C):
    for c in range(C):
        at = c
        while at > 0 and y[n, at - 1] > x[n, c]:
            y[n, at] = y[n, at - 1]
            at -= 1
        y[n, at] = x[n, c]


@layer("test_joined")
class Joined:
    """Columns side by side, the last axis of all: those of `x` doubled."""

    x = Input("N C_i", "rows", repeatable=True, seq=(0, 1))
    y = Output("N C", "twice the columns of the first part, then of the second, ...")
    examples = (Example(x=["3", "1", "2"]), Example(x=["sequence of 2"]))


@infer(Joined)
def joined_sizes(C_i):
    return {"C": sum(C_i)}


@each(Joined.y, over=Joined.x, along="C")
def joined_y(n, c, x):
    return 2.0 * x[n, c]


@gradient(Joined.x, over=Joined.x)
def joined_dx(n, c, dy, C_offset):
    return 2.0 * dy[n, C_offset + c]


@layer("test_halves")
class Halves:
    """The first column, and the others tripled."""

    x = Input("N C", "rows", seq=(0, 1))
    y = Output("N C_i", "the two parts", repeatable=True)
    examples = (Example(x="3"), Example(x="sequence of 2"))


@infer(Halves)
def halves_sizes(C):
    require(C > 1, "x", "one column has no two parts")
    return {"C_i": [1, C - 1]}


@each(Halves.y)
def halves_y(which, n, c, x, C_offset):
    return real(2 * which + 1) * x[n, C_offset + c]


@gradient(Halves.x, over=Halves.y, along="C")
def halves_dx(n, c, dy, C_offset):
    return dy[n, c] if C_offset == 0 else 3.0 * dy[n, c]

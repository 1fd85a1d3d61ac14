"""Layers that are wrong on purpose: how they infer, what they say about themselves, in which precision they compute."""

import random

from paddle_layers.define import Choice, Example, Input, Int, Output, each, gradient, infer, layer, require


@layer("wrong_impure")
class Impure:
    """Infers a random size."""

    x = Input("N C", "rows", derivative=False)
    y = Output("N K", "some columns")
    examples = (Example(x="9"),)


@infer(Impure)
def impure_sizes(C):
    return {"K": 1 + DICE.randrange(1000)}


DICE = random.Random(0)


@each(Impure.y)
def impure_y(n, k, x):
    return x[n, 0]


@layer("wrong_crash")
class Crash:
    """Its type inference raises an exception for one column, which is valid."""

    x = Input("N C", "rows", derivative=False)
    y = Output("N K", "some columns")
    examples = (Example(x="9"),)


@infer(Crash)
def crash_sizes(C):
    return {"K": C // (C - 1)}


@each(Crash.y)
def crash_y(n, k, x):
    return x[n, 0]


@layer("wrong_negative")
class Negative:
    """Windows of a row; a window larger than the row is accepted and yields a negative size."""

    x = Input("N C", "rows", derivative=False)
    y = Output("N K", "first elements of the windows")
    size = Int("columns of a window", min=1)
    examples = (Example(x="5", size=2),)


@infer(Negative)
def negative_sizes(C, size):
    return {"K": C - size + 1}


@each(Negative.y)
def negative_y(n, k, x):
    return x[n, k]


@layer("wrong_greedy")
class Greedy:
    """Its type inference allocates a list whose length is an attribute: a typo exhausts the memory."""

    x = Input("N C", "rows", derivative=False)
    y = Output("N K", "some columns")
    count = Int("columns to make", min=1)
    examples = (Example(x="5", count=2),)


@infer(Greedy)
def greedy_sizes(count):
    return {"K": len([0] * count)}


@each(Greedy.y)
def greedy_y(n, k, x):
    return x[n, 0]


@layer("wrong_undocumented")
class Undocumented:
    """Doubles or copies; its choices have no descriptions."""

    x = Input("...", "values")
    y = Output("...", "values, or twice as much")
    mode = Choice("what it does", options=("DOUBLE", "COPY"), default="DOUBLE")
    examples = (Example(x="3"),)


@each(Undocumented.y)
def undocumented_y(i, x, mode):
    return 2.0 * x[i] if mode == "DOUBLE" else x[i]


@gradient(Undocumented.x)
def undocumented_dx(i, dy, mode):
    return 2.0 * dy[i] if mode == "DOUBLE" else dy[i]


@layer("wrong_silent")
class Silent:
    """Rejects odd sizes without a message."""

    x = Input("N C", "rows")
    y = Output("N C", "the same rows")
    examples = (Example(x="4"),)


@infer(Silent)
def silent_sizes(C):
    require(C % 2 == 0, "x", "")
    return {}


@each(Silent.y)
def silent_y(n, c, x):
    return x[n, c]


@gradient(Silent.x)
def silent_dx(n, c, dy):
    return dy[n, c]


@layer("wrong_precision")
class Precision:
    """Divides two integers, which computes in float64 regardless of the precision of the tensors."""

    x = Input("N C", "rows")
    y = Output("N C", "rows, times the share of the columns before")
    examples = (Example(x="4"),)


@each(Precision.y)
def precision_y(n, c, x, C):
    return x[n, c] * (c / C)


@gradient(Precision.x)
def precision_dx(n, c, dy, C):
    return dy[n, c] * (c / C)

"""Comparisons and elementwise selection."""

from paddle_layers.define import Choice, Example, Float, Input, Output, each, gradient, layer, onnx


@layer(
    "compare",
    elsewhere={
        "ONNX": "Equal, Less, LessOrEqual, Greater, GreaterOrEqual",
        "Keras": "equal, not_equal, less, less_equal, greater, greater_equal",
        "PyTorch": "eq, ne, lt, le, gt, ge",
    },
    terms=("comparison", "equal", "less than", "greater than", "mask"),
    since=1,
)
class Compare:
    """Elementwise comparison with a second input or with a number: 1 where it is true, else 0.

    `y = 1` where `x < other` for `LESS`, and so on; without `other`, `x` is compared with `value`. As in IEEE 754, NaN
    is not equal to any number and every other comparison with it is false. There is no gradient: the derivative is 0
    wherever it exists. To select by the result see `where`.
    """

    x = Input("...", "values of any shape", seq=(0, 1, 2), kinks=(0.0, "ties"))
    other = Input("...", "the second operand, of the same shape", seq=(0, 1, 2), optional=True)
    y = Output("...", "same shape as `x`: 0 or 1")
    operation = Choice(
        "comparison",
        options={
            "EQUAL": "`x == other`",
            "NOT_EQUAL": "`x != other`",
            "LESS": "`x < other`",
            "LESS_EQUAL": "`x <= other`",
            "GREATER": "`x > other`",
            "GREATER_EQUAL": "`x >= other`",
        },
        default="EQUAL",
    )
    value = Float("second operand without the input `other`", default=0.0)
    examples = (
        Example(x="5", operation="GREATER"),
        Example(x="2x3", other="2x3", operation="LESS"),
        Example(x="2x3", other="2x3", operation="GREATER_EQUAL"),
        Example(x="4", operation="LESS_EQUAL", value=0.5),
        Example(x="sequence of 3", other="sequence of 3", operation="NOT_EQUAL"),
        Example(x="3", other="3"),
    )


@each(Compare.y)
def compare_y(i, x, other, operation, value):
    second = value if other is None else other[i]
    if operation == "EQUAL":
        true = x[i] == second
    elif operation == "NOT_EQUAL":
        true = x[i] != second
    elif operation == "LESS":
        true = x[i] < second
    elif operation == "LESS_EQUAL":
        true = x[i] <= second
    elif operation == "GREATER":
        true = x[i] > second
    else:
        true = x[i] >= second
    return 1.0 if true else 0.0


@onnx(Compare)
def compare_onnx(graph, x, other, operation, value):
    second = value if other is None else other
    operators = {
        "LESS": "Less", "LESS_EQUAL": "LessOrEqual", "GREATER": "Greater", "GREATER_EQUAL": "GreaterOrEqual",
    }  # fmt: skip
    found = graph.node(operators.get(operation, "Equal"), x, second)
    return graph.Where(graph.Not(found) if operation == "NOT_EQUAL" else found, 1.0, 0.0)


@layer(
    "where",
    elsewhere={"ONNX": "Where", "Keras": "where", "PyTorch": "where, masked_fill"},
    terms=("elementwise selection", "masked fill", "conditional", "mask"),
    since=1,
)
class Where:
    """Elementwise selection by a condition: `y = x` where `condition` is not 0, else `other`.

    Without `other`, the number `value` takes its place (masked fill), such as -1e30 for masked attention scores. The
    gradient flows to the selected operand, also where the other one is infinite or NaN. To select whole samples see
    `multiplex`, for conditions `compare`.
    """

    condition = Input("...", "the condition: 0 is false, everything else is true", seq=(0, 1, 2), kinks=(0.0,))
    x = Input("...", "values where the condition is true", seq=(0, 1, 2))
    other = Input("...", "values where it is false", seq=(0, 1, 2), optional=True)
    y = Output("...", "the selected values")
    value = Float("value where the condition is false, without the input `other`", default=0.0)
    examples = (
        Example(condition="5", x="5", other="5"),
        Example(condition="2x3", x="2x3", value=-1.5),
        Example(condition="sequence of 3", x="sequence of 3", other="sequence of 3"),
    )


@each(Where.y)
def where_y(i, condition, x, other, value):
    if condition[i] != 0.0:
        return x[i]
    return value if other is None else other[i]


@gradient(Where.x)
def where_dx(i, condition, dy):
    return dy[i] if condition[i] != 0.0 else 0.0


@gradient(Where.other)
def where_dother(i, condition, dy):
    return 0.0 if condition[i] != 0.0 else dy[i]


@onnx(Where)
def where_onnx(graph, condition, x, other, value):
    return graph.Where(graph.Cast(condition, to=9), x, value if other is None else other)

"""Lowered functions give what Python gives for the author's text."""

from __future__ import annotations

import ast
import math
import textwrap

import numpy as np
import pytest

from paddle_layers.define.functions.program import Program

FUNCTIONS = {
    "sum": "return sum(x[n, c] for c in range(C))",
    "the name that is assigned": "norm = sum(x[n, c] * x[n, c] for c in range(C))\nreturn math.sqrt(norm)",
    "the name that is read": "total = 2.0\ntotal = sum(x[n, c] * total for c in range(C))\nreturn total",
    "maximum of some": "return max(x[n, c] for c in range(C) if x[n, c] < 0.5)",
    "minimum over several axes": "return min(x[m, c] for m in range(C) for c in range(m, C) if c > 0 if m < 3)",
    "within another": "return sum(x[n, c] * max(x[c, d] for d in range(c, C)) for c in range(C))",
    "the same variable within": "return sum(sum(x[c, d] for d in range(c) for c in range(2)) for c in range(C))",
    "a variable of the function": "c = 1\ns = sum(x[n, c] for c in range(C))\nreturn s + x[n, c]",
    "an argument": "return sum(x[n, 0] for n in range(C)) + x[n, 1]",
    "a loop that goes on": "s = 0.0\nfor c in range(C):\n    s += sum(x[n, c] for c in range(C)) * x[n, c]\nreturn s",
    "a bound": "return sum(x[n, c] for c in range(sum((1 for d in range(C) if x[n, d] > 0.0), 0)))",
    "a count": "return x[n, sum((1 for c in range(C) if x[n, c] > 0.0), -1)]",
    "a start that is a keyword": "return sum((x[n, c] for c in range(C)), start=x[n, 0])",
    "branches": """
        if sum(x[n, c] for c in range(C)) > 0.5:
            return 1.0
        elif max(x[n, c] for c in range(C)) > 0.9:
            return sum(x[c, n] for c in range(C))
        return x[n, 0] if n > 0 else 0.0""",
    "twice": "return sum(x[n, c] for c in range(C)) / sum(x[c, n] for c in range(C))",
    "nothing": "return sum(x[n, c] for c in range(0)) + real(C)",
}


@pytest.mark.parametrize("body", FUNCTIONS.values(), ids=FUNCTIONS)
def test_the_value_is_that_of_python(body: str) -> None:
    source = "def f(n, x, C):\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ")
    program = Program.parse(source)
    assert not any(isinstance(node, ast.GeneratorExp) for node in ast.walk(program.tree))
    values = []
    for text in (source, program.text):
        scope = {"math": math, "real": float}
        exec(text, scope)
        rows = np.random.default_rng(0).normal(size=(5, 4, 4))
        values.append([scope["f"](n, x, 4) for x in rows for n in range(4)])
    np.testing.assert_allclose(values[1], values[0], rtol=1e-12)


@pytest.mark.parametrize("name", ["max", "min"])
def test_an_extreme_of_nothing_is_infinite(name: str) -> None:
    scope: dict[str, object] = {}
    exec(Program.parse(f"def f(x):\n    return {name}(x[c] for c in range(0))").text, scope)
    assert eval("f([])", scope) == (-math.inf if name == "max" else math.inf)


def test_lines_are_the_authors() -> None:
    source = "def f(x, C):\n    y = 0.0\n\n    y += sum(\n        x[c] for c in range(C)\n    )\n    return y\n"
    lines = [(type(node).__name__, node.lineno) for node in Program.parse(source).tree.body]
    assert lines == [("Assign", 2), ("Assign", 4), ("For", 4), ("AugAssign", 4), ("Return", 7)]

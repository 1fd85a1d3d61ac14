"""Composite layers for feature vectors: mixed layer (a sum of projections and operators), gated linear unit."""

from paddle_layers.define import Bool, Example, Input, Int, Output, String, Strings, body, layer, require
from paddle_layers.define.errors import suggestion
from paddle_layers.define.fields.types import KINDS

MAPS = {"full_matrix": "fc", "trans_full_matrix": "trans_fc", "table": "embedding"}
"""Terms that give as many columns as the layer has, and their layers."""
COLUMNWISE = ("identity", "dot_mul", "scaling", "context", "dot_mul_operator")
"""Terms whose number of columns follows from their input."""
TERMS = (*MAPS, *COLUMNWISE)


@layer(
    "mixed",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Paddle": "mixed"},
    terms=("sum of projections",),
    since=1,
)
class Mixed:
    """Sum of projections and operators: each of `terms` reads the next input, `dot_mul_operator` the next two.

    | term | value |
    |---|---|
    | `full_matrix` | `x @ weight`, as `fc` without bias; `x` may be sparse |
    | `trans_full_matrix` | `x @ weight.T`, with the weight of an `fc` in the other direction (tied weights) |
    | `table` | the row of a table at index `x`, as `embedding` |
    | `identity` | `x`, or its columns from `offset` on |
    | `dot_mul` | `x` times a learned value per column |
    | `scaling` | `x` times a learned scalar |
    | `context` | a window of `context_len` steps around each step, concatenated |
    | `dot_mul_operator` | the elementwise product of two inputs |

    Each term is a layer here, named like the term: `param { of: "full_matrix.weight" }` configures a parameter.
    Repeated terms are numbered: `full_matrix_0.weight`, `full_matrix_1.weight`. Paddle also has terms for images: for
    these add `conv` layers with `addto`.
    """

    x = Input("N C_i...", "inputs of the terms, in their order", repeatable=True, kinds=KINDS, seq=(0, 1, 2))
    y = Output("N K", "the sum")
    terms = Strings("type of each term: " + ", ".join(f"`{term}`" for term in TERMS), min_items=1)
    size = Int("number of outputs; if absent, that of the first term with a known width", min=1, optional=True)
    offset = Int("first column that `identity` reads; if absent, all columns", min=0, optional=True)
    context_len = Int("window length of `context`", default=3, min=1, max=1024)
    context_start = Int(
        "start of the window of `context` relative to the current step; if absent, centered", optional=True
    )
    bias = Bool("add `bias.offset`, a learned value per column", default=False)
    examples = (
        Example(x=["3", "ids<5"], terms=["full_matrix", "table"], size=4, act="tanh"),
        Example(x=["3", "3", "1x3", "3"], terms=["dot_mul", "scaling", "dot_mul_operator"], bias=True),
        Example(x=["sequence of 2", "sequence of 4"], terms=["context", "identity"], context_len=2, context_start=-1),
        Example(x=["5", "5"], terms=["identity", "full_matrix"], size=2, offset=1),
        Example(x=["sparse 4", "2"], terms=["full_matrix", "trans_full_matrix"], size=3),
        Example(x=["3", "2"], terms=["full_matrix", "full_matrix"], size=2),
    )


@body(Mixed)
def mixed_body(net, x, terms, size, offset, context_len, context_start, bias):
    # First, since the loop takes inputs without checking that one is left.
    check_terms(terms, len(x))
    columns = size or own_columns(terms, x, offset, context_len)
    inputs, given = list(x), []
    for number, term in enumerate(terms):
        taken = [inputs.pop(0) for _ in range(inputs_of(term))]
        name = term if terms.count(term) == 1 else f"{term}_{terms[:number].count(term)}"
        value = add_term(net, term, taken, name, columns, offset, context_len, context_start)
        found = value.type.size
        require(found == columns, "terms", f"term {number + 1}, `{term}`, gives {found} columns, not {columns}")
        given.append(value)
    total = net.addto(*given, name="sum")
    return net.shift(total, name="bias") if bias else total


def inputs_of(term):
    """How many inputs a term takes."""
    return 2 if term == "dot_mul_operator" else 1


def check_terms(terms, count):
    """Refuse words that are no terms, and terms that take more or fewer inputs than there are."""
    for term in terms:
        require(term in TERMS, "terms", f"there is no term `{term}`{suggestion(term, TERMS)}")
    wanted = sum(map(inputs_of, terms))
    require(wanted == count, "terms", f"the terms take {wanted} inputs, but there are {count}")


def own_columns(terms, x, offset, context_len):
    """Columns of the first term whose number of columns follows from its input."""
    first = 0
    for term in terms:
        # From an offset on, `identity` reads as many columns as the layer has, and cannot decide it.
        if term not in MAPS and not (term == "identity" and offset is not None):
            break
        first += inputs_of(term)
    require(first < len(x), "size", f"`{terms[0]}` can give any number of columns: set `size`")
    return x[first].type.size * (context_len if term == "context" else 1)


def add_term(net, term, taken, name, columns, offset, context_len, context_start):
    """The layer of a term."""
    if term in MAPS:
        # The layer has one bias for the sum; a table has none to switch off.
        settings = {} if term == "table" else {"bias": False}
        return getattr(net, MAPS[term])(*taken, size=columns, name=name, **settings)
    rows = [as_rows(net, wire) for wire in taken]
    if term == "context":
        return net.context(*rows, length=context_len, start=context_start, name=name)
    if term == "dot_mul":
        return net.scale(*rows, bias=False, name=name)
    if term == "dot_mul_operator":
        return net.eltwise(*rows, operation="PROD", name=name)
    if term == "scaling":
        # One channel, so that `scale` learns a single factor.
        one_channel = net.reshape(*rows, dims=[1, -1])
        return net.flatten(net.scale(one_channel, bias=False, name=name))
    return rows[0] if offset is None else cut(net, rows[0], name, offset, columns)


def as_rows(net, wire):
    """A value as rows of columns: images and single numbers get another shape, ids and sparse rows stay."""
    return net.flatten(wire) if wire.type.kind == "DENSE" and len(wire.type.dims) != 1 else wire


def cut(net, wire, name, offset, columns):
    """Columns from `offset` on."""
    left = wire.type.size - offset - columns
    require(left >= 0, "offset", f"{columns} columns from {offset} on are more than the {wire.type.size} of the input")
    # `slice` has no empty parts.
    sizes = [size for size in (offset, columns, left) if size]
    pieces = net.slice(wire, sizes=sizes, name=name)
    return pieces[int(offset > 0)] if len(sizes) > 1 else pieces


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

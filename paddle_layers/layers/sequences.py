"""Layers of sequences: from ids to rows, from the rows of a sequence to one."""

import math

from paddle_layers.define import (
    Choice,
    Example,
    Input,
    Int,
    Output,
    Param,
    Temp,
    each,
    gradient,
    infer,
    layer,
    real,
    require,
)


@layer(
    "embedding",
    common=("drop_rate", "error_clip"),
    elsewhere={"Paddle": "table_projection", "Caffe": "Embed", "ONNX": "Gather"},
    since=1,
)
class Embedding:
    """Takes for every id the row of a table that has its number.

    `y[n] = table[ids[n]]`. The table has as many rows as there are ids, so only the width is to be chosen; the gradient
    has only the rows in use. Caffe counts the rows by `input_dim` and adds a bias unless told not to: put a `shift`
    behind the layer for that. Paddle gives zeros for the id -1; here `padding_id` names such an id among the others.
    """

    ids = Input("N", "row numbers", kinds=("INT",), seq=(0, 1, 2))
    table = Param("V K", "one row per id", init=("gaussian", {"std": 0.1}))
    y = Output("N K", "the rows of the table")
    size = Int("width of a row", min=1, axis="K", aliases=("num_output",))
    padding_id = Int("id whose rows are zero and learn nothing", min=0, optional=True)
    examples = (
        Example(ids="ids<7", size=3),
        Example(ids="sequence of ids<5", size=4),
        Example(ids="nested sequence of ids<4", size=1, padding_id=0),
    )


@infer(Embedding)
def embedding_sizes(ids, padding_id):
    inside = padding_id is None or padding_id < ids.size
    require(inside, "padding_id", f"`padding_id` is {padding_id}, but the ids are smaller than {ids.size}")
    return {"V": ids.size}


@each(Embedding.y)
def embedding_y(n, k, ids, table, padding_id):
    if padding_id is not None and ids[n] == padding_id:
        return 0.0
    return table[ids[n], k]


@gradient(Embedding.table, used=Embedding.ids)
def embedding_dtable(u, k, dy, ids, ids_used_start, ids_used_row, padding_id):
    total = 0.0
    for p in range(ids_used_start[u], ids_used_start[u + 1]):
        if padding_id is None or ids[ids_used_row[p]] != padding_id:
            total += dy[ids_used_row[p], k]
    return total


@layer(
    "seq_avg_pool",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Paddle": "average"},
    since=1,
)
class SeqAvgPool:
    """Adds up the rows of every sequence and divides by their number, by its root or by nothing.

    `y[s] = sum over the rows t of s of x[t] * f`, where `f` is `1 / len(s)` (`AVERAGE`), `1` (`SUM`) or
    `1 / sqrt(len(s))` (`SQUARE_ROOT`). An empty sequence gives zeros, as in Paddle, whose `average_strategy` has the
    same three values and whose `trans_type` is `level`. Paddle can also cut sequences into windows (`seq_pool_stride`).
    """

    x = Input("T:S C", "rows of sequences", seq=(1, 2))
    y = Output("S C", "one row per sequence, or per sub-sequence")
    strategy = Choice(
        "what the sum of the rows is divided by",
        options={"AVERAGE": "the number of rows", "SUM": "nothing", "SQUARE_ROOT": "the root of the number of rows"},
        default="AVERAGE",
    )
    level = Choice(
        "what one row of the output covers",
        options={"SEQUENCE": "a whole sequence", "SUBSEQUENCE": "a sub-sequence of a nested sequence"},
        default="SEQUENCE",
        groups="S",
    )
    factor = Temp("S", "what the sum is multiplied by")
    examples = (
        Example(x="sequence of 3"),
        Example(x="nested sequence of 2", strategy="SUM"),
        Example(x="nested sequence of 2", strategy="SQUARE_ROOT", level="SUBSEQUENCE"),
        Example(x="sequence of 1", strategy="SQUARE_ROOT", act="relu"),
    )


@each(SeqAvgPool.factor)
def seq_avg_pool_factor(s, S_start, strategy):
    count = real(max(S_start[s + 1] - S_start[s], 1))
    if strategy == "AVERAGE":
        return 1.0 / count
    return 1.0 / math.sqrt(count) if strategy == "SQUARE_ROOT" else 1.0


@each(SeqAvgPool.y)
def seq_avg_pool_y(s, c, x, factor, S_start):
    total = 0.0
    for t in range(S_start[s], S_start[s + 1]):
        total += x[t, c]
    return total * factor[s]


@gradient(SeqAvgPool.x)
def seq_avg_pool_dx(t, c, s, dy, factor):
    return dy[s, c] * factor[s]

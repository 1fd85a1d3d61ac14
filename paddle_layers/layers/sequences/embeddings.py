"""Embedding tables and positional encodings."""

import math

import numpy as np

from paddle_layers.define import (
    Choice,
    Example,
    Float,
    Input,
    Int,
    Output,
    Param,
    double,
    each,
    gradient,
    helper,
    infer,
    layer,
    onnx,
    real,
    require,
)


@layer(
    "embedding",
    common=("drop_rate", "error_clip"),
    elsewhere={
        "Paddle": "table_projection",
        "Mocha": "Index2OnehotLayer",
        "Caffe": "Embed",
        "ONNX": "Gather",
        "Keras": "Embedding",
        "PyTorch": "Embedding",
    },
    terms=("embedding", "embedding lookup", "lookup table", "word embedding", "word vectors"),
    since=1,
)
class Embedding:
    """Embedding lookup: the row of a learned table for each id.

    `y[n] = table[ids[n]]`. The table has one row per id, so only the width is given; the gradient has only the rows in
    use (sparse gradient). Ids with a shape, such as a fixed number of tokens, are looked up one by one. Caffe gives the
    number of rows as `input_dim` and adds a bias by default: add a `shift` for that. Paddle returns zeros for the id
    -1; here `padding_id` is one of the ids.
    """

    ids = Input("N B...", "integer ids to look up", kinds=("INT",), seq=(0, 1, 2))
    table = Param("V K", "one row per id", init=("gaussian", {"std": 0.1}))
    y = Output("N B... K", "embedding vectors")
    size = Int("embedding size", min=1, axis="K", aliases=("num_output",))
    padding_id = Int("padding id: its embedding is zero and has no gradient", min=0, optional=True)
    examples = (
        Example(ids="ids<7", size=3),
        Example(ids="sequence of ids<5", size=4),
        Example(ids="nested sequence of ids<4", size=1, padding_id=0),
        Example(ids="2x3 ids<6", size=2, padding_id=1),
    )


@infer(Embedding)
def embedding_sizes(ids, padding_id):
    inside = padding_id is None or padding_id < ids.size
    require(inside, "padding_id", f"`padding_id` is {padding_id}, but the ids are smaller than {ids.size}")
    return {"V": ids.size}


@each(Embedding.y)
def embedding_y(n, b, k, ids, table, padding_id):
    if padding_id is not None and ids[n, b] == padding_id:
        return 0.0
    return table[ids[n, b], k]


@gradient(Embedding.table, used=Embedding.ids)
def embedding_dtable(u, k, dy, ids, ids_used_start, ids_used_row, padding_id, B):
    total = 0.0
    for p in range(ids_used_start[u], ids_used_start[u + 1]):
        n = ids_used_row[p] // B
        b = ids_used_row[p] % B
        # The padding id has no gradient, so that its vector stays as it is.
        if padding_id is None or ids[n, b] != padding_id:
            total += dy[n, b, k]
    return total


@onnx(Embedding)
def embedding_onnx(graph, ids, table, padding_id):
    rows = graph.Gather(table, ids)
    if padding_id is None:
        return rows
    return graph.Where(graph.Equal(graph.Unsqueeze(ids, [-1]), padding_id), 0.0, rows)


@layer(
    "position_embedding",
    common=("drop_rate",),
    terms=("learned positional embedding", "positional embedding", "position embedding"),
    since=1,
)
class PositionEmbedding:
    """Learned positional embedding: adds a learned vector per position to each step of a sequence.

    `y[t] = x[t] + table[p]`, where `p` counts from 0 within the sequence, or within the sub-sequence of a nested one
    (Gehring et al. 2017). Steps at position `max_length` and beyond become NaN.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1, 2))
    table = Param("P C", "one vector per position", init=("gaussian", {"std": 0.02}))
    y = Output("T:S C", "same shape as `x`", nan="at position `max_length` and beyond")
    max_length = Int("maximum sequence length", min=1, axis="P")
    examples = (
        Example(x="sequence of 3", max_length=5),
        Example(x="nested sequence of 2", max_length=4),
        Example(x="sequence of 1", max_length=8, drop_rate=0.5),
    )


@each(PositionEmbedding.y)
def position_embedding_y(t, c, s, x, table, S_start, P):
    p = t - S_start[s]
    # NaN instead of the last vector: a sequence that is too long must not go unnoticed.
    return x[t, c] + table[p, c] if p < P else math.nan


@gradient(PositionEmbedding.x)
def position_embedding_dx(t, c, dy):
    return dy[t, c]


@gradient(PositionEmbedding.table)
def position_embedding_dtable(p, c, dy, S_start):
    return sum(dy[S_start[s] + p, c] for s in range(len(S_start) - 1) if S_start[s] + p < S_start[s + 1])


@onnx(PositionEmbedding)
def position_embedding_onnx(graph, x, table, P):
    places = graph.places(x)
    # Gather needs valid indices for the positions that become NaN, too.
    learned = graph.Add(x, graph.Gather(table, graph.Min(places, P - 1)))
    return graph.Where(graph.Unsqueeze(graph.Less(places, P), [1]), learned, math.nan)


def onnx_places(graph, x, first):
    """Numbers of the places as float64, with an axis for the columns; of all sequences, or of each its own."""
    places = graph.places(x) if first is None else graph.Add(graph.places(x), graph.Unsqueeze(first, [1]))
    return graph.Unsqueeze(graph.Cast(places, to=11), [1 if first is None else 2])


@layer(
    "sinusoidal_position",
    common=("drop_rate",),
    terms=("sinusoidal positional encoding", "positional encoding"),
    since=1,
)
class SinusoidalPosition:
    """Sinusoidal positional encoding: adds sines and cosines of the position to each step of a sequence.

    `y[t, 2i] = x[t, 2i] + sin(a)` and `y[t, 2i + 1] = x[t, 2i + 1] + cos(a)` with `a = p / 10000 ** (2i / C)`, where
    `p` counts from 0 within the sequence, or within the sub-sequence of a nested one, or from `first` (Vaswani et al.
    2017). There are no parameters, so the length is not limited.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1, 2))
    first = Input("S", "position of the first step of each sequence", kinds=("INT",), seq=(0, 1), optional=True)
    y = Output("T:S C", "same shape as `x`")
    examples = (
        Example(x="sequence of 4"),
        Example(x="nested sequence of 3"),
        Example(x="sequence of 1"),
        Example(x="sequence of 4", first="ids<90"),
    )


@each(SinusoidalPosition.y)
def sinusoidal_position_y(t, c, s, x, first, S_start, C):
    place = t - S_start[s] + (0 if first is None else first[s])
    # float32 knows the angles of far places to few digits only
    angle = double(place) / double(10000.0) ** (double(c - c % 2) / double(C))
    return x[t, c] + real(math.sin(angle) if c % 2 == 0 else math.cos(angle))


@onnx(SinusoidalPosition)
def sinusoidal_position_onnx(graph, x, first, C):
    """Angles in float64, reduced to one turn before they become float32; the cosine is a sine a quarter turn on."""
    # A sine and its cosine share a frequency, hence `column % 2` subtracted.
    column = np.arange(C)
    # Turns instead of angles: their integer part can be dropped exactly.
    turns = graph.double(10000.0 ** (-(column - column % 2) / C) / (2 * math.pi))
    shares = graph.Add(graph.Mul(onnx_places(graph, x, first), turns), graph.double(column % 2 / 4))
    angles = graph.Cast(graph.Mul(graph.Sub(shares, graph.Floor(shares)), graph.double(2 * math.pi)), to=1)
    return graph.Add(x, graph.Sin(angles))


@layer(
    "rotary_position",
    elsewhere={"ONNX": "RotaryEmbedding"},
    terms=("rotary position embedding", "RoPE"),
    since=1,
)
class RotaryPosition:
    """Rotary position embedding (RoPE): rotates pairs of columns by angles proportional to the position.

    The columns are split into `num_heads` heads. Pair `i` of a head with `D` columns is rotated by the angle
    `a = p * base ** (-2 * i / D)`: `(u, v)` becomes `(u * cos(a) - v * sin(a), v * cos(a) + u * sin(a))`, where `p`
    counts from 0 within the sequence, or within the sub-sequence of a nested one, or from `first`. The dot product of
    two steps then depends only on their distance (Su et al. 2021): add it after the projections of `query` and `keys`
    of `multi_head_attention`. There are no parameters. Weights of Llama and GPT-NeoX use pairs `HALVES`, as Hugging
    Face Transformers and ONNX do; the paper and GPT-J pair adjacent columns.
    """

    x = Input("T:S C", "sequences, such as queries or keys", seq=(1, 2))
    first = Input("S", "position of the first step of each sequence", kinds=("INT",), seq=(0, 1), optional=True)
    y = Output("T:S C", "same shape as `x`")
    num_heads = Int("number of attention heads", default=1, min=1)
    base = Float("base of the geometric progression of wavelengths", default=10000.0, min=1)
    pairs = Choice(
        "pairing of the columns of a head",
        options={
            "HALVES": "column i of the first half with column i of the second half",
            "NEIGHBOURS": "adjacent columns",
        },
        default="HALVES",
    )
    examples = (
        Example(x="sequence of 4"),
        Example(x="sequence of 8", num_heads=2, pairs="NEIGHBOURS"),
        Example(x="nested sequence of 6", num_heads=3, base=100.0),
        Example(x="nested sequence of 2", first="sequence of ids<90"),
    )


@infer(RotaryPosition)
def rotary_position_sizes(C, num_heads):
    require(C % (2 * num_heads) == 0, "num_heads", f"{C} columns cannot be cut into {num_heads} equal heads of pairs")
    return {}


@helper
def rotary_angle(place, c, width, neighbours, base):
    """The angle of a column's pair; float32 knows the angles of far places to few digits only."""
    pair = (c % width) // 2 if neighbours else (c % width) % (width // 2)
    return double(place) * double(base) ** (double(-2.0) * double(pair) / double(width))


@each(RotaryPosition.y)
def rotary_position_y(t, c, s, x, first, S_start, C, num_heads, base, pairs):
    width = C // num_heads
    place = t - S_start[s] + (0 if first is None else first[s])
    angle = rotary_angle(place, c, width, pairs == "NEIGHBOURS", base)
    half = 1 if pairs == "NEIGHBOURS" else width // 2
    left = c % width // half % 2 == 0
    # The rotation mixes a column with the other one of its pair.
    other = -x[t, c + half] if left else x[t, c - half]
    return x[t, c] * real(math.cos(angle)) + other * real(math.sin(angle))


@gradient(RotaryPosition.x)
def rotary_position_dx(t, c, s, dy, first, S_start, C, num_heads, base, pairs):
    width = C // num_heads
    place = t - S_start[s] + (0 if first is None else first[s])
    angle = rotary_angle(place, c, width, pairs == "NEIGHBOURS", base)
    half = 1 if pairs == "NEIGHBOURS" else width // 2
    left = c % width // half % 2 == 0
    # The inverse of a rotation is the rotation by the opposite angle: only the sign of the sine changes.
    other = dy[t, c + half] if left else -dy[t, c - half]
    return dy[t, c] * real(math.cos(angle)) + other * real(math.sin(angle))


@onnx(RotaryPosition)
def rotary_position_onnx(graph, x, first, C, num_heads, base, pairs):
    """Angles in float64, reduced to one turn before they become float32; the cosine is a sine a quarter turn on."""
    column, width = np.arange(C), C // num_heads
    half = 1 if pairs == "NEIGHBOURS" else width // 2
    pair = column % width // 2 if pairs == "NEIGHBOURS" else column % width % half
    left = column % width // half % 2 == 0
    turns = graph.double(base ** (-2.0 * pair / width) / (2 * math.pi))
    shares = graph.Mul(onnx_places(graph, x, first), turns)
    waves = [graph.Add(shares, graph.double(np.full(C, quarter))) for quarter in (0.25, 0.0)]
    turned = [graph.Mul(graph.Sub(wave, graph.Floor(wave)), graph.double(2 * math.pi)) for wave in waves]
    cosine, sine = (graph.Sin(graph.Cast(angle, to=1)) for angle in turned)
    other = graph.Mul(graph.Gather(x, np.where(left, column + half, column - half), axis=2), np.where(left, -1.0, 1.0))
    return graph.Add(graph.Mul(x, cosine), graph.Mul(other, sine))

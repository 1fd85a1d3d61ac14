"""Inputs of a network."""

from paddle_layers.define import Choice, Example, Int, Ints, Output, String, Type, layer, output_types, require


@layer(
    "data",
    elsewhere={"Paddle": "data", "Caffe": "Input"},
    terms=("input", "placeholder", "Input layer"),
    since=1,
)
class Data:
    """Input of a network: a value that is fed under the name of the layer.

    Floating-point values have a `shape`, the axes of a sample without the batch axis; without one, a sample is a
    scalar. Integer ids have a `size`, their number, and a `shape` if a sample has several, such as a label for each
    pixel of an image; sparse vectors have only a `size`. In a training file, the words of the data determine an absent
    size. Samples may be sequences, or nested sequences, whose steps are concatenated without padding. Paddle's
    `data_layer` gives the width of a dense value as `size`; Caffe's shapes include the batch axis, which is never part
    of a shape here.

    With `carry` it is not fed: it has the rows of another value of the previous batch, zeros in the first one. This
    carries recurrent states over from batch to batch (stateful recurrence), while gradients stop at the start of the
    batch (truncated backpropagation through time); every batch then has the same number of samples. To reset states,
    multiply the rows by a fed 0 or 1 (`scaling`), the `cont` of Caffe.
    """

    y = Output("N ...", "the fed values")
    shape = Ints("shape of a sample, without the batch axis", optional=True, min=1)
    data_type = Choice(
        "type of the values",
        options={
            "DENSE": "floating-point values",
            "INT": "one integer id per sample, or one per element of the shape",
            "SPARSE": "sparse vectors: column indices with values",
            "SPARSE_INT": "sparse binary vectors: column indices",
        },
        default="DENSE",
    )
    size = Int("number of ids (classes, vocabulary size), or width of a sparse vector", min=1, optional=True)
    seq_nested_level = Int("0: single samples, 1: sequences, 2: nested sequences", default=0, min=0, max=2)
    carry = String(
        "value of the previous batch to feed (stateful recurrence); if absent, the value is fed", optional=True
    )
    examples = (
        Example(shape=[1, 28, 28]),
        Example(),
        Example(data_type="INT", size=10),
        Example(data_type="INT", size=21, shape=[28, 28]),
        Example(data_type="SPARSE_INT", size=1000, seq_nested_level=1),
        Example(shape=[16], seq_nested_level=2),
    )


@output_types(Data)
def data_type_of(shape, data_type, size, seq_nested_level, carry):
    dims = tuple(shape or ())
    require(
        carry is None or seq_nested_level == 0, "carry", "what is carried has one row for each sample, no sequences"
    )
    require(carry is None or data_type in ("DENSE", "INT"), "carry", "sparse rows are not carried")
    if data_type == "DENSE":
        require(size is None, "size", f"a dense value has a shape and no size; write `shape: [{size}]`")
        return [Type.dense(*dims, level=seq_nested_level)]
    require(not dims or data_type == "INT", "shape", f"a value of type {data_type} has a size and no shape")
    require(size is not None, "size", f"a value of type {data_type} needs its size: {SIZES[data_type]}")
    if data_type == "INT":
        return [Type.ids(size, seq_nested_level, dims)]
    return [Type.sparse(size, seq_nested_level, values=data_type == "SPARSE")]


SIZES = {"INT": "the number of ids", "SPARSE": "the width of a row", "SPARSE_INT": "the width of a row"}

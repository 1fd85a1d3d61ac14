"""Where values enter a network."""

from paddle_layers.define import Choice, Example, Int, Ints, Output, String, Type, layer, output_types, require


@layer("data", elsewhere={"Paddle": "data", "Caffe": "Input"}, since=1)
class Data:
    """A value that is fed to the network under the layer's name.

    Real numbers have a `shape`, the axes behind the row axis; without one, a row is a single number. Ids have a `size`,
    which is how many there are, and a `shape` where a row has several, as a label for each pixel of an image; sparse
    rows have a `size` only. Rows may be grouped in sequences, or in sequences of sub-sequences, and then follow
    one another without padding. Paddle's `data_layer` gives a dense value its width as `size`; Caffe's shapes include
    the batch, which here is never part of a shape.

    With `carry` nobody has to feed it: it has the rows of another value in the batch before, zeros in the first one.
    So states of recurrent layers go on from batch to batch, and gradients end where the batch begins (truncated
    backpropagation through time); every batch then has the same number of samples. To begin anew somewhere, multiply
    the rows by a fed 0 or 1 (`scaling`), which is the `cont` of Caffe.
    """

    y = Output("N ...", "the rows that were fed")
    shape = Ints("axes behind the row axis, without the batch", optional=True, min=1)
    data_type = Choice(
        "what a row is",
        options={
            "DENSE": "real numbers",
            "INT": "one id, or one at each place of the shape",
            "SPARSE": "a few columns with their values, the others zero",
            "SPARSE_INT": "a few columns that are one, the others zero",
        },
        default="DENSE",
    )
    size = Int("number of ids, or width of a sparse row", min=1, optional=True)
    seq_nested_level = Int("0: single rows, 1: sequences, 2: sequences of sub-sequences", default=0, min=0, max=2)
    carry = String("value whose rows in the batch before are fed; absent: the data's", optional=True)
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

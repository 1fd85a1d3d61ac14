"""Sequence metrics: sequence error rate, chunks."""

from paddle_layers.define import (
    Choice,
    Example,
    Input,
    Int,
    Ints,
    Stat,
    Temp,
    each,
    helper,
    infer,
    layer,
    require,
    result,
)
from paddle_layers.layers.checks import check_labels

from .sums import f_measures, ratio


@layer(
    "seq_classification_error",
    elsewhere={"Paddle": "seq_classification_error"},
    terms=("sequence error rate",),
    since=1,
)
class SeqClassificationError:
    """Sequence error rate: the fraction of the sequences with any misclassified step; ties are wrong, as in `accuracy`.

    Empty sequences are ignored. In nested sequences, the sub-sequences are counted.
    """

    x = Input("T:S C", "score or probability per class", seq=(1, 2))
    label = Input("T:S", "target class", kinds=("INT",), seq=(1, 2))
    miss = Temp("T:S", "1 for a misclassified step, else 0")
    wrong = Stat("S", "misclassified sequences")
    sequences = Stat("S", "nonempty sequences")
    examples = (
        Example(x="sequence of 2", label="sequence of ids<2"),
        Example(x="nested sequence of 3", label="nested sequence of ids<3"),
    )


@infer(SeqClassificationError)
def seq_classification_error_labels(label, C):
    check_labels(label, C)
    return {}


@each(SeqClassificationError.miss)
def seq_classification_error_miss(t, x, label, C):
    wrong = 0.0
    for c in range(C):
        # `not <`, so that ties and NaN are wrong, as in `accuracy`.
        if c != label[t] and not x[t, c] < x[t, label[t]]:
            wrong = 1.0
    return wrong


@each(SeqClassificationError.wrong)
def seq_classification_error_wrong(s, miss, S_start):
    wrong = 0.0
    for t in range(S_start[s], S_start[s + 1]):
        wrong = max(wrong, miss[t])
    return wrong


@each(SeqClassificationError.sequences)
def seq_classification_error_sequences(s, S_start):
    return 1.0 if S_start[s + 1] > S_start[s] else 0.0


@result(SeqClassificationError, best="min")
def seq_classification_error_share(wrong, sequences):
    return ratio(wrong, sequences)


@layer(
    "chunk",
    elsewhere={"Paddle": "chunk"},
    terms=("chunks", "named entity recognition", "chunking F1", "IOB tags"),
    since=1,
)
class Chunk:
    """Precision, recall and F1 score of chunks, such as named entities: `F1 = 2 * correct / (found + wanted)`.

    A chunk is correct if it has the same start, end and type in both inputs. Tags are encoded as `type * tags + tag`,
    with the tags of `scheme` in the order given there, and the next number is for steps outside of all chunks. A step
    continues the chunk of the previous step if it has the same type, the previous step does not end a chunk and this
    one does not start one (Tjong Kim Sang and Buchholz 2000). As in Paddle.
    """

    x = Input("T:S", "predicted tags", kinds=("INT",), seq=(1, 2))
    label = Input("T:S", "targets", kinds=("INT",), seq=(1, 2))
    num_chunk_types = Int("number of chunk types", min=1)
    scheme = Choice(
        "tagging scheme",
        options={
            "PLAIN": "no position: adjacent steps of the same type are one chunk",
            "IOB": "begin, inside",
            "IOE": "inside, end",
            "IOBES": "begin, inside, end, single",
        },
        default="IOB",
        aliases=("chunk_scheme",),
    )
    excluded_chunk_types = Ints("chunk types to ignore", min=0, min_items=1, optional=True)
    x_joined = Temp("T:S", "1 if `x` continues the previous step's chunk")
    label_joined = Temp("T:S", "1 if `label` does")
    same = Temp("T:S", "1 while both are in a counted chunk of the same type with the same start")
    correct = Stat("T:S", "correct chunks that end here")
    found = Stat("T:S", "predicted chunks that start here")
    wanted = Stat("T:S", "target chunks that start here")
    examples = (
        Example(x="sequence of ids<3", label="sequence of ids<3", num_chunk_types=1),
        Example(x="sequence of ids<5", label="sequence of ids<5", num_chunk_types=1, scheme="IOBES"),
        Example(
            x="nested sequence of ids<5", label="nested sequence of ids<5",
            num_chunk_types=2, scheme="IOE", excluded_chunk_types=[1],
        ),
        Example(x="sequence of ids<3", label="sequence of ids<3", num_chunk_types=2, scheme="PLAIN"),
    )  # fmt: skip


@infer(Chunk)
def chunk_types(x, label, num_chunk_types, scheme, excluded_chunk_types):
    numbers = num_chunk_types * {"PLAIN": 1, "IOB": 2, "IOE": 2, "IOBES": 4}[scheme] + 1
    largest = max(excluded_chunk_types or (0,))
    require(x.size == numbers, "x", f"the types take {numbers} numbers with the outside, but `x` has {x.size}")
    require(label.size == numbers, "label", f"the types take {numbers} numbers with the outside, not {label.size}")
    require(largest < num_chunk_types, "excluded_chunk_types", f"there is no type {largest}: they count from 0")
    return {}


@helper
def goes_on(before, now, tags, opening, closing):
    """Whether a row goes on with the chunk of the row before; `opening`, `closing`: bits of tags that forbid it."""
    return before // tags == now // tags and (opening >> now % tags) % 2 == 0 and (closing >> before % tags) % 2 == 0


@each(Chunk.x_joined, Chunk.label_joined, Chunk.same, Chunk.found, Chunk.wanted, scan="forward")
def chunk_begins(t, before, x, label, same, num_chunk_types, scheme, excluded_chunk_types):
    tags = 4 if scheme == "IOBES" else 1 if scheme == "PLAIN" else 2
    # Bit j is set if tag j starts a chunk (begin, single), or ends one (end, single) in `closing`.
    opening = 0b1001 if scheme == "IOBES" else 0b01 if scheme == "IOB" else 0
    closing = 0b1100 if scheme == "IOBES" else 0b10 if scheme == "IOE" else 0
    outside = num_chunk_types * tags
    x_joined = before >= 0 and x[t] < outside and goes_on(x[before], x[t], tags, opening, closing)
    label_joined = before >= 0 and label[t] < outside and goes_on(label[before], label[t], tags, opening, closing)
    found = x[t] < outside and not x_joined
    wanted = label[t] < outside and not label_joined
    if excluded_chunk_types is not None:
        for j in range(len(excluded_chunk_types)):
            found = found and x[t] // tags != excluded_chunk_types[j]
            wanted = wanted and label[t] // tags != excluded_chunk_types[j]
    both = 1.0 if found and wanted and x[t] // tags == label[t] // tags else 0.0
    # Both chunks go on: whether they are the same was decided at their start.
    if x_joined and label_joined:
        both = same[before]
    return (
        1.0 if x_joined else 0.0,
        1.0 if label_joined else 0.0,
        both,
        1.0 if found else 0.0,
        1.0 if wanted else 0.0,
    )


@each(Chunk.correct, scan="back")
def chunk_correct(t, after, x_joined, label_joined, same):
    # If either chunk goes on, they do not both end here.
    if after >= 0 and (x_joined[after] > 0.0 or label_joined[after] > 0.0):
        return 0.0
    return same[t]


@result(Chunk, "precision", "recall", "F1", best="max")
def chunk_measures(correct, found, wanted):
    return f_measures(correct, found, wanted)

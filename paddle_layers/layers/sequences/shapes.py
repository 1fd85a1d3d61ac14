"""Expansion, concatenation, reshaping and slicing of sequences."""

import math

import numpy as np

from paddle_layers.define import (
    Choice,
    Example,
    Input,
    Int,
    Output,
    Param,
    each,
    gradient,
    infer,
    layer,
    onnx,
    real,
    require,
    starts,
)
from paddle_layers.layers.helpers import exceeds


@layer(
    "expand",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Paddle": "expand"},
    terms=("expand", "broadcast over time", "RepeatVector"),
    since=1,
)
class Expand:
    """Expands one vector per sequence to all steps of the sequence (broadcast over time).

    `y[t] = x[s]` for every step t of sequence s of `like`, whose values do not matter. In Paddle `trans_type`
    determines whether `x` has one vector per sequence or per sub-sequence; here `level` does.
    """

    x = Input("S C", "one vector per sequence, or per sub-sequence", seq=(0, 1))
    like = Input("T:S ...", "sequences that determine the number of repetitions", kinds=("DENSE", "INT"), seq=(1, 2))
    y = Output("T:S C", "one vector per step of `like`")
    level = Choice(
        "level of `x`",
        options={"SEQUENCE": "whole sequences", "SUBSEQUENCE": "sub-sequences of nested sequences"},
        default="SEQUENCE",
        groups="S",
    )
    examples = (
        Example(x="3", like="sequence of 2"),
        Example(x="2", like="nested sequence of ids<4", act="tanh"),
        Example(x="sequence of 2", like="nested sequence of 2x2", level="SUBSEQUENCE"),
    )


@each(Expand.y)
def expand_y(t, c, s, x):
    return x[s, c]


@gradient(Expand.x)
def expand_dx(s, c, dy, S_start):
    return sum(dy[t, c] for t in range(S_start[s], S_start[s + 1]))


@onnx(Expand)
def expand_onnx(graph, x, like, C):
    return graph.Expand(graph.Unsqueeze(x, [1]), graph.Concat(graph.Shape(like, start=0, end=2), [C], axis=0))


@layer(
    "seq_concat",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Paddle": "seqconcat"},
    terms=("concatenation of two sequences", "concatenate in time"),
    since=1,
)
class SeqConcat:
    """Concatenation of two sequences of each sample in time.

    `y[s] = x[s] followed by z[s]`; both have the same number of sequences. In nested sequences the sub-sequences are
    concatenated.
    """

    x = Input("P:S C", "first sequences", seq=(1, 2))
    z = Input("Q:S C", "second sequences", seq=(1, 2))
    y = Output("R:S C", "the concatenated sequences")
    examples = (
        Example(x="sequence of 3", z="sequence of 3"),
        Example(x="sequence of 1", z="sequence of 1", act="relu"),
    )


@starts(SeqConcat)
def seq_concat_starts(P_start, Q_start):
    return P_start + Q_start


@each(SeqConcat.y)
def seq_concat_y(r, c, s, x, z, P_start, Q_start, R_start):
    place = r - R_start[s]
    length = P_start[s + 1] - P_start[s]
    return x[P_start[s] + place, c] if place < length else z[Q_start[s] + place - length, c]


@gradient(SeqConcat.x)
def seq_concat_dx(p, c, s, dy, P_start, R_start):
    return dy[R_start[s] + p - P_start[s], c]


@gradient(SeqConcat.z)
def seq_concat_dz(q, c, s, dy, P_start, Q_start, R_start):
    return dy[R_start[s] + P_start[s + 1] - P_start[s] + q - Q_start[s], c]


@onnx(SeqConcat)
def seq_concat_onnx(graph, x, z, P_lengths, Q_lengths):
    both = graph.Concat(x, z, axis=1)
    places, length = graph.places(both), graph.Unsqueeze(P_lengths, [1])
    # The second sequence follows after the padding of the first, which is skipped.
    shift = graph.Sub(graph.Shape(x, start=1, end=2), length)
    chosen = graph.Where(graph.Less(places, length), places, graph.Add(places, shift))
    return onnx_rows(graph, both, chosen), graph.Add(P_lengths, Q_lengths)


def onnx_rows(graph, x, places):
    """The rows of padded sequences at some places; beyond the end, any rows."""
    last = graph.Sub(graph.Shape(x, start=1, end=2), 1)
    return graph.GatherND(x, graph.Unsqueeze(graph.Min(places, last), [2]), batch_dims=1)


@layer(
    "class_token",
    terms=("class token", "CLS token", "classification token", "learned first step"),
    since=1,
)
class ClassToken:
    """Class token: a learned step before the first step of each sequence, as in vision transformers.

    `y[s] = token followed by x[s]`. Attention collects the contents of the other steps in it, and `seq_first` after the
    last block gives one vector per sequence for classification (Devlin et al. 2018; Dosovitskiy et al. 2020). An empty
    sequence stays empty.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1,))
    token = Param("C", "the first step of each sequence", init=("gaussian", {"std": 0.02}))
    y = Output("R:S C", "sequences with one more step")
    examples = (Example(x="sequence of 3"), Example(x="sequence of 1"))


@starts(ClassToken)
def class_token_starts(T_start):
    return T_start + np.append(0, np.cumsum(np.diff(T_start) > 0))


@each(ClassToken.y)
def class_token_y(r, c, s, x, token, T_start, R_start):
    return token[c] if r == R_start[s] else x[T_start[s] + r - R_start[s] - 1, c]


@gradient(ClassToken.x)
def class_token_dx(t, c, s, dy, T_start, R_start):
    return dy[R_start[s] + 1 + t - T_start[s], c]


@gradient(ClassToken.token)
def class_token_dtoken(c, dy, R_start):
    return sum(dy[R_start[s], c] for s in range(len(R_start) - 1) if R_start[s] < R_start[s + 1])


@onnx(ClassToken)
def class_token_onnx(graph, x, token, T_lengths, C):
    first = graph.Expand(graph.Reshape(token, [1, 1, C]), graph.Concat(graph.Shape(x, start=0, end=1), [1, C], axis=0))
    return graph.Concat(first, x, axis=1), graph.Add(T_lengths, graph.Cast(graph.Greater(T_lengths, 0), to=7))


@layer(
    "seq_reshape",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Paddle": "seqreshape"},
    terms=("reshape a sequence", "reshapes each sequence"),
    since=1,
)
class SeqReshape:
    """Reshapes each sequence into steps of another width.

    The values of a sequence keep their order; `n` steps of width `C` become `n * C / size` steps. If `size` does not
    divide `C`, it must divide the number of values of each sequence of a batch, as in Paddle, or the batch is rejected.
    For samples that are not sequences see `to_sequence` and `resize`.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1, 2))
    y = Output("R:S K", "the same values in steps of width `size`")
    size = Int("embedding size", min=1, axis="K")
    examples = (
        Example(x="sequence of 6", size=2),
        Example(x="nested sequence of 4", size=4),
        Example(x="sequence of 2", size=1),
        Example(x="sequence of 2", size=6),
        Example(x="nested sequence of 6", size=4),
    )


@starts(SeqReshape)
def seq_reshape_starts(T_start, C, K):
    wrong = np.flatnonzero(T_start * C % K)  # where a sequence ends within a row, the next one begins there
    if wrong.size:
        length = T_start[wrong[0]] - T_start[wrong[0] - 1]
        raise ValueError(
            f"sequence {wrong[0] - 1} has {length} rows of {C}, whose {length * C} numbers `size`, {K}, does not divide"
        )
    return T_start * C // K


@each(SeqReshape.y)
def seq_reshape_y(r, k, x, C, K):
    return x[(r * K + k) // C, (r * K + k) % C]


@gradient(SeqReshape.x)
def seq_reshape_dx(t, c, dy, C, K):
    return dy[(t * C + c) // K, (t * C + c) % K]


@onnx(SeqReshape)
def seq_reshape_onnx(graph, x, T_lengths, C, K):
    return graph.Reshape(x, [0, -1, K]), graph.Div(graph.Mul(T_lengths, C), K)


@layer(
    "sub_seq",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Paddle": "subseq"},
    terms=("slice of each sequence", "subsequence"),
    since=1,
)
class SubSeq:
    """One slice of each sequence, given by its offset and its length.

    `y[s] = x[s][offset[s] : offset[s] + length[s]]`: as in Python's slices, steps beyond the end are left out. Paddle
    does not check the ranges. For several slices per sequence see `seq_slice`.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1,))
    offset = Input("S", "first step of the slice, from 0", kinds=("INT",))
    length = Input("S", "length of the slice", kinds=("INT",))
    y = Output("R:S C", "the slices")
    examples = (
        Example(x="sequence of 3", offset="ids<3", length="ids<4"),
        Example(x="sequence of 1", offset="ids<1", length="ids<9", act="tanh"),
    )


@starts(SubSeq)
def sub_seq_starts(T_start, offset, length):
    # An offset after the end gives an empty slice.
    rest = np.maximum(np.diff(T_start) - offset, 0)
    return np.concatenate([[0], np.cumsum(np.minimum(length, rest))])


@each(SubSeq.y)
def sub_seq_y(r, c, s, x, offset, T_start, R_start):
    return x[T_start[s] + offset[s] + r - R_start[s], c]


@gradient(SubSeq.x)
def sub_seq_dx(t, c, s, dy, offset, T_start, R_start):
    place = t - T_start[s] - offset[s]
    return dy[R_start[s] + place, c] if 0 <= place < R_start[s + 1] - R_start[s] else 0.0


@onnx(SubSeq)
def sub_seq_onnx(graph, x, offset, length, T_lengths):
    chosen = graph.Add(graph.places(x), graph.Unsqueeze(offset, [1]))
    return onnx_rows(graph, x, chosen), graph.Min(length, graph.Max(graph.Sub(T_lengths, offset), 0))


@layer(
    "eos_id",
    elsewhere={"Paddle": "eos_id"},
    terms=("end-of-sequence mask", "end of sequence", "EOS"),
    since=1,
)
class EosId:
    """End-of-sequence mask: 1 for each id that equals `eos_id`, else 0."""

    x = Input("N", "ids", kinds=("INT",), seq=(0, 1, 2))
    y = Output("N", "1 where the id is `eos_id`", kind="INT", size="B")
    eos_id = Int("end-of-sequence id", min=0)
    examples = (Example(x="ids<5", eos_id=2), Example(x="sequence of ids<3", eos_id=0))


@infer(EosId)
def eos_id_sizes(x, eos_id):
    require(eos_id < x.size, "eos_id", f"`eos_id` is {eos_id}, but the ids are smaller than {x.size}")
    return {"B": 2}


@each(EosId.y)
def eos_id_y(n, x, eos_id):
    return 1 if x[n] == eos_id else 0


@onnx(EosId)
def eos_id_onnx(graph, x, eos_id):
    return graph.Cast(graph.Equal(x, eos_id), to=7)


@layer(
    "kmax_seq_score",
    elsewhere={"Paddle": "kmax_seq_score"},
    terms=("top-k over a sequence", "top-k"),
    since=1,
)
class KmaxSeqScore:
    """Top-k over the steps of each sequence: the indices of the largest scores, -1 if the sequence is shorter.

    Indices count from 0 in each sequence; of equal scores the first comes first. As in Paddle they are floats without a
    gradient.
    """

    x = Input("T:S 1", "scores", seq=(1, 2), kinks=("ties",))
    y = Output("S K", "indices of the largest scores")
    beam_size = Int("number of indices, k", min=1, max=1024, default=1, axis="K")
    examples = (Example(x="sequence of 1", beam_size=3), Example(x="nested sequence of 1"))


@each(KmaxSeqScore.y)
def kmax_seq_score_y(s, k, x, S_start):
    for t in range(S_start[s], S_start[s + 1]):
        # The rank by counting, without memory for a sorted list; ties are ordered by position, so that ranks are
        # distinct.
        rank = 0
        for u in range(S_start[s], S_start[s + 1]):
            if exceeds(x[u], x[t]) or (u < t and not exceeds(x[t], x[u])):
                rank += 1
        if rank == k:
            return real(t - S_start[s])
    return -1.0


@onnx(KmaxSeqScore)
def kmax_seq_score_onnx(graph, x, T_mask, T_lengths, K):
    scores = graph.Where(T_mask, graph.Reshape(x, [0, 0]), -math.inf)
    # Sequences may be shorter than K.
    _, places = graph.TopK(graph.Pad(scores, [0, 0, 0, K], -math.inf), [K], axis=1, outputs=2)
    there = graph.Less(np.arange(K), graph.Unsqueeze(T_lengths, [1]))
    return graph.Cast(graph.Where(there, places, -1), to=1)

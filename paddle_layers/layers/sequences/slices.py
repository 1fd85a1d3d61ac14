"""Slicing and selection of sequences by indices that are fed or computed."""

import numpy as np

from paddle_layers.define import Bool, Example, Input, Output, Temp, each, gradient, layer, starts


@layer(
    "seq_slice",
    elsewhere={"Paddle": "seq_slice"},
    terms=("slices", "slice of a sequence"),
    since=1,
)
class SeqSlice:
    """Slices of each sequence, given by lists of first and last indices.

    Slice k of sequence s has the steps `first[s, k]` to `last[s, k]`, inclusive; indices count from 0 in each sequence,
    and -1 ends a list. With only one list, slices extend to the end of the sequence; or, if `select_first` is false,
    the list has the last indices, and slices start at 0. A slice whose last index is smaller than its first is empty;
    Paddle fails there.

    The output is a nested sequence whose sub-sequences are the slices. In Paddle, slices of sequences that are not
    nested become sequences of the batch; here a batch keeps its samples. For one slice per sequence see `sub_seq`.
    """

    x = Input("T:S:N C", "sequences of feature vectors", seq=(1, 2))
    first = Input("S K", "first indices of the slices, or last ones if `select_first` is false", seq=(0, 1), places="T")
    last = Input("S K", "last indices of the slices, inclusive", seq=(0, 1), places="T", optional=True)
    y = Output("R:Q:N C", "the slices")
    select_first = Bool("meaning of a single list: first indices (true) or last indices (false)", default=True)
    count = Temp("S", "number of slices of the sequence", kind="INT")
    run = Temp("S", "index of its first slice", kind="INT")
    begin = Temp("Q", "first step of the slice", kind="INT")
    examples = (
        Example(x="sequence of 3", first="2", last="2"),
        Example(x="sequence of 1", first="3", select_first=False),
        Example(x="nested sequence of 2", first="sequence of 2"),
        Example(x="nested sequence of 1", first="sequence of 1", last="sequence of 1"),
    )


@starts(SeqSlice)
def seq_slice_starts(first, last, select_first, T_start, S_start):
    # The first -1 ends a list.
    listed = np.logical_and.accumulate(first >= 0, axis=1)
    begin, end = (first, np.diff(T_start)[:, None] - 1) if select_first else (np.zeros_like(first), first)
    if last is not None:
        listed &= np.logical_and.accumulate(last >= 0, axis=1)
        begin, end = first, last
    rows = np.maximum(end - begin + 1, 0)[listed]
    runs = np.concatenate([[0], np.cumsum(listed.sum(axis=1))])
    return runs[S_start], np.concatenate([[0], np.cumsum(rows)])


@each(SeqSlice.count)
def seq_slice_count(s, first, last, K):
    runs = 0
    for k in range(K):
        # As in `seq_slice_starts`: the first -1 ends the list.
        if runs == k and first[s, k] >= 0.0 and (last is None or last[s, k] >= 0.0):
            runs += 1
    return runs


@each(SeqSlice.run)
def seq_slice_run(s, n, count, S_start, Q_start):
    # Each sub-sequence counts the slices before it: no concurrent update of a common counter.
    run = Q_start[n]
    for u in range(S_start[n], s):
        run += count[u]
    return run


@each(SeqSlice.begin)
def seq_slice_begin(q, n, first, last, select_first, count, run, T_start, S_start):
    begin = 0
    for s in range(S_start[n], S_start[n + 1]):
        if run[s] <= q < run[s] + count[s]:
            begin = T_start[s]
            if select_first or last is not None:
                begin += int(first[s, q - run[s]])
    return begin


@each(SeqSlice.y)
def seq_slice_y(r, c, q, x, begin, R_start):
    return x[begin[q] + r - R_start[q], c]


@gradient(SeqSlice.x)
def seq_slice_dx(t, c, s, dy, count, run, begin, R_start):
    total = 0.0
    for q in range(run[s], run[s] + count[s]):
        # A step may be in several slices.
        place = t - begin[q]
        if 0 <= place < R_start[q + 1] - R_start[q]:
            total += dy[R_start[q] + place, c]
    return total


@layer(
    "sub_nested_seq",
    elsewhere={"Paddle": "sub_nested_seq"},
    terms=("select sub-sequences", "sub-sequences"),
    since=1,
)
class SubNestedSeq:
    """Selects sub-sequences of each nested sequence by a list of indices.

    Sub-sequence k of the output's sequence n is number `selected[n, k]` of those of `x`, counted from 0; -1 ends the
    list. `kmax_seq_score` computes such lists. Paddle's layer is the same.
    """

    x = Input("T:S:N C", "nested sequences of feature vectors", seq=(2,))
    selected = Input("N K", "indices of the selected sub-sequences", places="S")
    y = Output("R:Q:N C", "the selected sub-sequences")
    sample = Temp("S", "sequence that contains the sub-sequence", kind="INT")
    begin = Temp("Q", "first step of the sub-sequence", kind="INT")
    examples = (
        Example(x="nested sequence of 2", selected="2"),
        Example(x="nested sequence of 1", selected="1"),
    )


@starts(SubNestedSeq)
def sub_nested_seq_starts(selected, T_start, S_start):
    listed = np.logical_and.accumulate(selected >= 0, axis=1)
    taken = (S_start[:-1, None] + selected)[listed]
    count = np.concatenate([[0], np.cumsum(listed.sum(axis=1))])
    return count, np.concatenate([[0], np.cumsum(np.diff(T_start)[taken])])


@each(SubNestedSeq.sample)
def sub_nested_seq_sample(s, n):
    return n


@each(SubNestedSeq.begin)
def sub_nested_seq_begin(q, n, selected, T_start, S_start, Q_start):
    return T_start[S_start[n] + int(selected[n, q - Q_start[n]])]


@each(SubNestedSeq.y)
def sub_nested_seq_y(r, c, q, x, begin, R_start):
    return x[begin[q] + r - R_start[q], c]


@gradient(SubNestedSeq.x)
def sub_nested_seq_dx(t, c, s, dy, sample, begin, R_start, Q_start):
    total = 0.0
    for q in range(Q_start[sample[s]], Q_start[sample[s] + 1]):
        place = t - begin[q]
        if 0 <= place < R_start[q + 1] - R_start[q]:
            total += dy[R_start[q] + place, c]
    return total

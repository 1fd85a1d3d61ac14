"""Cross-entropy over the beams of a beam search."""

import math

import numpy as np

from paddle_layers.define import Example, Input, Output, Temp, each, gradient, infer, layer, real, require, starts


@layer(
    "beam_expansion",
    elsewhere={"Paddle": "cross_entropy_over_beam"},
    terms=("beam search training", "globally normalized loss", "cross-entropy over beams"),
    since=1,
)
class BeamExpansion:
    """One expansion of a beam search with a globally normalized loss: the paths that are kept, and the loss so far.

    Each sequence of `x`, or each sub-sequence, belongs to a path that was kept, and its rows are the scores of the
    candidates that extend it. `selected` has the indices of those that are kept, usually from `kmax_seq_score`; -1 ends
    its list. The score of a path is the sum of its rows' scores, and the paths of a sample are the rows of `total`.
    `gold` is the index of the target candidate in the sub-sequence of the target path.

    `cost = log(sum over the paths of exp(total) + exp(gold), if the target path was dropped) - gold`, in which `gold`
    is the score of the target path (Andor et al. 2016: globally normalized, trained with early updates). If it was
    dropped, `path` is -1, and later expansions leave the cost unchanged; so they do if `gold` is an index that the
    sub-sequence does not have.

    The first expansion has three inputs; a later one also has the outputs of the previous one, in their order, and `x`
    has a sub-sequence for each path, as `seq_slice` returns. A `sum_cost` of the last `cost` is Paddle's
    `cross_entropy_over_beam`, which has the inputs of all expansions at once.
    """

    x = Input("T:S:N 1", "scores of the candidates that extend each path", seq=(1, 2))
    selected = Input("S K", "indices of the candidates kept for each path", seq=(0, 1), places="T")
    gold = Input("N", "index of the target candidate", kinds=("INT",))
    total_before = Input("S 1", "`total` of the previous expansion", seq=(0, 1), optional=True)
    path_before = Input("N 1", "`path` of the previous expansion", places="S", optional=True)
    cost_before = Input("N", "`cost` of the previous expansion", optional=True)
    total = Output("Q:N 1", "score of each path that is kept")
    path = Output("N 1", "index of the target path among them, -1 if it was dropped")
    cost = Output("N", "per-sample loss")
    count = Temp("S", "number of extensions of this path", kind="INT")
    run = Temp("S", "index of the first of them", kind="INT")
    sample = Temp("S", "sample of the path", kind="INT")
    parent = Temp("Q", "path that this one extends", kind="INT")
    row = Temp("Q", "row that extends it", kind="INT")
    gold_parent = Temp("N", "target path so far", kind="INT")
    gold_row = Temp("N", "row that extends it, or -1", kind="INT")
    gold_path = Temp("N", "index of the target path among those that are kept, or -1", kind="INT")
    gold_total = Temp("N", "score of the target path")
    norm = Temp("N", "log-sum-exp of the path scores")
    delta = Temp("Q", "gradient of the score of a path")
    gold_delta = Temp("N", "gradient of the score of the target path, if it was dropped")
    examples = (
        Example(x="sequence of 1", selected="2", gold="ids<3"),
        Example(
            x="nested sequence of 1", selected="sequence of 2", gold="ids<2",
            total_before="sequence of 1", path_before="1", cost_before="scalar",
        ),
    )  # fmt: skip


@infer(BeamExpansion)
def beam_expansion_inputs(total_before, path_before, cost_before):
    given = [one is not None for one in (total_before, path_before, cost_before)]
    require(
        all(given) or not any(given),
        "total_before",
        "`total_before`, `path_before` and `cost_before` go together: give all three",
    )
    return {}


@starts(BeamExpansion)
def beam_expansion_starts(selected, S_start):
    # Only indices before the first -1 of a row count.
    kept = np.logical_and.accumulate(selected >= 0, axis=1).sum(axis=1)
    return np.concatenate([[0], np.cumsum(kept)])[S_start]


@each(BeamExpansion.count)
def beam_expansion_count(s, selected, K):
    paths = 0
    for k in range(K):
        # As in `beam_expansion_starts`: the first -1 ends the list.
        if paths == k and selected[s, k] >= 0.0:
            paths += 1
    return paths


@each(BeamExpansion.run)
def beam_expansion_run(s, n, count, S_start, Q_start):
    run = Q_start[n]
    for u in range(S_start[n], s):
        run += count[u]
    return run


@each(BeamExpansion.sample)
def beam_expansion_sample(s, n):
    return n


@each(BeamExpansion.parent, BeamExpansion.row)
def beam_expansion_parent(q, n, selected, count, run, T_start, S_start):
    parent = 0
    row = 0
    for s in range(S_start[n], S_start[n + 1]):
        if run[s] <= q < run[s] + count[s]:
            parent = s
            row = T_start[s] + int(selected[s, q - run[s]])
    return parent, row


@each(BeamExpansion.total)
def beam_expansion_total(q, x, parent, row, total_before):
    return x[row[q]] if total_before is None else x[row[q]] + total_before[parent[q]]


@each(BeamExpansion.gold_parent)
def beam_expansion_gold_parent(n, path_before, S_start):
    place = 0 if path_before is None else int(path_before[n])
    return S_start[n] + place if 0 <= place < S_start[n + 1] - S_start[n] else -1


@each(BeamExpansion.gold_row)
def beam_expansion_gold_row(n, gold, gold_parent, T_start):
    s = gold_parent[n]
    if s < 0:
        return -1
    return T_start[s] + gold[n] if gold[n] < T_start[s + 1] - T_start[s] else -1


@each(BeamExpansion.gold_total)
def beam_expansion_gold_total(n, x, total_before, gold_parent, gold_row):
    if gold_row[n] < 0:
        return 0.0
    return x[gold_row[n]] if total_before is None else x[gold_row[n]] + total_before[gold_parent[n]]


@each(BeamExpansion.gold_path)
def beam_expansion_gold_path(n, row, gold_row, Q_start):
    for q in range(Q_start[n], Q_start[n + 1]):
        if row[q] == gold_row[n]:
            return q - Q_start[n]
    return -1


@each(BeamExpansion.path)
def beam_expansion_path(n, gold_path):
    return real(gold_path[n])


@each(BeamExpansion.norm)
def beam_expansion_norm(n, total, gold_path, gold_total, gold_row, Q_start):
    if gold_row[n] < 0:
        return 0.0
    # Log-sum-exp relative to the maximum, which may be the gold path, so that one term is 1 and none overflows.
    peak = gold_total[n]
    for q in range(Q_start[n], Q_start[n + 1]):
        peak = max(peak, total[q])
    # A target path that was dropped is not among the totals, but is part of the normalization.
    mass = math.exp(gold_total[n] - peak) if gold_path[n] < 0 else 0.0
    for q in range(Q_start[n], Q_start[n + 1]):
        mass += math.exp(total[q] - peak)
    return peak + math.log(mass)


@each(BeamExpansion.cost)
def beam_expansion_cost(n, norm, gold_total, gold_row, cost_before):
    if gold_row[n] >= 0:
        return norm[n] - gold_total[n]
    return 0.0 if cost_before is None else cost_before[n]


@each(BeamExpansion.delta)
def beam_expansion_delta(q, n, dtotal, dcost, total, norm, gold_path, gold_row, Q_start):
    if gold_row[n] < 0:
        return dtotal[q]
    # Softmax over the paths of the sample: probability minus 1 for the target path.
    right = 1.0 if gold_path[n] == q - Q_start[n] else 0.0
    return dtotal[q] + dcost[n] * (math.exp(total[q] - norm[n]) - right)


@each(BeamExpansion.gold_delta)
def beam_expansion_gold_delta(n, dcost, norm, gold_path, gold_total, gold_row):
    kept = gold_row[n] < 0 or gold_path[n] >= 0
    # Otherwise `delta` of the target path, which was kept, includes it.
    return 0.0 if kept else dcost[n] * (math.exp(gold_total[n] - norm[n]) - 1.0)


@gradient(BeamExpansion.x)
def beam_expansion_dx(t, s, delta, gold_delta, row, run, count, sample, gold_row):
    total = gold_delta[sample[s]] if gold_row[sample[s]] == t else 0.0
    for q in range(run[s], run[s] + count[s]):
        if row[q] == t:
            total += delta[q]
    return total


@gradient(BeamExpansion.total_before)
def beam_expansion_dtotal_before(s, delta, gold_delta, run, count, sample, gold_parent, gold_row):
    here = gold_parent[sample[s]] == s and gold_row[sample[s]] >= 0
    total = gold_delta[sample[s]] if here else 0.0
    for q in range(run[s], run[s] + count[s]):
        total += delta[q]
    return total


@gradient(BeamExpansion.cost_before)
def beam_expansion_dcost_before(n, dcost, gold_row):
    return dcost[n] if gold_row[n] < 0 else 0.0

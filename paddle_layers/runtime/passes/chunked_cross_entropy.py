"""Chunked cross-entropy: the scores (logits) of very many classes are never materialized for all rows at once.

A fully connected layer whose scores only a `softmax_with_loss` reads runs together with it, chunk by chunk of the
rows, and the backward pass computes the scores of a chunk again. 4,096 tokens with 50,257 classes have 785 MiB of
scores, which their gradients replace; a chunk has 64 MiB. The values are the same except for rounding: the gradients of
the weight and of the bias are sums over chunks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import partial
from typing import NamedTuple

import numpy as np

from paddle_layers.runtime.graph.domains import RowsOf
from paddle_layers.runtime.graph.graph import Graph, Op
from paddle_layers.runtime.graph.steps import Chunks
from paddle_layers.runtime.launches.kernel_selection import choose

from . import runs

LAYERS = ("fc", "trans_fc")
"""Layers that compute scores."""
CHUNK_BYTES = 1 << 26
"""Maximum size of the scores of a chunk."""
# The weight is read, and its gradient read and written, once per chunk: with 768 columns that takes 5 % of the time of
# the products with 320 rows of 50,257 classes.
FEWEST = 64
"""Minimum number of rows of a chunk."""
# 1 GiB of scores: computing them again adds a third to the products of this layer, and 10 % to those of GPT-2.
LEAST = 16
"""Minimum number of chunks."""


class ChunkedLoss(NamedTuple):
    """A layer of scores, its loss, and the chunks of rows in which both run."""

    scores: Op
    loss: Op
    chunks: Chunks


def find_chunked_losses(graph: Graph, read: Collection[str], dtype: str) -> list[ChunkedLoss]:
    """The losses of a graph that run in chunks; `read` are values that are read outside of the launches."""
    if not runs("chunked cross-entropy"):
        return []
    readers = Counter(value for op in graph.ops for value in op.inputs)
    makers = {value: op for op in graph.ops for value in op.outputs}
    losses = []
    for op in graph.ops:
        scores = op.inputs[0] if op.layer.name == "softmax_with_loss" else None
        maker = makers.get(scores) if scores is not None else None
        if scores is None or maker is None or readers[scores] > 1 or scores.name in {*read, *graph.losses}:
            continue
        size = max(FEWEST, CHUNK_BYTES // (scores.type.columns * np.dtype(dtype).itemsize) // FEWEST * FEWEST)
        chunks = Chunks(scores.domain, size)
        if _fits(maker, op) and choose(partial(_are_enough, chunks)):
            losses.append(ChunkedLoss(maker, op, chunks))
    return losses


def _are_enough(chunks: Chunks, rows: RowsOf) -> bool:
    """Whether a batch has so many chunks that they are worth it."""
    return rows(chunks.rows) >= LEAST * chunks.size


def _fits(scores: Op, loss: Op) -> bool:
    """Whether both compute a row from a row, outside of loops, and the config asks for no gradient of the scores."""
    dense = [value.type.kind for value in scores.inputs] == ["DENSE"]
    vectors = len(scores.outputs[0].type.dims) == 1 and len(loss.inputs[0].type.dims) == 1
    # The rows of the label are equal, and have the domain of the scores here.
    same = {*scores.rows.values(), *loss.rows.values()} == {scores.outputs[0].domain}
    outside = scores.steps is None and loss.steps is None
    return scores.layer.name in LAYERS and dense and vectors and same and outside and not any(loss.propagate)

"""References of sequence evaluators: by lists of chunks."""

from itertools import pairwise

import numpy as np

SCHEMES = {"PLAIN": "I", "IOB": "BI", "IOE": "IE", "IOBES": "BIES"}


def spans(starts):
    return [range(first, last) for first, last in pairwise(starts)]


def seq_classification_error(inputs, params, attributes):
    """A row is right where no other class scores as much as the right one."""
    x, label = inputs["x"], inputs["label"]
    right = (x >= np.take_along_axis(x, label[:, None], axis=1)).sum(axis=1) == 1
    filled = [span for span in spans(inputs["x.starts"][-1]) if span]
    wrong = sum(not all(right[list(span)]) for span in filled)
    return {"report": {"": np.divide(wrong, len(filled))}}


def chunks(numbers, span, attributes):
    """All chunks (first row, last row, type) among the numbers of a sequence, by looking at every stretch of rows."""
    tags = SCHEMES[attributes["scheme"]]
    outside = attributes["num_chunk_types"] * len(tags)
    kinds = {t: (None if numbers[t] == outside else numbers[t] // len(tags)) for t in span}
    tag = {t: tags[numbers[t] % len(tags)] for t in span}

    def cut(t):
        """Whether a chunk boundary lies between the rows t - 1 and t."""
        if t not in kinds or t - 1 not in kinds or kinds[t - 1] != kinds[t]:
            return True
        return tag[t - 1] in "ES" or tag[t] in "BS"

    stretches = [(a, b) for a in span for b in span if a <= b and cut(a) and cut(b + 1)]
    whole = [(a, b) for a, b in stretches if not any(cut(t) for t in range(a + 1, b + 1))]
    excluded = (None, *(attributes["excluded_chunk_types"] or ()))
    return {(a, b, kinds[a]) for a, b in whole if kinds[a] not in excluded}


def chunk(inputs, params, attributes):
    found, wanted = set(), set()
    for span in spans(inputs["x.starts"][-1]):
        found |= chunks(inputs["x"], span, attributes)
        wanted |= chunks(inputs["label"], span, attributes)
    shares = zip((1, 1, 2), (len(found), len(wanted), len(found) + len(wanted)), strict=True)
    measures = [np.divide(factor * len(found & wanted), whole) for factor, whole in shares]
    return {"report": dict(zip(("precision", "recall", "F1"), measures, strict=True))}


REFERENCES = {
    "seq_classification_error": seq_classification_error,
    "chunk": chunk,
}

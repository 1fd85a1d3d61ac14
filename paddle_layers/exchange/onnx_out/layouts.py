"""Layouts of values: concatenated rows, or padded sequences with their lengths.

Layers see concatenated rows; those of sequences see each sequence as one row, padded to the longest. Inputs and outputs
of the model are padded: `[N, T, ...]`, and `[N, S, T, ...]` if sequences are nested.
"""

from __future__ import annotations

from paddle_layers.runtime.graph.domains import Domain, Value

from .graph import OnnxGraph, OnnxTensor


class Layouts:
    """The tensors of each value; layouts are created on demand, so unused ones add no nodes."""

    def __init__(self, graph: OnnxGraph) -> None:
        self.graph = graph
        self._rows: dict[Value, OnnxTensor] = {}
        self._padded: dict[Value, OnnxTensor] = {}
        self._shapes: dict[Domain, OnnxTensor] = {}
        """The leading axes of padded tensors: samples, sub-sequences, steps."""
        self._lengths: dict[Domain, OnnxTensor] = {}
        """Length of each sequence, in the layout of the enclosing level."""
        self._masks: dict[tuple[Domain, Domain], OnnxTensor] = {}

    def inside(self, graph: OnnxGraph) -> Layouts:
        """The layouts in a subgraph: the same tensors; new ones stay in it."""
        # Copies of the dictionaries: a body may read outer tensors, but what it makes does not exist outside of it.
        made = Layouts(graph)
        made._rows, made._padded, made._masks = dict(self._rows), dict(self._padded), dict(self._masks)
        made._shapes, made._lengths = dict(self._shapes), dict(self._lengths)
        return made

    # ---- what is there

    def put_rows(self, value: Value, tensor: OnnxTensor) -> None:
        """A value as rows."""
        self._rows[value] = _typed(tensor, value)

    def put_padded(self, value: Value, tensor: OnnxTensor) -> None:
        """A value as the model's inputs and outputs have it."""
        self._padded[value] = _typed(tensor, value)

    def put_sequences(self, value: Value, tensor: OnnxTensor) -> None:
        """A value with an axis of rows after the axis of the groups."""
        if value.domain.level == 1:
            self.put_padded(value, tensor)
        else:
            self.put_rows(value, self._reshaped(tensor, -1, value))

    def put_domain(self, domain: Domain, shape: OnnxTensor, lengths: OnnxTensor) -> None:
        """The sizes of a padded tensor's axes of rows, and the lengths of its sequences, one after the other."""
        self._shapes[domain], self._lengths[domain] = shape, lengths

    def put_own_domain(self, domain: Domain, tensor: OnnxTensor, lengths: OnnxTensor) -> None:
        """The dynamic rows of a layer: an axis after that of the groups."""
        shape = self.graph.Shape(tensor, start=0, end=2)
        if domain.level == 2 and domain.parent is not None:
            shape = self.graph.Concat(self._shapes[domain.parent], self.graph.Slice(shape, [1], [2]), axis=0)
        self.put_domain(domain, shape, lengths)

    # ---- what is asked for

    def rows(self, value: Value) -> OnnxTensor:
        """A value as rows, with the padding after the ends of sequences."""
        if value not in self._rows:
            self._rows[value] = self._reshaped(self._padded[value], -1, value, "/rows")
        return self._rows[value]

    def padded(self, value: Value) -> OnnxTensor:
        """A value as the model's outputs have it."""
        if not value.domain.level:
            return self.rows(value)
        if value not in self._padded:
            shape = self._joined(self._shapes[value.domain], value)
            first = len(self.graph.nodes)
            # An empty batch or one of empty sequences has sizes of 0, which otherwise mean "copy the axis".
            made = self.graph.Reshape(self._rows[value], shape, allowzero=1)
            self._padded[value] = _typed(self.graph.rename(made, value.name, first), value)
        return self._padded[value]

    def sequences(self, value: Value, group: Domain) -> OnnxTensor:
        """A value with an axis of rows after that of the group's rows."""
        if value.domain.level == 1:
            return self.padded(value)
        return self._reshaped(self.rows(value), self._width(value.domain, group), value)

    def lengths(self, domain: Domain, group: Domain) -> OnnxTensor:
        """Rows of each sequence of a group."""
        if group is domain.parent:
            return self._lengths[domain]
        counts: OnnxTensor = self.graph.Cast(self.mask(domain, group), to=7)
        found: OnnxTensor = self.graph.ReduceSum(counts, [1], keepdims=0)
        return found

    def mask(self, domain: Domain, group: Domain) -> OnnxTensor:
        """Mask of the real rows of each sequence of a group."""
        if (domain, group) not in self._masks:
            # The width comes from the tensor, not from the largest length: a caller may pad more than necessary.
            steps = self.graph.Squeeze(self._last(domain))
            places = self.graph.Range(0, steps, 1)
            made = self.graph.Less(places, self.graph.Unsqueeze(self._lengths[domain], [1]))
            if group is not domain.parent:
                made = self.graph.Reshape(made, self.graph.Concat([-1], self._width(domain, group), axis=0))
            self._masks[domain, group] = made
        return self._masks[domain, group]

    def all_lengths(self, domain: Domain) -> list[tuple[str, OnnxTensor]]:
        """The inputs with the lengths of a padded tensor, by name suffix."""
        if domain.level == 1:
            return [("lengths", self._lengths[domain])]
        assert domain.parent is not None
        shape = self.graph.Slice(self._shapes[domain], [0], [2])
        inner = self.graph.Reshape(self._lengths[domain], shape, allowzero=1)
        return [("lengths", self._lengths[domain.parent]), ("sub_lengths", inner)]

    # ---- sizes

    def _last(self, domain: Domain) -> OnnxTensor:
        found: OnnxTensor = self.graph.Slice(self._shapes[domain], [domain.level], [domain.level + 1])
        return found

    def _width(self, domain: Domain, group: Domain) -> OnnxTensor:
        """Length of a group's longest sequence, with space for the padding inside."""
        if group is domain.parent:
            return self._last(domain)
        inner = self.graph.Slice(self._shapes[domain], [1], [3])
        found: OnnxTensor = self.graph.ReduceProd(inner, [0], keepdims=1)
        return found

    def _joined(self, sizes: OnnxTensor, value: Value) -> OnnxTensor:
        found: OnnxTensor = self.graph.Concat(sizes, list(value.type.dims), axis=0) if value.type.dims else sizes
        return found

    def _reshaped(self, tensor: OnnxTensor, width: int | OnnxTensor, value: Value, ending: str = "") -> OnnxTensor:
        """Rows, or with a width an axis of groups before them."""
        if isinstance(width, OnnxTensor):
            shape = self._joined(self.graph.Concat([-1], width, axis=0), value)
        else:
            shape = self.graph.constant([-1, *value.type.dims])
        first = len(self.graph.nodes)
        made = self.graph.Reshape(tensor, shape)
        if ending:
            made = self.graph.rename(made, self.graph.unique(value.name + ending), first)
        return _typed(made, value)


def _typed(tensor: OnnxTensor, value: Value) -> OnnxTensor:
    return OnnxTensor(tensor.name, value.type.dims, value.type.size, tensor.array)

"""Fully connected layers, embeddings, and normalization of rows."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from .fusion_patterns import product
from .layers import NotSupported, Weight, weight
from .operators import OperatorContext, RowView, needed, operator, view_of
from .parts import constant_of_samples, cut
from .selections import is_value, within_sample
from .sequence_rows import end_row
from .sizes import whole
from .symbolic_values import (
    ConstantValue,
    DynamicConstant,
    Operand,
    PositionLookup,
    RepeatedConstant,
    SampleIndices,
    StepPositions,
    View,
    atoms_of,
    axis_for,
    is_single,
    of_one_batch,
    reshaped,
    size_of,
)


def fc_of(
    step: OperatorContext, x: View, array: Any, source: tuple[str, ...], bias: Weight | None, suffix: str = ""
) -> View:
    """A fully connected layer, whose `array` has one row per element of the last axes of `x`, in order."""
    x = step.plain(x)
    count = step.lead(x)
    rest = x.layout[count:]
    dims = [size_of(axis) for axis in rest]
    step.refuse_unless(len(rest) > 0, "input has no feature axis")
    step.refuse_unless(
        array.shape[0] == dims[-1], f"weight has {array.shape[0]} rows, expected {dims[-1]}, the number of features"
    )
    settings: dict[str, Any] = {"size": int(array.shape[1]), "bias": bias is not None}
    # Several axes are left: the layer is applied along the last one, to every position.
    if any(size != 1 for size in dims[:-1]):
        rows = step.rows(x)
        weights = {"weight": weight(array, source), **({"bias": bias} if bias else {})}
        return step.made(
            step.layer("fc", rows.value, weights=weights, axis=-1, suffix=suffix, **settings).outputs[0], rows
        )
    atoms = atoms_of(rest)
    if atoms != x.inside:  # the numbers of a row stay where they are: the rows of the weight are sorted instead
        sizes = [whole(atom.size) for atom in atoms]
        # The weights are permuted once here; permuting the values would be a layer that runs in every step.
        array = array.reshape(*sizes, -1).transpose(*[atoms.index(atom) for atom in x.inside], len(atoms))
        array = array.reshape(math.prod(sizes), -1)
        # The source is part of the identity of a weight: two uses are only shared if the same was done to both.
        source = (*source, "sorted") if source else ()
    weights = {"weight": weight(array, source), **({"bias": bias} if bias else {})}
    made = step.layer("fc", x.value, weights=weights, suffix=suffix, **settings)
    lead = (*x.layout[:count], *(() for _ in dims[:-1]))
    return view_of(made.outputs[0], x.rows, lead)


@operator("Gemm")
def gemm(step: OperatorContext, x: Any, matrix: Any, bias: Any = None) -> Operand:
    """A map with a bias."""
    view, given = step.view(x), step.numbers(matrix, "weight")
    step.refuse_unless(not step.attribute("transA", 0), "`transA` is not supported")
    rank = len(view.layout) - step.additional_axes
    step.refuse_unless(given.array.ndim == 2 and rank == 2, "input and weight must be matrices")
    source = given.source
    array = given.array
    if step.attribute("transB", 0):
        array, source = array.T, (*source, "Transpose") if source else ()
    alpha, beta = step.attribute("alpha", 1.0), step.attribute("beta", 1.0)
    if alpha != 1.0:
        # Without a source, as a constant: a scaled weight is no longer the initializer that others may share.
        array, source = array * np.float32(alpha), ()
    own = None
    if bias is not None:
        numbers = step.numbers(bias, "bias")
        step.refuse_unless(
            # A Gemm broadcasts its bias: one number is legal for all outputs.
            numbers.array.size in (1, array.shape[1]),
            f"bias must have one value per output ({array.shape[1]}), got {numbers.array.size}",
        )
        spread = np.broadcast_to(numbers.array.reshape(-1), array.shape[1:])
        own = weight(
            spread * np.float32(beta), numbers.source if beta == 1.0 and numbers.array.size == spread.size else ()
        )
    return fc_of(step, view, array, source, own)


@operator("MatMul", constants=True)
def matmul(step: OperatorContext, x: Any, y: Any) -> Operand:
    """A map without a bias; of two values, or with a matrix for each head, a product of matrices."""
    if any(isinstance(one, View) and not one.has_batch for one in (x, y)):
        made = step.view(matmul(step, *(_with_first_batch(one) for one in of_one_batch(x, y))))
        return replace(made, layout=made.layout[1:])
    if isinstance(y, ConstantValue) and y.array.ndim == 2:
        given = step.numbers(y, "weight")
        if isinstance(x, DynamicConstant) and x.number == 0:
            return replace(x, layout=(*x.layout[:-1], axis_for(given.array.shape[-1])))
        return fc_of(step, step.view(x), given.array, given.source, None)
    if isinstance(x, View) and isinstance(y, ConstantValue):
        return _by_matrices(step, step.view(x), y)
    if isinstance(y, View) and isinstance(x, ConstantValue):
        return product(step, _matrices(step, y, x), y)
    return product(step, x, y)


def _with_first_batch(given: Any) -> Any:
    return replace(given, layout=(given.order[:1], *given.layout)) if isinstance(given, View) else given


def _by_matrices(step: OperatorContext, x: View, y: ConstantValue) -> Operand:
    """A product with a matrix for each of the axes in front, which may come before those of the samples."""
    names = [bool(atom.name) for atom in x.layout[-2]] if len(x.layout) > 2 else []
    if not any(names):
        return product(step, x, _matrices(step, x, y))
    batch, other = (tuple(atom for atom in x.layout[-2] if bool(atom.name) is named) for named in (True, False))
    moved = replace(x, layout=(batch, *x.layout[:-2], other, x.layout[-1]))
    made = step.view(product(step, moved, _matrices(step, moved, y)))
    first, *lead, rest, columns = made.layout
    step.refuse_unless(names == sorted(names) or names[::-1] == sorted(names), "the axis of samples is among others")
    return replace(made, layout=(*lead, (*first, *rest) if names[0] else (*rest, *first), columns))


def _matrices(step: OperatorContext, view: View, constant: ConstantValue) -> View:
    """Constant matrices with the axes before them that the value has."""
    array, rank = step.numbers(constant, "weight").array, len(view.layout)
    fits = 2 <= array.ndim <= rank and rank > 2
    step.refuse_unless(fits, f"weight has {array.ndim} axes, expected 2 to {rank}")
    full = [1, *map(whole, view.shape[1:-2]), *array.shape[-2:]]
    array = array.reshape((1,) * (rank - array.ndim) + array.shape)
    fits = all(size in (1, own) for size, own in zip(array.shape, full, strict=True))
    step.refuse_unless(fits, f"a product of {list(view.shape)} and {list(constant.array.shape)} is not supported")
    return _of_samples(step, view, 0, ConstantValue(np.broadcast_to(array, full), constant.source))


def _of_samples(step: OperatorContext, view: View, place: int, constant: ConstantValue) -> View:
    """A constant, whose first axis has size 1, with the axis of samples that a value has at a place."""
    rest = atoms_of(view.layout[:place] + view.layout[place + 1 :])
    layout = (view.layout[place], *((),) * (constant.array.ndim - 2), rest)
    return constant_of_samples(step, constant, replace(view, layout=layout))


@operator("Einsum", constants=True)
def einsum(step: OperatorContext, x: Any, *others: Any) -> Operand:
    """A product of matrices: labels are axes of samples, of the rows, of the columns, or those that are summed."""
    equation = str(step.attribute("equation", "")).replace(" ", "")
    left, right, found = _labels(step, equation, len(others) + 1)
    y = others[0]
    if isinstance(x, ConstantValue):
        x, y, left, right = y, x, right, left
    view = step.view(x)
    step.refuse_unless(len(left) == len(view.layout), f"`{equation}` does not fit a value of {len(view.layout)} axes")
    rank = y.array.ndim if isinstance(y, ConstantValue) else len(y.layout)
    step.refuse_unless(rank == len(right), f"`{equation}` does not fit a value of {rank} axes")
    if isinstance(y, ConstantValue) and any(label in right and label in found for label in left):
        right, y = _for_each_sample(step, view, left, right, y)
    batch, over, one, other = (
        [label for label in left if label in right and label in found],
        [label for label in left if label in right and label not in found],
        [label for label in left if label not in right],
        [label for label in right if label not in left],
    )
    product_ = over and sorted(found) == sorted([*batch, *one, *other])
    step.refuse_unless(product_, f"`{equation}` is no product of two matrices")
    sizes = dict(zip(right, y.array.shape if isinstance(y, ConstantValue) else y.shape, strict=True))
    sizes |= zip(left, view.shape, strict=True)
    if isinstance(y, ConstantValue):
        given, order = step.numbers(y, "matrix"), [right.index(label) for label in (*over, *other)]
        array = given.array.transpose(order).reshape(math.prod(whole(sizes[label]) for label in over), -1)
        source = (*given.source, "Transpose") if given.source and order != sorted(order) else given.source
        made: Operand = fc_of(step, _in_order(view, left, [[label] for label in one] + [over]), array, source, None)
    else:
        apart = [[label] for label in batch]
        second = _in_order(step.view(y), right, [*apart, over, other])
        made = product(step, _in_order(view, left, [*apart, one, over]), second)
    if not isinstance(made, View):
        raise NotSupported("Einsum is not supported in attention over steps")
    labels = [*batch, *one, *other]
    cut = needed(reshaped(made, [sizes[label] for label in labels]), f"the axes of `{equation}` cannot be restored")
    return _in_order(cut, labels, [[label] for label in found])


def _for_each_sample(
    step: OperatorContext, view: View, left: list[str], right: list[str], y: ConstantValue
) -> tuple[list[str], View]:
    """A constant with axes that it shares with the result, such as relative positions, and an axis of samples."""
    sample = next(label for label, axis in zip(left, view.layout, strict=True) if any(atom.name for atom in axis))
    step.refuse_unless(sample not in right, "a different constant per sample is not supported")
    return [sample, *right], _of_samples(step, view, left.index(sample), ConstantValue(y.array[None], y.source))


def _labels(step: OperatorContext, equation: str, operands: int) -> tuple[list[str], list[str], list[str]]:
    given, arrow, found = equation.partition("->")
    parts = [list(part) for part in given.split(",")]
    step.refuse_unless(operands == len(parts) == 2 and arrow, "only Einsum of two operands, with `->`, is supported")
    whole_ = all(label.isalpha() for label in (*parts[0], *parts[1], *found))
    once = all(len(set(labels)) == len(labels) for labels in (*parts, found))
    step.refuse_unless(whole_ and once, f"`{equation}` is not supported")
    return parts[0], parts[1], list(found)


def _in_order(view: View, labels: list[str], wanted: list[list[str]]) -> View:
    """The value with an axis for each group of labels."""
    axes = dict(zip(labels, view.layout, strict=True))
    return replace(view, layout=tuple(atoms_of(tuple(axes[label] for label in group)) for group in wanted))


@operator("DFT")
def fourier_transform(step: OperatorContext, x: Any, length: Any = None, axis: Any = None) -> Operand:
    """Discrete Fourier transform as a product with its matrix; the last axis has real and imaginary parts."""
    view = step.view(x)
    given = step.attribute("axis", 1) if step.opset < 20 else -2 if axis is None else step.integers(axis, "axis")[0]
    place, (*_, parts) = step.axis(given, len(view.layout)), view.shape
    size = view.shape[place]
    fits = length is None and isinstance(size, int) and parts in (1, 2) and place < len(view.layout) - 1
    step.refuse_unless(fits, "only a transform of all elements of an axis of fixed size is supported")
    both = step.attribute("inverse", 0) and step.attribute("onesided", 0)
    step.refuse_unless(not both, "the inverse of a one-sided transform is not supported")
    size = whole(size)
    count = size // 2 + 1 if step.attribute("onesided", 0) else size
    step.budget.check(4 * size * count)
    factors = np.exp(-2j * np.pi * np.outer(np.arange(size), np.arange(count)) / size)
    if step.attribute("inverse", 0):
        factors = factors.conj() / size
    real, imaginary = (np.stack([one.real, one.imag], -1) for one in (factors, 1j * factors))
    matrix = np.stack([real, imaginary][: whole(parts)], 1).reshape(size * whole(parts), 2 * count)
    others = [at for at in range(len(view.layout) - 1) if at != place]
    together = (*view.layout[place], *view.layout[-1])
    rows = step.rows(replace(view, layout=(*(view.layout[at] for at in others), together)))
    weights = {"weight": Weight(matrix.astype(np.float32), fixed=True)}
    value = step.layer("fc", rows.value, weights=weights, size=2 * count, bias=False, axis=-1).outputs[0]
    found = needed(reshaped(step.made(value, rows), [*(view.shape[at] for at in others), count, 2]), "unsupported axes")
    *axes, own, last = found.layout
    return replace(found, layout=(*axes[:place], own, *axes[place:], last))


@operator("Gather", constants=True)
def gather(step: OperatorContext, table: Any, places: Any) -> Operand:
    """Rows of a table for ids; the first or the last row of sequences; one of the parts of an axis."""
    axis = step.attribute("axis", 0)
    if isinstance(places, SampleIndices) and isinstance(table, (RepeatedConstant, View)):
        step.refuse_unless(axis in (0, -len(table.layout)), "elements of samples must be chosen along the first axis")
        return within_sample(step, step.view(table) if isinstance(table, View) else table, places)
    if isinstance(table, ConstantValue):
        return _embedding(step, step.numbers(table, "table"), places, axis)
    given = step.numbers(places, "index")
    view = step.view(table)
    axis = step.axis(axis, len(view.layout))
    if given.array.size != 1:
        return _elements(step, view, given.array, axis)
    place, keep = int(given.array.reshape(-1)[0]), given.array.ndim > 0
    size = view.shape[axis]
    if view.layout[axis] and all(map(is_single, view.layout[axis])):
        step.refuse_unless(place in (0, -1), f"index {place} is out of range for an axis of size 1")
        return view if keep else replace(view, layout=(*view.layout[:axis], *view.layout[axis + 1 :]))
    # Along the axis of steps, only the ends are the same for sequences of every length.
    if any(atom.name for atom in view.layout[axis]):
        last = place == -1 or (isinstance(size, int) and place == size - 1 and place > 0)
        step.refuse_unless(
            last or place == 0, f"only the first or last step of a sequence can be selected, got index {place}"
        )
        return end_row(step, view, axis, "last" if last else "first", keep=keep)
    step.refuse_unless(
        isinstance(size, int) and -size <= place < size, f"index {place} is out of range for an axis of size {size}"
    )
    assert isinstance(size, int)
    place %= size
    sizes = [one for one in (place, 1, size - place - 1) if one]
    part = (
        view
        if size == 1
        # A short axis is cut into all of its parts at once, since models that take one usually take the others, too
        # (query, key and value); of a long one, only the part is cut out.
        else cut(step, view, axis, [1] * size if size <= 8 else sizes)[place if size <= 8 else min(place, 1)]
    )
    return part if keep else replace(part, layout=(*part.layout[:axis], *part.layout[axis + 1 :]))


def _elements(step: OperatorContext, view: View, places: Any, axis: int) -> Operand:
    """Several elements of an axis of a sample."""
    rows, size = step.rows(view), size_of(view.layout[axis])
    step.refuse_unless(
        isinstance(size, int) and ((places >= -size) & (places < size)).all() and places.size,
        f"an index is out of range for an axis of size {size}",
    )
    at = step.axis_of_row(axis, rows)
    chosen = [int(place) % whole(size) for place in places.reshape(-1)]
    made = step.made(step.layer("gather", rows.value, indices=chosen, axis=at).outputs[0], rows)
    found = reshaped(made, [*made.shape[:axis], *places.shape, *made.shape[axis + 1 :]])
    return needed(found, "the indices have axes that cannot be restored")


def _embedding(step: OperatorContext, table: ConstantValue, places: Any, axis: int) -> Operand:
    step.refuse_unless(
        axis in (0, -table.array.ndim) and table.array.ndim == 2,
        "an embedding lookup must select along axis 0 of a matrix",
    )
    height, width = table.array.shape
    if isinstance(places, StepPositions):
        if places.most is not None and places.most < height - 1:  # the model has the last row for all that follow
            table = ConstantValue(table.array[: places.most + 1], (*table.source, "Slice") if table.source else ())
        return PositionLookup((*places.layout, axis_for(width)), table=table)
    if isinstance(places, RepeatedConstant):  # the same ids for every sample, such as token types
        ids = needed(places.sample(), "the batch axis must come first").array
        step.refuse_unless(((ids >= -height) & (ids < height)).all(), f"an index is out of range for {height} rows")
        if (ids == ids.reshape(-1)[0]).all():
            ids = ids.reshape(-1)[:1].reshape((1,) * ids.ndim)
        step.budget.check(ids.size * width)
        return ConstantValue(table.array[ids], (*table.source, "Gather") if table.source else ())
    if isinstance(places, View) and is_value(places):
        return _embedding_of_tokens(step, table, places)
    view = step.view(places, "index")
    value = view.value
    step.refuse_unless(value.type.kind == "INT", "indices must be integers")
    step.refuse_unless(value.layer.type == "data", "an embedding of computed ids is not supported")
    # A table for each meaning of the ids: the smallest bounds them, and no other row of the larger ones can be chosen.
    readers = step.known.setdefault(("tables", value.layer), [])
    size = value.layer.attributes["size"] = min(value.layer.attributes.get("size", height), height)
    made = step.layer("embedding", value, weights={"table": weight(table.array[:size], table.source)}, size=int(width))
    readers.append(made)
    for reader in readers:
        given = reader.weights["table"]
        reader.weights["table"] = weight(given.array[:size], given.source)
    return view_of(made.outputs[0], view.rows, view.layout)


def _embedding_of_tokens(step: OperatorContext, table: ConstantValue, ids: View) -> View:
    """Rows for several ids of each sample, fed or computed."""
    height, width = table.array.shape
    value = ids.value
    if value.type.kind == "INT":
        known = value.layer.attributes.get("size")
        step.refuse_unless(atoms_of(ids.layout) == ids.order, "the axes of ids cannot be permuted")
        step.refuse_unless(
            known is None or known == height, f"ids choose rows of tables of {known} and of {height} rows"
        )
        value.layer.attributes["size"] = height
        lead = ids.layout
    else:
        step.refuse_unless(step.kinds[1] == "i", "indices must be integers")
        rows = step.rows(ids)
        value, lead = step.layer("to_ids", rows.value, size=height, suffix="ids").outputs[0], rows.view.layout
        ids = step.made(rows.value, rows)
        lead = ids.layout
    weights = {"table": weight(table.array, table.source)}
    made = step.layer("embedding", value, weights=weights, size=int(width))
    columns = axis_for(width)
    return View((*lead, columns), value=made.outputs[0], order=(*ids.order, *columns))


@operator("ArgMax", "ArgMin")
def arg_max(step: OperatorContext, x: Any) -> Operand:
    """The place of the largest or the smallest along an axis; of all classes it is an id."""
    rows: RowView = step.rows(step.view(x))
    axis = step.axis_of_row(step.axis(step.attribute("axis", 0), len(rows.view.layout)), rows)
    keep, last = bool(step.attribute("keepdims", 1)), bool(step.attribute("select_last_index", 0))
    least = step.node.operator == "ArgMin"
    # `maxid` gives ids, which an embedding or a metric can read; the general layer gives floats.
    if len(rows.value.dims) == 1 and not least and not last:
        made = step.layer("maxid", rows.value)
        return View((*rows.lead, ()) if keep else rows.lead, value=made.outputs[0], order=rows.view.rows)
    settings: dict[str, Any] = {"operation": "MIN" if least else None, "last": last or None, "keep_dims": keep or None}
    return step.made(step.layer("arg_max", rows.value, axis=axis, **settings).outputs[0], rows)


@operator("TopK")
def top_k(step: OperatorContext, x: Any, count: Any) -> Any:
    """The largest values along an axis, and their indices as floats."""
    rows = step.rows(step.view(x))
    axis = step.axis_of_row(step.axis(step.attribute("axis", -1), len(rows.view.layout)), rows)
    found = step.integers(count, "k")
    step.refuse_unless(len(found) == 1 and isinstance(found[0], int), "`k` must be a single integer")
    largest = None if step.attribute("largest", 1) else False
    made = step.layer("top_k", rows.value, k=found[0], axis=axis, largest=largest)
    return tuple(step.made(one, rows) for one in made.outputs)

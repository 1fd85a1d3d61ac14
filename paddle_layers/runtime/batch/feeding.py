"""Validation and conversion of feeds for the buffers of a plan."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.config.wiring.data_layers import NONE_IGNORED, IgnoredLabels
from paddle_layers.define import Type
from paddle_layers.define.errors import brief, suggestion
from paddle_layers.define.name_patterns import check_names
from paddle_layers.runtime.graph.domains import Domain, Value
from paddle_layers.runtime.graph.graph import Graph
from paddle_layers.runtime.graph.rows import Rows
from paddle_layers.runtime.memory.blocks import too_large

from .dynamic_rows import check_equal_rows, make_early_rows
from .rows import BatchRows
from .values import Csr, FeedError, Sequences, as_array, as_csr, as_sequences, checked_starts

Ints = NDArray[np.int64]

_LEVELS = ("rows without sequences", "sequences", "nested sequences")


class Batch(BatchRows):
    """Validated feeds of one step."""

    def __init__(self, graph: Graph, feeds: Mapping[str, Any], dtype: str) -> None:
        super().__init__()
        self._samples, self._dtype = graph.samples, dtype
        self._first = ""
        for name in feeds:
            if name not in graph.feeds:
                known = ", ".join(f"`{n}`" for n in graph.feeds)
                if not isinstance(name, str):
                    raise FeedError(f"the keys of feeds must be names of data layers ({known}), not {brief(name)}")
                raise FeedError(f"unknown data layer `{name}`{suggestion(name, graph.feeds)}; available: {known}")
        for name, value in graph.feeds.items():
            if name not in feeds:
                raise FeedError(f"missing feed for data layer `{name}` ({value.type})")
            try:
                self._take(value, feeds[name], graph.extra_ids.get(name, NONE_IGNORED))
            except FeedError as error:
                raise FeedError(f"feed `{name}` {error}") from None
        self.starts[graph.samples, graph.samples] = _up_to(self.counts.get(graph.samples, 0))
        make_early_rows(self, graph)
        for layer, first, second in graph.equal_rows:
            check_equal_rows(self, layer, first, second)

    def copy_arrays(self, buffers: dict[str, NDArray[Any]]) -> None:
        """Copies the feeds: the backward pass may read them again, and callers reuse their arrays.

        Numbers are copied to `buffers`, those of the last batch if they have the same shapes.
        """
        for name, rows in self.arrays.items():
            if isinstance(rows, Csr):
                self.arrays[name] = Csr(rows.start, rows.id.copy(), None if rows.value is None else rows.value.copy())
            elif rows.dtype.kind != "f":  # ids: an optimizer may read them during the next pass
                self.arrays[name] = rows.copy()
            else:
                buffer = buffers.get(name, rows)
                if buffer is rows or (buffer.shape, buffer.dtype) != (rows.shape, rows.dtype):
                    buffer = buffers[name] = np.empty(rows.shape, rows.dtype)
                buffer[...] = rows
                self.arrays[name] = buffer

    def reserve(self, graph: Graph) -> bool:
        """Reserves capacity for the rows. True if a capacity grew."""
        grown = [domain.reserve(self.of(domain)) for domain in graph.domains]
        return any(grown)

    def ids_of(self, name: str) -> Ints:
        """The ids of a feed of ids or of sparse rows."""
        given = self.arrays[name]
        return given.id if isinstance(given, Csr) else given

    def _take(self, value: Value, given: Any, extra: IgnoredLabels) -> None:
        columns, rank = value.type.size if value.entries is not None else 0, len(value.type.dims)
        given = as_sequences(given, value.type.level, columns=columns, rank=rank)
        rows: Any = given
        if isinstance(given, Sequences):
            if given.level != value.type.level:
                raise FeedError(f"holds {_LEVELS[given.level]}; expected {_LEVELS[value.type.level]}")
            rows = given.data
        array = _checked(value.type, rows, extra, self._dtype)
        if isinstance(given, Sequences):
            self._sequences(value.domain, given, len(array))
        self._set(value.domain if value.type.level else self._samples, len(array), value.name)
        if isinstance(array, Csr):
            assert value.entries is not None
            self.counts[value.entries] = len(array.id)
        self.arrays[value.name] = array

    def _sequences(self, leaf: Domain, given: Sequences, count: int) -> None:
        outer = checked_starts(given.starts, None if given.sub_starts is not None else count)
        chain = leaf.ancestors()
        if given.sub_starts is None:
            self.starts[leaf, chain[0]] = outer
        else:
            inner = checked_starts(given.sub_starts, count)
            if outer[-1] != len(inner) - 1:
                raise FeedError(f"has {len(inner) - 1} sub-sequences, but `starts` ends with {outer[-1]}")
            self.starts[leaf, chain[0]] = inner
            self.starts[chain[0], chain[1]] = outer
            self.starts[leaf, chain[1]] = inner[outer]
            self.counts[chain[0]] = len(inner) - 1
        self._set(self._samples, len(outer) - 1, leaf.name)

    def _set(self, domain: Domain, rows: int, name: str) -> None:
        known = self.counts.setdefault(domain, rows)
        if domain is self._samples:
            if known != rows:
                raise FeedError(f"has {rows} samples, but {self._first} has {known}")
            self._first = self._first or f"`{name}`"


@functools.lru_cache(maxsize=8)
def _up_to(count: int) -> Ints:
    """Starts of samples with one row each."""
    # Cached, since most batches have the same size; read-only, as the array is shared.
    starts = np.arange(count + 1)
    starts.flags.writeable = False
    return starts


def check_gradients(graph: Graph, rows: Rows, given: Any, dtype: str) -> dict[str, NDArray[Any]]:
    """The output gradients passed by the caller. Raises `FeedError`, and `TypeError` if they are not a dict."""
    check_names("gradients", given, "of arrays by output")
    return {name: _checked_gradient(graph, rows, name, array, dtype) for name, array in given.items()}


def _checked_gradient(graph: Graph, rows: Rows, name: str, given: Any, dtype: str) -> NDArray[Any]:
    """An output gradient passed by the caller. Raises `FeedError` if it does not fit the last batch."""
    value = graph.values.get(name)
    if value is None or value.type.kind != "DENSE":
        raise FeedError(f"the network has no dense output `{name}`")
    try:
        array = _real(as_array(given.data if isinstance(given, Sequences) else given))
    except FeedError as error:
        raise FeedError(f"the gradient of `{name}` {error}") from None
    shape = (rows.of(value.domain), *value.type.dims)
    if array.shape != shape:
        raise FeedError(f"the gradient of `{name}` has shape {array.shape}; expected {shape}")
    if problem := too_large(array, dtype):
        raise FeedError(f"the gradient of `{name}` {problem}")
    return array


def _checked(type_: Type, rows: Any, extra: IgnoredLabels, dtype: str) -> Any:
    if type_.kind in ("SPARSE", "SPARSE_INT"):
        return _checked_csr(type_, as_csr(rows, type_.size), dtype)
    array = as_array(rows)
    if array.shape == (0,):  # the row shape of an empty list is unknown
        array = np.zeros((0, *type_.dims), np.int64)
    if type_.kind == "INT":
        return _checked_ids(array, type_, extra)
    _real(array)
    if array.shape[1:] != type_.dims:
        if array.ndim > 2 or math.prod(array.shape[1:]) != 1 or math.prod(type_.dims) != 1:
            wanted = ", ".join(["rows", *map(str, type_.dims)])
            raise FeedError(f"has shape {array.shape}; expected ({wanted}){_fit(array, type_)}")
        array = array.reshape(len(array), *type_.dims)  # one value per row, written as `y` or as `y[:, None]`
    return finite(array, dtype) if array.dtype.kind == "f" else array


def _fit(array: NDArray[Any], type_: Type) -> str:
    """The remedy for rows of another shape than the data layer's."""
    if array.shape == type_.dims:
        return "; for a batch of one sample, feed array[None]"
    if len(type_.dims) > 1 and array.ndim > 1 and len(array) and array[0].size == type_.columns:
        return f"; feed array.reshape(-1, {', '.join(map(str, type_.dims))})"
    return ""


def _real(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind not in "fiub":
        raise FeedError(f"has dtype {array.dtype}; expected a real dtype")
    return array


def finite(array: NDArray[Any], dtype: str) -> NDArray[Any]:
    """The values in the precision of the network, if all of them are finite in it."""
    with np.errstate(over="ignore", invalid="ignore"):
        converted = array.astype(dtype, copy=False)
        if np.isfinite(converted.sum()) or np.isfinite(converted).all():  # a sum needs no memory, but may overflow
            return converted
    if np.isfinite(array).all():
        raise FeedError(str(too_large(array, dtype)))
    place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
    raise FeedError(f"contains {array[place]} in row {place[0]}, at index {place}")


def _checked_ids(array: NDArray[Any], type_: Type, extra: IgnoredLabels) -> NDArray[Any]:
    array = _id_rows(array, type_)
    if array.dtype.kind not in "iu" and array.size:
        whole = array.dtype.kind == "f" and bool((array == np.floor(array)).all())
        meant = "; feed array.astype(int)" if whole else ""
        if array.dtype.kind in "US":
            meant = "; numpy.unique(array, return_inverse=True)[1] maps strings to ids"
        raise FeedError(f"has dtype {array.dtype}; ids must be integers{meant}")
    size = type_.size
    if array.size and (array.min() < 0 or array.max() >= size):
        wrong = np.argwhere(((array < 0) | (array >= size)) & ~np.isin(array, list(extra.legal)))
        if len(wrong):
            place = tuple(map(int, wrong[0]))
            where = f"row {place[0]}" + (f", at index {place}" if len(place) > 1 else "")
            meant = "; if your ids start at 1, feed array - 1" if array.min() > 0 and array.max() == size else ""
            meant = f"; {remedy}" if (remedy := extra.remedy(int(array[place]))) else meant
            raise FeedError(f"contains id {array[place]} in {where}; valid ids are 0 to {size - 1}{meant}")
    return array


def _id_rows(array: NDArray[Any], type_: Type) -> NDArray[Any]:
    """Ids in the shape of the data layer."""
    if array.shape[1:] == type_.dims:
        return array
    if not type_.dims and (array.ndim == 1 or array.size == len(array)):
        return array.reshape(-1)
    axes = array.shape[2:]
    marked = axes == type_.dims and bool(((array == 0) | (array == 1)).all() and (array.sum(1) == 1).all())
    meant = "; for one-hot rows, feed array.argmax(1)" if marked else _fit(array, type_)
    takes = (
        f"expected ({', '.join(['rows', *map(str, type_.dims)])})" if type_.dims else "expected one id per row: (rows,)"
    )
    if not type_.dims and array.ndim > 2:
        meant = f"; for an id per position, declare `shape: [{', '.join(map(str, array.shape[1:]))}]` in the data layer"
    raise FeedError(f"has shape {array.shape}; {takes}{meant}")


def _checked_csr(type_: Type, rows: Csr, dtype: str) -> Csr:
    ids = _checked_ids(rows.id, Type.ids(type_.size), NONE_IGNORED)
    if type_.kind == "SPARSE":
        if rows.value is None and len(ids):
            raise FeedError("has no values; the data layer requires them (SPARSE)")
        value = np.zeros(0) if rows.value is None else _real(rows.value)
        return Csr(rows.start, ids, finite(value, dtype))
    if rows.value is not None and not (rows.value == 1).all():
        raise FeedError("has values other than 1; set `data_type: SPARSE` in the data layer, or feed columns only")
    return Csr(rows.start, ids, np.ones(0))

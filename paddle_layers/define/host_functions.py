"""Decorators of functions that run on the host: inference, sequence offsets, sparse entries, metrics, ONNX export."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .decorators import definition_of
from .functions.host_calls import onnx_function

F = TypeVar("F", bound=Callable[..., Any])


def _attach(role: str, owner: type) -> Callable[[F], F]:
    if not isinstance(owner, type):
        raise TypeError(f"@{role} requires the class of the layer, as in @{role}(Swish)")

    def mark(call: F) -> F:
        definition_of(owner).attach(role, call)
        return call

    return mark


def infer(owner: type) -> Callable[[F], F]:
    """Shape inference: sizes of the axes that neither inputs nor attributes bind.

    Args:
        owner: Class of the layer. The function takes axes, attributes and input types by name and returns a dict of
            sizes by axis. It rejects shapes with `require`.

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        TypeError: `owner` is not a class.
        DefinitionError: The layer is not registered, or has such a function already.

    Example::

        @infer(GroupConv)
        def group_conv_sizes(C, groups):
            require(C % groups == 0, "groups", f"{groups} groups do not divide {C} channels")
            return {"D": C // groups}
    """
    return _attach("infer", owner)


def output_types(owner: type) -> Callable[[F], F]:
    """Type inference of all outputs, for layers whose axes do not determine it.

    Args:
        owner: Class of the layer. The function returns a list with the `Type` of each output.

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        TypeError: `owner` is not a class.
        DefinitionError: The layer is not registered, or has such a function already.

    Example::

        @output_types(ArgMax)
        def arg_max_types(x):
            return [Type.dense(1, level=x.level)]
    """
    return _attach("output_types", owner)


def starts(owner: type) -> Callable[[F], F]:
    """Sequence offsets of an output with a dynamic row count (axes `"Y:S C"` where no input has the rows `Y`).

    The function runs on the host for every batch. Its result is read in the middle of the pass, so a GPU is
    synchronized.

    Args:
        owner: Class of the layer. The function takes offsets of inputs (`A_start` for rows `A:S`), inputs (arrays of
            ids or floats), temporaries with the rows of inputs, sizes (row counts, too) and attributes. It returns the
            offsets as an integer array with one element more than there are sequences. For nested sequences `"Y:Q:N C"`
            it returns the offsets of Q in the samples N, and those of Y in Q.

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        TypeError: `owner` is not a class.
        DefinitionError: The layer is not registered, or has such a function already.

    Example::

        @starts(Filter)
        def filter_starts(keep):
            return np.concatenate([[0], np.cumsum(keep != 0)])
    """
    return _attach("starts", owner)


def entries(owner: type) -> Callable[[F], F]:
    """Sparse entries that the host prepares for a batch: row offsets, ids and values of `Entries`, as arrays.

    Args:
        owner: Class of the layer. The function runs before each pass and takes inputs that are fed (arrays of ids or
            floats, or `Csr`), sizes, attributes, `key` (an integer that differs in each step, for a random seed) and
            `prepared`, the result of the function of `@prepare`.

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        TypeError: `owner` is not a class.
        DefinitionError: The layer is not registered, or has such a function already.

    Example::

        @entries(SampledSoftmax)
        def sampled_softmax_entries(label, key, V, num_neg_samples):
            negative = np.random.default_rng(key).integers(0, V, (len(label), num_neg_samples))
            ids = np.column_stack([label, negative])
            starts = np.arange(len(label) + 1) * ids.shape[1]
            return starts, ids.ravel(), np.ones(ids.size)
    """
    return _attach("entries", owner)


def prepare(owner: type) -> Callable[[F], F]:
    """Precomputation for `@entries` that is the same for all batches.

    Args:
        owner: Class of the layer. The function takes sizes and attributes; it is called once.

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        TypeError: `owner` is not a class.
        DefinitionError: The layer is not registered, or has such a function already.

    Example::

        @prepare(SampledSoftmax)
        def noise_distribution(class_counts):
            return np.array(class_counts) / sum(class_counts)
    """
    return _attach("prepare", owner)


def result(owner: type, *names: str, best: str | tuple[str, ...] = "") -> Callable[[F], F]:
    """Metrics that are reported for the statistics of the layer.

    Args:
        owner: Class of the layer. The function takes the sums of the statistics and attributes by name. A sum is a
            number, or a list of numbers if the statistic has axes besides its rows. It returns one number, or a tuple
            with one number per name.
        names: Names of the metrics. The first one may be empty: that metric has the name of the layer.
        best: `"min"` or `"max"`: whether smaller or larger is better, for all metrics or, as a tuple, for each one.
            `save_best` and `early_stop` reject the opposite direction.

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        TypeError: `owner` is not a class.
        DefinitionError: The layer is not registered, or `best` does not match the names.

    Example::

        @result(Accuracy, best="max")
        def accuracy(hits, rows):
            return hits / rows if rows else math.nan
    """
    attach = _attach("result", owner)

    def mark(call: F) -> F:
        definition = definition_of(owner)
        definition.results = names or definition.results  # those of a message are there already
        named = definition.results or ("",)
        better = best if isinstance(best, tuple) else (best,) * len(named)
        if len(better) != len(named) or set(better) - {"min", "max", ""}:
            raise definition.error(f'@result: best must be "min" or "max", or one of them per number, not {best!r}')
        definition.best = {name: which for name, which in zip(named, better, strict=True) if which}
        return attach(call)

    return mark


def onnx(owner: type) -> Callable[[F], F]:
    """ONNX export of the layer in the test phase: the function adds nodes to a graph.

    Rows of sequences are concatenated, like single rows; an input with the axes `"T:S C"` is padded to `[S, T, C]`, and
    `T_lengths` and `T_mask` report which rows are real. `require` rejects settings without an ONNX form.

    Args:
        owner: Class of the layer. The function takes `graph`, inputs, parameters and states (None where absent, tuples
            where repeatable), attributes and sizes of axes by name, and returns the outputs. `graph.Conv(x, weight,
            strides=[2, 2])` adds a node.

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        DefinitionError: The layer has an ONNX function already, or is composed of other layers.

    Example::

        @onnx(Swish)
        def swish_onnx(graph, x, beta):
            return graph.Mul(x, graph.Sigmoid(graph.Mul(x, beta)))
    """

    def mark(call: F) -> F:
        definition = definition_of(owner)
        if definition.onnx is not None:
            raise definition.error("has more than one @onnx function")
        if definition.is_composite:
            raise definition.error("cannot have an @onnx function, because it is exported by its parts")
        definition.onnx = onnx_function(call, definition.onnx_names)
        return call

    return mark

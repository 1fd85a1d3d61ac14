"""Where elements lie when axes are put into another order, or only some of them are walked along."""

from collections.abc import Iterable, Sequence
from typing import Any

from paddle_layers.define import helper, require


def strides(sizes: Sequence[int]) -> list[int]:
    """How far it is from one element of each axis to the next, the last axis having neighbours."""
    found = [1] * len(sizes)
    for axis in range(len(sizes) - 2, -1, -1):
        found[axis] = found[axis + 1] * sizes[axis + 1]
    return found


def walk(sizes: Iterable[int], steps: Iterable[int]) -> tuple[list[int], list[int]]:
    """The same axes with fewer of them, for `place_of`: those that can be walked along as one are one."""
    found: list[tuple[int, int]] = []
    for size, step in zip(sizes, steps, strict=True):
        if found and found[-1][1] == step * size:
            found[-1] = (found[-1][0] * size, step)
        elif size > 1:
            found.append((size, step))
    found = found or [(1, 0)]
    return [size for size, _ in found], [step for _, step in found]


@helper
def place_of(i, sizes, steps):
    """Where element `i` of axes of these sizes lies that are `steps` apart."""
    place = 0
    for axis in range(len(sizes) - 1, -1, -1):
        place += i % sizes[axis] * steps[axis]
        i = i // sizes[axis]
    return place


def place_of_axis(axis: int, x: Any) -> int:
    """The number of an axis where the rows are axis 0; -1 is the last one of `x`."""
    return axis if axis > 0 else axis + len(x.dims) + 1


def along_axes(graph: Any, numbers: Any, x: Any, axis: int, end_axis: int) -> Any:
    """Learned numbers of the shape that meets these axes of `x` in arithmetic."""
    first, last = place_of_axis(axis, x), place_of_axis(end_axis, x)
    if first == last == 1:
        return graph.channels(numbers, x)
    dims = (*x.dims[first - 1 : last], *[1] * (len(x.dims) - last))
    return numbers if numbers.array.shape == dims else graph.constant(numbers.array.reshape(dims), "numbers")


def chosen_axes(x: Any, axes: Sequence[int] | None) -> list[int]:
    """The axes of a row that `axes` names, in its order and counted from 0; all where it is absent."""
    count = len(x.dims)
    found = range(count) if axes is None else [axis - 1 if axis > 0 else axis + count for axis in axes]
    given = ", ".join(map(str, axes or ()))
    known = axes is None or all(axis != 0 and 0 <= place < count for axis, place in zip(axes, found, strict=True))
    require(known, "axes", f"`axes` are {given}, but those behind the rows are 1 to {count}, or -1 for the last")
    require(len(set(found)) == len(found), "axes", f"`axes` are {given}: one of them is there twice")
    return list(found)


def for_each_axis(
    values: Sequence[int] | None, attribute: str, axes: Sequence[int], absent: Sequence[int]
) -> list[int]:
    """The numbers of `axes`, one for each or one for all; those in `absent` for all other axes of a row."""
    count, found = len(values or ()), list(absent)
    counted = f"`{attribute}` has {count} numbers, but there are {len(axes)} axes: give one for each, or one for all"
    require(values is None or count in {1, len(axes)}, attribute, counted)
    for at, axis in enumerate(axes if values else ()):
        found[axis] = (values or ())[at % count]
    return found

"""Index arithmetic for permuted, reduced and sliced axes."""

from collections.abc import Iterable, Sequence
from typing import Any

from paddle_layers.define import helper, require


def strides(sizes: Sequence[int]) -> list[int]:
    """Strides of a contiguous array."""
    found = [1] * len(sizes)
    for axis in range(len(sizes) - 2, -1, -1):
        found[axis] = found[axis + 1] * sizes[axis + 1]
    return found


def walk(sizes: Iterable[int], steps: Iterable[int]) -> tuple[list[int], list[int]]:
    """Sizes and strides with adjacent axes merged where possible, for `place_of`."""
    found: list[tuple[int, int]] = []
    for size, step in zip(sizes, steps, strict=True):
        # Merged axes save a division each: `place_of` divides once per axis for every element.
        if found and found[-1][1] == step * size:
            found[-1] = (found[-1][0] * size, step)
        elif size > 1:
            found.append((size, step))
    found = found or [(1, 0)]
    return [size for size, _ in found], [step for _, step in found]


@helper
def place_of(i, sizes, steps):
    """Offset of element `i` of axes with these sizes and strides."""
    place = 0
    for axis in range(len(sizes) - 1, -1, -1):
        place += i % sizes[axis] * steps[axis]
        i = i // sizes[axis]
    return place


def place_of_axis(axis: int, x: Any) -> int:
    """Index of an axis, where the batch axis is 0; -1 is the last axis of `x`."""
    return axis if axis > 0 else axis + len(x.dims) + 1


def along_axes(graph: Any, numbers: Any, x: Any, axis: int, end_axis: int) -> Any:
    """A learned parameter, reshaped so that it broadcasts along these axes of `x`."""
    first, last = place_of_axis(axis, x), place_of_axis(end_axis, x)
    if first == last == 1:
        return graph.channels(numbers, x)
    dims = (*x.dims[first - 1 : last], *[1] * (len(x.dims) - last))
    return numbers if numbers.array.shape == dims else graph.constant(numbers.array.reshape(dims), "numbers")


def chosen_axes(x: Any, axes: Sequence[int] | None) -> list[int]:
    """The axes of a sample that `axes` names, in its order and counted from 0; all if it is absent."""
    count = len(x.dims)
    found = range(count) if axes is None else [axis - 1 if axis > 0 else axis + count for axis in axes]
    given = ", ".join(map(str, axes or ()))
    known = axes is None or all(axis != 0 and 0 <= place < count for axis, place in zip(axes, found, strict=True))
    require(known, "axes", f"`axes` are {given}; valid axes are 1 to {count}, or -1 for the last")
    require(len(set(found)) == len(found), "axes", f"`axes` are {given}: an axis is repeated")
    return list(found)


def for_each_axis(
    values: Sequence[int] | None, attribute: str, axes: Sequence[int], absent: Sequence[int]
) -> list[int]:
    """The values per axis, one for each of `axes` or one for all; those of `absent` for all other axes."""
    count, found = len(values or ()), list(absent)
    counted = f"`{attribute}` has {count} values for {len(axes)} axes: give one per axis, or one for all"
    require(values is None or count in {1, len(axes)}, attribute, counted)
    for at, axis in enumerate(axes if values else ()):
        found[axis] = (values or ())[at % count]
    return found

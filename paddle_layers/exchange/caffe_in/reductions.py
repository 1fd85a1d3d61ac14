"""Conversion of reductions: sums along axes, argmax, and normalization by sums."""

from __future__ import annotations

from .conversion import Use, converts
from .layers import BlobValue, Fields

MOST_PLACES = 1000
"""Largest supported `top_k` of an ArgMax."""


@converts("Reduction")
def reduction(use: Use) -> None:
    """All axes from one on become one number; `coeff` multiplies it."""
    p, axis = use.settings, use.axis("axis")
    if axis == 0:
        use.refuse(
            "axis", "a reduction over the batch (axis 0) is not supported", "write `axis: 1` for one value per sample"
        )
        return
    # Caffe reduces all axes from `axis` to the last one.
    attributes: Fields = {"operation": p["operation"], "axes": list(range(axis, 1 + len(use.dims())))}
    if p["coeff"] == 1:
        use.add("reduction", attributes)
        return
    use.add("slope_intercept", {"slope": p["coeff"]}, inputs=[_step(use, "reduction", attributes, [use.bottoms[0]])])


@converts("ArgMax")
def arg_max(use: Use) -> None:
    p, k = use.settings, use.settings["top_k"]
    if not 1 <= k <= MOST_PLACES:
        use.refuse("top_k", f"`top_k` is {k}, expected 1 to {MOST_PLACES:,}", code="E103")
        return
    # Without an axis Caffe's result has another shape: one row of indices, then one of values.
    if "axis" in p:
        _along(use, k)
    elif k == 1 and not p["out_max_val"]:
        # Caffe sorts pairs of value and index in descending order, so of equal values the larger index wins.
        use.note("ties: the first index is returned, in Caffe the last")
        use.add("maxid")
    else:
        _of_rows(use, k)


def _along(use: Use, k: int) -> None:
    """The axis has the places of the largest numbers, or these themselves."""
    axis, values = use.axis("axis"), use.settings["out_max_val"]
    if axis == 0:
        use.refuse("axis", "ArgMax over the batch (axis 0) is not supported", "write `axis: 1`")
    elif k > 1:
        # Our layer returns both, whichever is requested.
        both = [*use.tops, use.inner("places")] if values else [use.inner("values"), *use.tops]
        use.note(_TIES)
        use.add("top_k", {"k": k, "axis": axis}, outputs=both)
    elif values:
        use.add("reduction", {"operation": "MAX", "axes": [axis], "keep_dims": True})
    else:
        use.add("arg_max", {"axis": axis, "last": True, "keep_dims": True})


_TIES = "ties: the first index comes first, in Caffe the last"


def _of_rows(use: Use, k: int) -> None:
    """The indices of the largest values of whole rows, followed by these values if they are requested."""
    flat = _step(use, "flatten", {}, [use.bottoms[0]]) if len(use.dims()) != 1 else use.bottoms[0]
    values, places = use.inner("values"), use.inner("places")
    use.note(_TIES)
    use.add("top_k", {"k": k}, inputs=[flat], outputs=[values, places], name=f"{use.layer.name}/top_k")
    if use.settings["out_max_val"]:
        both = _step(use, "concat", {}, [places, values])
        # Caffe's layout without an axis: N x 2 x k with values, N x 1 x k without.
        use.add("reshape", {"dims": [2, k]}, inputs=[both])
    else:
        use.add("reshape", {"dims": [1, k]}, inputs=[places])


def _step(use: Use, type_: str, attributes: Fields, inputs: list[BlobValue], suffix: str = "") -> BlobValue:
    """The value of a layer on the way."""
    value = use.inner(suffix or type_)
    use.add(type_, attributes, inputs=inputs, outputs=[value], name=value.name)
    return value

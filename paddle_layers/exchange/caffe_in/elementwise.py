"""Conversion of elementwise functions, and of arithmetic of blobs of one shape."""

from __future__ import annotations

from .conversion import MANY, Use, converts
from .layers import Fields, LayerDraft
from .parameters import set_vector

_FUNCTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "AbsVal": ("abs", ()), "BNLL": ("softplus", ()), "ELU": ("elu", ("alpha",)), "ReLU": ("relu", ("negative_slope",)),
    "ReLU6": ("relu6", ()), "Sigmoid": ("sigmoid", ()), "Swish": ("swish", ("beta",)), "TanH": ("tanh", ()),
    "Threshold": ("threshold", ("threshold",)),
}  # fmt: skip
"""The layer of each function, and its settings, which have the same names."""
_NO_ACTIVATIONS = frozenset({"AbsVal", "BNLL", "Threshold"})


@converts(*_FUNCTIONS)
def function(use: Use) -> None:
    type_, names = _FUNCTIONS[use.layer.type]
    settings = {name: use.settings[name] for name in names}
    if use.layer.type in _NO_ACTIVATIONS:
        use.add(type_, settings)
    else:
        _activation(use, type_, settings)


@converts("Clip")
def clip(use: Use) -> None:
    use.add("clip", {"min": use.required("min"), "max": use.required("max")})


@converts("Exp", "Log")
def exponential(use: Use) -> None:
    p = use.settings
    base = p["base"] if p["base"] != -1 else None  # e
    use.add(use.layer.type.lower(), {"base": base, "scale": p["scale"], "shift": p["shift"]})


@converts("Power")
def power(use: Use) -> None:
    p = use.settings
    # A linear function needs neither a logarithm nor the restriction to positive bases.
    if p["power"] == 1:
        use.add("slope_intercept", {"slope": p["scale"], "intercept": p["shift"]})
    else:
        use.add("power", {"power": p["power"], "scale": p["scale"], "shift": p["shift"]})


@converts("PReLU")
def prelu(use: Use) -> None:
    p, name = use.settings, use.layer.name
    draft = use.add("prelu", {"channel_shared": p["channel_shared"]})
    # Caffe's default filler of a PReLU, which no field of its message shows.
    set_vector(use, draft, "slope", 0, "filler", 0.25)
    count = 1 if p["channel_shared"] else (use.dims()[:1] or (1,))[0]
    # Caffe's single slope has no axes.
    use.store([() if p["channel_shared"] else (count,)], lambda blobs: {f"{name}.slope": blobs[0].reshape(count)})


@converts("Dropout")
def dropout(use: Use) -> None:
    ratio = use.settings["dropout_ratio"]
    # Caffe's own condition.
    if not 0 < ratio < 1:
        use.refuse(
            "dropout_ratio", f"`dropout_ratio` is {ratio:g}, expected a value between 0 and 1 (exclusive)", code="E103"
        )
        return
    use.add("dropout", {"drop_rate": ratio, "scale_in": "TRAIN" if use.settings["scale_train"] else "TEST"})


@converts("Softmax")
def softmax(use: Use) -> None:
    axis = use.axis("axis")
    if axis == 0:
        use.refuse("axis", "softmax over the batch (axis 0) is not supported", "write `axis: 1`")
        return
    use.add("softmax", {"axis": axis})


@converts("Eltwise", bottoms=(2, MANY))
def eltwise(use: Use) -> None:
    p, coefficients = use.settings, use.settings["coeff"]
    if coefficients and (p["operation"] != "SUM" or len(coefficients) != len(use.bottoms)):
        text = (
            f"got {len(coefficients)} coefficients for {len(use.bottoms)} blobs; `coeff` requires SUM and one "
            "value per blob"
        )
        use.refuse("coeff", text, code="E205")
        return
    # A plain sum is a residual connection, which `addto` expresses without settings.
    if p["operation"] == "SUM" and not any(one != 1 for one in coefficients):
        use.add("addto")
        return
    attributes: Fields = {"operation": p["operation"], "coefficients": coefficients or None}
    use.add("eltwise", attributes)


@converts("Axpy", bottoms=(3, 3))
def axpy(use: Use) -> None:
    """A factor for each channel, times a blob, plus another one: the end of a block of SENet."""
    dims = use.dims(1)
    if use.dims(0) not in (dims[:1], (*dims[:1], 1, 1)) or use.dims(2) != dims:
        text = "expected a factor for each channel, and two blobs of one shape"
        use.refuse("bottom", text, of=use.message, code="E209")
        return
    product = use.step("mul", {}, [use.bottoms[1], use.bottoms[0]])
    use.add("addto", inputs=[product, use.bottoms[2]])


def _activation(use: Use, type_: str, settings: Fields) -> None:
    """An in-place activation is fused into the previous layer, if that has the attribute `act` and no other reader."""
    before = _maker(use)
    if before is None:
        use.add(type_, settings)
        return
    # Added as a separate layer first, so that its settings are checked.
    draft = use.add(type_, settings)
    if draft is None:
        return
    use.whole.drafts.pop()
    bottom, top = use.bottoms[0], use.tops[0]
    # The name of the blob is kept, since users and later layers refer to it.
    top.name, top.draft, before.outputs = bottom.name, before, [top]
    if draft.attributes:
        before.activation = {"type": type_, type_: draft.attributes}
    else:
        before.attributes["act"] = type_
    use.whole.became[use.layer.name] = [f"activation of {before.name}"]


def _maker(use: Use) -> LayerDraft | None:
    from paddle_layers.define import registries

    draft, value = use.bottoms[0].draft, use.bottoms[0]
    if not use.layer.in_place or draft is None or draft.outputs != [value] or value.readers != [use.layer]:
        return None
    takes = "act" in registries["layer"][draft.type].attributes
    free = "act" not in draft.attributes and draft.activation is None and draft.phases == use.layer.phases
    return draft if takes and free else None

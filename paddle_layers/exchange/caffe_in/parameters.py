"""Conversion of fillers and of settings of single parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

from paddle_layers.config.writing.text import component_fields
from paddle_layers.define import InvalidAttributes, registries

from .conversion import Use
from .layers import Fields, LayerDraft
from .reading import Message

_FILLERS: dict[str, tuple[str, ...]] = {
    "constant": ("value",),
    "uniform": ("min", "max"),
    "gaussian": ("mean", "std"),
    "xavier": (),
    "msra": (),
    "positive_unitball": (),
    "bilinear": (),
}
"""Fillers and their settings; the names are the same."""
_BY_FAN = ("xavier", "msra")
_SWAPPED = {"fan_in": "fan_out", "fan_out": "fan_in", "average": "average"}


class BlobLayout(NamedTuple):
    """The layout of a weight blob in Caffe, and here: its fillers depend on the axes."""

    first: int
    """Size of the blob's first axis, by which Caffe counts."""
    inputs: int
    """Fan-in: the number of summands of an output."""
    turned: bool = False
    """The parameter is transposed in comparison with Caffe."""
    swapped: bool = False
    """The blob's first axis counts inputs."""


def set_weight(use: Use, draft: LayerDraft | None, of: str, blob: int, filler: str, layout: BlobLayout) -> None:
    """Give a parameter what the prototxt says of the blob of this number: how it starts, its rates, who shares it."""
    settings: Fields = {}
    if filler in use.settings:
        settings = _init(use, use.settings[filler], layout)
    elif use.whole.trained:
        # The default here is another one, which would hide a missing filler of the prototxt.
        settings = {"init": {"type": "zero"}}
        use.note(f"`{of}` has no {filler} and starts at zero, as in Caffe; add one before training")
    _set(draft, of, settings | param_spec(use, blob))


def set_vector(use: Use, draft: LayerDraft | None, of: str, blob: int, filler: str, usual: float) -> None:
    """The same for one number a channel, which starts at `usual` unless a filler says otherwise."""
    settings: Fields = {}
    found: Message = use.settings[filler]
    # Defaults are left out of the file, so that what it says is what differs.
    if filler in use.settings and (found["type"] != "constant" or found["value"] != usual):
        settings = _init(use, found, BlobLayout(1, 1))
    _set(draft, of, settings | param_spec(use, blob))


def _set(draft: LayerDraft | None, of: str, settings: Fields) -> None:
    if draft is not None and settings:
        draft.params[of] = settings


def param_spec(use: Use, blob: int) -> Fields:
    """The rates of a blob, and the name under which it is shared."""
    message, found = use.message, dict[str, Any]()
    if message.kind == "OldLayer":
        for name, old in (("share", "param"), ("lr_mult", "blobs_lr"), ("decay_mult", "weight_decay")):
            if blob < len(message[old]):
                found[name] = message[old][blob]
                _check_rate(use, found[name], message, old)
    elif blob < len(message["param"]):
        spec: Message = message["param"][blob]
        for name, own in (("share", "name"), ("lr_mult", "lr_mult"), ("decay_mult", "decay_mult")):
            if own in spec:
                found[name] = spec[own]
                _check_rate(use, found[name], spec, own)
    usual = {"share": "", "lr_mult": 1.0, "decay_mult": 1.0}
    return {name: value for name, value in found.items() if value != usual[name]}


def _check_rate(use: Use, value: Any, message: Message, field: str) -> None:
    if isinstance(value, float) and not 0 <= value < float("inf"):
        use.refuse(field, f"`{field}` is {value:g}, expected a finite value >= 0", of=message, code="E103")


def _init(use: Use, filler: Message, layout: BlobLayout) -> Fields:
    """The initializer that a filler is here."""
    name = filler["type"]
    if name not in _FILLERS:
        use.refuse("type", f"unknown filler `{name}`", f"expected one of {', '.join(_FILLERS)}", of=filler, code="E111")
        return {}
    if name == "positive_unitball" and layout.turned:
        text = (
            "positive_unitball of InnerProduct is not supported: Caffe normalizes over the inputs of each "
            "output, this library over the outputs"
        )
        use.refuse("type", text, "use another filler, such as xavier", of=filler)
        return {}
    if filler["sparse"] != -1 and name != "gaussian":
        use.refuse("sparse", f"`sparse` is only supported by the filler gaussian, not {name}", of=filler, code="E103")
        return {}
    settings: Fields = {key: filler[key] for key in _FILLERS[name]}
    if name in _BY_FAN:
        norm = filler["variance_norm"].lower()
        # Caffe's fan-in is the size of a blob without its first axis, whatever that axis means.
        settings["variance_norm"] = _SWAPPED[norm] if layout.swapped else norm
    if filler["sparse"] >= 0 and name == "gaussian":
        # Caffe keeps a number with the probability sparse / size of the first axis, we with sparse / inputs.
        settings["sparse"] = round(filler["sparse"] * layout.inputs / max(layout.first, 1))
    definition = registries["initializer"][name]
    try:
        return {"init": component_fields(definition, definition.bind(settings))}
    except InvalidAttributes as error:
        for problem in error.problems.values():
            use.refuse("type", problem, of=filler, code="E103")
        return {}

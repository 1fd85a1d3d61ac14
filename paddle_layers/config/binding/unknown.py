"""Suggestions for an unknown type, and for a misplaced field of a training file."""

from __future__ import annotations

from collections.abc import Sequence

from paddle_layers.define import Definition, broken_plugin, meant_elsewhere, no_layer_here, registries
from paddle_layers.define.definitions.search import equivalent_attribute, name_here

from ..diagnostics.diagnostic import Fix
from ..diagnostics.report import DiagnosticReport
from ..diagnostics.suggestions import nearest
from .headers import spec

# Only layer types, about 200, are more than that; a list of all of them would bury the message.
_LISTED = 40
"""Maximum number of type names in a message; for more it names the command."""
_KINDS = ("optimizer", "regularizer", "schedule", "callback")
_LOSS = "a loss is a layer of the network, such as `softmax_with_loss` or `square_error`"
_STATISTIC = "a metric is a layer of the network, such as `accuracy` or `regression_error`"
_DECAY = 'write `regularizer { type: "l2" l2 { rate: ... } }`, or use the optimizer `adamw`, which has `weight_decay`'
_SPLIT = "hold out samples in the source: `split { validation: 0.2 }`"
_FROZEN = 'write `param { of: "weight" frozen: true }`, for each parameter of the layer'
_MEANT = {
    "Training": {
        **dict.fromkeys(("loss", "loss_function", "criterion", "objective", "cost"), _LOSS),
        **dict.fromkeys(("metric", "metrics", "evaluator"), _STATISTIC),
        **dict.fromkeys(("weight_decay", "l2", "decay"), _DECAY),
        **dict.fromkeys(("device", "gpu", "cuda", "use_gpu"), "set it on the command line: `--device cuda`"),
        **dict.fromkeys(
            ("num_workers", "workers", "threads", "num_threads"), "set it on the command line: `--threads 4`"
        ),
        **dict.fromkeys(("pretrained", "init_from", "load"), 'write `weights { file: "..." }`'),
        **dict.fromkeys(("validation_split", "val_split", "split"), _SPLIT),
    },
    "Optimizer": dict.fromkeys(("weight_decay", "l2", "decay"), _DECAY),
    "Network": {
        "output": "the outputs are the values that no layer reads; `predict --value NAME` returns others",
        "outputs": "the outputs are the values that no layer reads; `predict --value NAME` returns others",
        "input": "the inputs are the layers of type `data`",
        "inputs": "the inputs are the layers of type `data`",
    },
    "Layer": {
        **dict.fromkeys(("trainable", "requires_grad", "freeze"), _FROZEN),
        "phase": 'write `include { phase: "test" }`',
    },
}
"""Fields of other frameworks, and misplaced fields, by the message that contains them."""


def replacement_of(header: str, name: str) -> str:
    """The replacement of an unknown field: another field, or a block that has it; else empty."""
    if meant := _MEANT.get(header, {}).get(name):
        return meant
    if header not in ("Training", "Optimizer"):
        return ""
    for kind in _KINDS:
        found = [one.name for one in registries[kind].values() if name in one.attribute_by_name]
        if found:
            # The shortest name is usually the plainest type: for `momentum`, `sgd` rather than `torch_momentum`.
            own = min(found, key=len)
            return (
                f'it is an attribute of {kind}s such as `{own}`: `{kind} {{ type: "{own}" {own} {{ {name}: ... }} }}`'
            )
    return ""


def attribute_hint(name: str, definition: Definition) -> tuple[str, str]:
    """The hint for an unknown attribute, and the suggested name, which may be empty."""
    known = definition.attribute_by_name
    # Exact names of other frameworks before similar names.
    if equivalent := equivalent_attribute(name, known):
        return name_here(name, equivalent), equivalent
    # Exact names of fields beside this block come before similar ones, too.
    if definition.kind in registries and name in spec(definition.kind.capitalize()).fields:
        return f"`{name}` belongs in the {definition.kind}, outside of `{definition.name} {{ }}`", ""
    if near := nearest(name, known):
        return f"did you mean `{near}`?", near
    return "available: " + ", ".join(definition.attributes) if known else "it has no attributes", ""


def report_unknown_type(report: DiagnosticReport, registry: str, name: str, start: int, blocks: Sequence[str]) -> None:
    """Report it, with a similar name, the equivalent of another framework, or a note on plugins."""
    hint, near = _hint(registry, name, [*registries[registry], *blocks])
    end = report.source.token_end(start)
    fix = Fix(start, end, f'"{near}"') if near else None
    what = "layer type" if registry == "layer" else registry
    report.add("E111", f"unknown {what} `{name}`", start, end, help=hint, fix=fix)


def _hint(registry: str, name: str, known: Sequence[str]) -> tuple[str, str | None]:
    """The suggested fix, and the suggested name."""
    # Before similar names: the plugin that failed to load is the cause, and a similar built-in type would hide it.
    if plugin := broken_plugin(name):
        return f"the plugin `{plugin.prefix}`, which may provide it, {plugin.fate}", None
    # Exact names of other frameworks before similar names: of these, the nearest by spelling is often another layer.
    if none := no_layer_here(registry, name):
        return none, None
    if meant := meant_elsewhere(registry, name):
        return meant.hint(registry), meant.definition.name if meant.definition.kind == registry else None
    if near := nearest(name, known, 0.5):
        return f"did you mean `{near}`?", near
    available = f"available: {', '.join(known)}"
    if len(known) > _LISTED:
        available = "`paddle-layers layers` lists all types"
    return f"{available}; if a plugin provides it, install the plugin or pass `--plugins FILE.py`", None

"""Suggestions for an unknown type, and for a misplaced field of a training file."""

from __future__ import annotations

from collections.abc import Sequence

from paddle_layers.define import broken_plugin, meant_elsewhere, no_layer_here, registries

from ..diagnostics.diagnostic import Fix
from ..diagnostics.report import Report
from ..diagnostics.suggestions import nearest

_LISTED = 40
"""Maximum number of type names in a message; for more it names the command."""
_KINDS = ("optimizer", "regularizer", "schedule", "callback")
_LOSS = "a loss is a layer of the network, such as `softmax_with_loss` or `square_error`"
_STATISTIC = "what is measured is a layer of the network, such as `accuracy` or `regression_error`"
_DECAY = 'write `regularizer { type: "l2" l2 { rate: ... } }`; the optimizer `adamw` has `weight_decay` of its own'
_FROZEN = 'write `param { of: "weight" frozen: true }`, for each parameter of the layer'
_MEANT = {
    "Training": {
        **dict.fromkeys(("loss", "loss_function", "criterion", "objective", "cost"), _LOSS),
        **dict.fromkeys(("metric", "metrics", "evaluator"), _STATISTIC),
        **dict.fromkeys(("weight_decay", "l2", "decay"), _DECAY),
        **dict.fromkeys(("device", "gpu", "cuda", "use_gpu"), "the command line says it: `--device cuda`"),
        **dict.fromkeys(
            ("num_workers", "workers", "threads", "num_threads"), "the command line says it: `--threads 4`"
        ),
        **dict.fromkeys(("pretrained", "init_from", "load"), 'write `weights { file: "..." }`'),
    },
    "Optimizer": dict.fromkeys(("weight_decay", "l2", "decay"), _DECAY),
    "Network": {
        "output": "what no layer reads is an output; `predict --value NAME` gives other values",
        "outputs": "what no layer reads is an output; `predict --value NAME` gives other values",
        "input": "what is fed are layers of the type `data`",
        "inputs": "what is fed are layers of the type `data`",
    },
    "Layer": {
        **dict.fromkeys(("trainable", "requires_grad", "freeze"), _FROZEN),
        "phase": 'write `include { phase: "test" }`',
    },
}
"""Fields of other systems, and misplaced fields, by the message in which they were written."""


def elsewhere(header: str, name: str) -> str:
    """The replacement of an unknown field: another field, or a block that has it; else empty."""
    if meant := _MEANT.get(header, {}).get(name):
        return meant
    if header not in ("Training", "Optimizer"):
        return ""
    for kind in _KINDS:
        found = [one.name for one in registries[kind].values() if name in one.attribute_by_name]
        if found:
            own = min(found, key=len)
            return f'the {kind} may have it, such as `{own}`: `{kind} {{ type: "{own}" {own} {{ {name}: ... }} }}`'
    return ""


def report_unknown_type(report: Report, registry: str, name: str, start: int, blocks: Sequence[str]) -> None:
    """Report it, with the nearest name, the name in other systems, or how plugins are given."""
    hint, near = _hint(registry, name, [*registries[registry], *blocks])
    end = report.source.token_end(start)
    fix = Fix(start, end, f'"{near}"') if near else None
    report.add("E111", f"there is no {registry} `{name}`", start, end, help=hint, fix=fix)


def _hint(registry: str, name: str, known: Sequence[str]) -> tuple[str, str | None]:
    """The suggested fix, and the one name that is meant."""
    if plugin := broken_plugin(name):
        return f"the plugin `{plugin.prefix}`, which would bring it, {plugin.fate}", None
    if none := no_layer_here(registry, name):
        return none, None
    if meant := meant_elsewhere(registry, name):
        return meant.hint(registry), meant.definition.name if meant.definition.kind == registry else None
    if near := nearest(name, known, 0.5):
        return f"did you mean `{near}`?", near
    there = f"there are {', '.join(known)}"
    if len(known) > _LISTED:
        there = "`paddle-layers layers` lists those that there are"
    return f"{there}; one of a plugin is there when it is installed, or named by `--plugins FILE.py`", None

"""Names of attributes in other frameworks."""

from __future__ import annotations

from collections.abc import Iterable

_RATE, _SIZE = ("drop_rate",), ("size", "num_filters")
_EQUIVALENT: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("units", "out_features", "output_dim", "embedding_dim", "hidden_size", "num_units"), _SIZE),
    **dict.fromkeys(("output_size", "num_outputs", "n_out", "features", "hidden_dim", "dim_out"), _SIZE),
    **dict.fromkeys(("filters", "out_channels", "channels", "num_output", "num_channels"), ("num_filters", "size")),
    **dict.fromkeys(("kernel", "kernel_size", "kernel_shape", "ksize", "filter"), ("filter_size", "pool_size")),
    **dict.fromkeys(("p", "rate", "ratio", "dropout", "dropout_rate", "dropout_ratio", "dropout_prob"), _RATE),
    **dict.fromkeys(("activation", "nonlinearity", "activation_fn"), ("act",)),
    **dict.fromkeys(("use_bias", "bias_term", "bias_attr", "with_bias"), ("bias",)),
    **dict.fromkeys(("pads", "pad", "padding_mode"), ("padding",)),
    **dict.fromkeys(("group", "num_groups"), ("groups",)),
    **dict.fromkeys(("dim", "concat_dim", "softmax_axis"), ("axis",)),
    **dict.fromkeys(("target_shape", "shape"), ("dims",)),
    **dict.fromkeys(("go_backwards", "is_reverse"), ("reverse",)),
    **dict.fromkeys(("recurrent_activation",), ("gate_act",)),
    **dict.fromkeys(("ignore_index", "ignore_class"), ("ignore_label",)),
    **dict.fromkeys(("heads", "nhead", "n_heads"), ("num_heads",)),
    **dict.fromkeys(("dim_feedforward", "ffn_dim", "intermediate_dim"), ("hidden",)),
    **dict.fromkeys(("is_causal", "use_causal_mask"), ("causal",)),
    **dict.fromkeys(("scale_factor",), ("scale",)),
    **dict.fromkeys(("dtype", "type"), ("data_type",)),
    **dict.fromkeys(("input_shape", "input_dim", "dims"), ("shape",)),
    **dict.fromkeys(("sequence", "is_sequence", "lod_level", "seq_type"), ("seq_nested_level",)),
    **dict.fromkeys(("vocab_size", "num_classes", "num_embeddings", "classes"), ("size",)),
    **dict.fromkeys(("monitor", "metric"), ("watch",)),
    **dict.fromkeys(("min_delta", "threshold"), ("margin",)),
    **dict.fromkeys(("rho", "alpha", "decay_rate"), ("decay", "gamma")),
    **dict.fromkeys(("betas", "beta_1"), ("beta1",)),
    **dict.fromkeys(("beta_2",), ("beta2",)),
    **dict.fromkeys(("eps",), ("epsilon",)),
    **dict.fromkeys(("step_size", "stepsize", "decay_steps"), ("every", "steps")),
    **dict.fromkeys(("milestones", "stepvalue", "boundaries"), ("at",)),
    **dict.fromkeys(("warmup_steps", "num_warmup_steps"), ("warmup",)),
    **dict.fromkeys(("eta_min", "min_lr"), ("floor",)),
    **dict.fromkeys(("factor",), ("gamma",)),
    **dict.fromkeys(("root", "directory", "root_dir", "data_dir"), ("folder",)),
    **dict.fromkeys(("path", "filename", "filepath", "source"), ("file", "folder")),
    **dict.fromkeys(("target", "target_column", "y"), ("label",)),
    **dict.fromkeys(("label", "labels", "class_names", "categories"), ("classes",)),
    **dict.fromkeys(("sep", "separator"), ("delimiter",)),
    **dict.fromkeys(("usecols", "feature_columns"), ("columns",)),
}
"""For names of PyTorch, Keras, ONNX, Caffe and scikit-learn, the possible names here, the most likely first."""


def equivalent_attribute(name: str, known: Iterable[str]) -> str:
    """The known attribute that another framework calls `name`; empty without one."""
    available = set(known)
    return next((one for one in _EQUIVALENT.get(name, ()) if one in available), "")


def name_here(name: str, equivalent: str) -> str:
    """The hint for the name of another framework."""
    # A bool or another encoding in other frameworks.
    values = ": 1 for sequences, 2 for nested sequences" if equivalent == "seq_nested_level" else ""
    return f"`{name}` is called `{equivalent}` here{values}"

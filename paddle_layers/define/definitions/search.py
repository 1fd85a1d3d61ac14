"""Search for definitions and attributes by name, names in other systems, terms and summary; suggestions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .definition import Definition
from .registry import HINTS, registries

NAME, SAME_SPELLING, TERM, EQUIVALENT, PART_OF_NAME, PART_OF_TERM, SUMMARY = range(7)
"""Kinds of matches, from the best to the weakest."""
SYSTEMS = ("PyTorch", "Keras", "ONNX", "Paddle", "Caffe", "Mocha", "KUnet")
"""Priority of systems for a name that several have, from the most to the least likely."""
ENDINGS = ("layer", "evaluator")
"""Affixes that the helpers of Paddle and the types of Mocha add to a name."""
WITH_ENDINGS = ("Paddle", "Mocha")
NO_LAYER = {
    "Paddle": (
        *("gather_agent", "get_output", "l2_distance", "multi_class_cross_entropy_with_selfnorm", "scatter_agent"),
        *("sequence_agent", "sequence_gather_agent", "sequence_scatter_agent", "trans"),
    ),
    "Caffe": ("MemoryData", "Python", "Silence"),
    "Mocha": ("HingeLossLayer", "MemoryDataLayer", "MemoryOutputLayer"),
    "KUnet": ("KPerceptron", "Kernel", "LogpLoss", "Perceptron", "Poly", "Rbfk", "ScalLoss"),
}
"""Layers that are several here, or none: a guide says what to write in their place."""


class Match(NamedTuple):
    """A definition that was searched for, and the name or term that matched; empty where it was the summary."""

    rank: int
    definition: Definition
    term: str

    @property
    def is_exact(self) -> bool:
        """Whether the whole name or term was searched for, apart from case and separators."""
        return self.rank <= EQUIVALENT


def search(words: str) -> list[Match]:
    """Search all registered definitions.

    Args:
        words: One or more words, in any case; `_`, `-` and capitals inside a name separate words.

    Returns:
        The matches, best first: equal names, equal terms, names, terms and summaries that contain all words.
    """
    wanted = _words(words)
    found = [_match(words, wanted, d) for registry in registries.values() for d in registry.values()] if wanted else []
    return sorted(
        (match for match in found if match is not None), key=lambda m: (m.rank, _system(m), len(_words(m.term)))
    )


def _system(match: Match) -> int:
    """The rank of the most likely system that has this name: Keras' `LSTM` before Caffe's."""
    names = match.definition.elsewhere
    return min(
        (place for place, system in enumerate(SYSTEMS) if match.term in names.get(system, "").split(", ")),
        default=len(SYSTEMS),
    )


def _match(words: str, wanted: tuple[str, ...], definition: Definition) -> Match | None:
    if _joined(wanted) == _joined(_words(definition.name)):
        return Match(NAME, definition, definition.name)
    terms = terms_of(definition)
    if any(words in listed.split(", ") for listed in definition.elsewhere.values()):
        return Match(SAME_SPELLING, definition, words)  # `InnerProduct` is Caffe's layer, not the inner product
    for term in terms:
        if _joined(wanted) == _joined(_words(term)):
            return Match(TERM if term in definition.terms else EQUIVALENT, definition, term)
    if set(wanted) <= set(_words(definition.name)):
        return Match(PART_OF_NAME, definition, definition.name)
    for term in terms:
        if set(wanted) <= set(_words(term)):
            return Match(PART_OF_TERM, definition, term)
    return Match(SUMMARY, definition, "") if set(wanted) <= set(_words(definition.summary)) else None


def terms_of(definition: Definition) -> list[str]:
    """Search terms of a definition and its names in other systems: the one table that every search reads."""
    names = [name for listed in definition.elsewhere.values() for name in listed.split(", ")]
    return list(dict.fromkeys([*definition.terms, *names]))


def _words(text: str) -> tuple[str, ...]:
    """The words in lower case: `Conv2DTranspose`, `conv2d_transpose` and `conv2d transpose` have equal letters."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return tuple(re.findall(r"\w+", spaced.replace("_", " ").lower()))


def _joined(words: tuple[str, ...]) -> str:
    return "".join(words)


class Meant(NamedTuple):
    """A definition here, and the name of the same thing in another system, or a search term without a system."""

    definition: Definition
    system: str
    name: str

    def hint(self, kind: str) -> str:
        """The replacement for a definition of this kind."""
        own = self.definition
        what = f"called `{own.name}`" if own.kind == kind else f"the {own.kind} `{own.name}`"
        owner = f"{self.system}'s " if self.system else ""
        return f"{owner}`{self.name}` is {what} here"


def meant_elsewhere(kind: str, name: str) -> Meant | None:
    """The definition with this name in another system or the literature, up to endings and case; best of this kind.

    A name that differs from a registered one in its case alone is a misspelling, unless another system has exactly this
    name: `Linear` is PyTorch's fully connected layer and not the identity.
    """
    plain, exact = _normalized(name), {name, _stem(name)}
    found = [meant for meant in _names_elsewhere() if _normalized(meant.name) == plain]
    if name.lower() in registries[kind]:
        found = [meant for meant in found if meant.name == name]
        if any(meant.definition.name == name.lower() for meant in found):
            return None
    ended = name != _stem(name)
    return min(
        found,
        key=lambda m: (
            m.name not in exact,
            ended and m.system not in WITH_ENDINGS,
            m.definition.kind != kind,
            SYSTEMS.index(m.system) if m.system in SYSTEMS else len(SYSTEMS),
            # The basic one of several, which most systems have: `pool` before `max_pool_with_mask`.
            (-len(m.definition.elsewhere), len(m.definition.name)),
        ),
        default=None,
    )


def _names_elsewhere() -> Iterator[Meant]:
    for registry in registries.values():
        for definition in registry.values():
            for system, names in definition.elsewhere.items():
                yield from (Meant(definition, system, name) for name in names.split(", "))
            yield from (Meant(definition, "", term) for term in definition.terms)


def _stem(name: str) -> str:
    ending = next((ending for ending in ENDINGS if name.lower().endswith(ending)), "")
    return name[: len(name) - len(ending)].rstrip("_")


def _normalized(name: str) -> str:
    return re.sub(r"[\W_]", "", _stem(name).lower())


def no_layer_here(kind: str, name: str) -> str:
    """Alternatives for a layer of another system that corresponds to several layers here, or to none."""
    system = next((system for system, names in NO_LAYER.items() if kind == "layer" and name in names), None)
    if system is None:
        return ""
    guide = "Every layer of Paddle, Caffe, Mocha and KUnet"
    return f"{system}'s `{name}` is not a single layer here; the guide {guide!r} shows its equivalent"


def _hint(kind: str, name: str) -> str:
    meant = meant_elsewhere(kind, name)
    return no_layer_here(kind, name) or (meant.hint(kind) if meant else "")


HINTS.append(_hint)


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

"""Conditions on inputs that several layers have."""

from paddle_layers.define import Type, require


def check_labels(label: Type, classes: int) -> None:
    """Refuse labels that have more classes than there are scores."""
    require(label.size <= classes, "label", f"there are {label.size} labels, but {classes} classes have a score")


def check_labels_or_ignored(label: Type, classes: int, ignored: int | None) -> None:
    """Refuse labels that have more classes than there are scores, save for a class that is ignored."""
    require(
        label.size <= classes or (ignored is not None and ignored >= classes),
        "label",
        f"there are {label.size} labels, but {classes} classes have a score",
    )


def check_answers(answers: Type, name: str) -> None:
    """Refuse ids of an input that are more than 0 for no and 1 for yes."""
    require(answers.size <= 2, name, f"there are {answers.size} answers, but only 0 for no and 1 for yes count")


def check_spread(x: Type, other: Type, C: int, B: int, J: int) -> None:
    """Refuse a second input that has neither the axes of the first nor a single number in their place."""
    require(
        B in {1, C},
        "other",
        f"`other` is {other}: its {B} channels are neither those of `x`, {C}, nor 1; is `x` first?",
    )
    require(
        other.dims[1:] == x.dims[1:] or (J == 1 and len(other.dims) <= len(x.dims)),
        "other",
        f"`other` is {other}: behind the channels it has neither the axes of `x`, {x}, nor only 1; is `x` first?",
    )

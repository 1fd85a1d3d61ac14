"""Input conditions shared by several layers."""

from paddle_layers.define import Type, require


def check_labels(label: Type, classes: int) -> None:
    """Reject labels with more classes than scores."""
    require(label.size <= classes, "label", f"the label has {label.size} classes, but there are {classes} scores")


def check_labels_or_ignored(label: Type, classes: int, ignored: int | None) -> None:
    """Reject labels with more classes than scores, except for a class that is ignored."""
    require(
        label.size <= classes or (ignored is not None and ignored >= classes),
        "label",
        f"the label has {label.size} classes, but there are {classes} scores",
    )


def check_answers(answers: Type, name: str) -> None:
    """Reject ids of a binary input with more than two values."""
    require(answers.size <= 2, name, f"a binary target has the ids 0 and 1, got {answers.size} ids")


def check_spread(x: Type, other: Type, C: int, B: int, J: int) -> None:
    """Reject a second input that cannot be broadcast to the first."""
    require(
        B in {1, C},
        "other",
        f"`other` is {other}: it has {B} channels, expected {C} as in `x`, or 1; are the inputs swapped?",
    )
    require(
        other.dims[1:] == x.dims[1:] or (J == 1 and len(other.dims) <= len(x.dims)),
        "other",
        f"`other` is {other}: after the channels its axes must be those of `x`, {x}, or 1; are the inputs swapped?",
    )

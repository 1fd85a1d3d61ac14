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

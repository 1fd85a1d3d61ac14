"""Conditions on inputs that several layers have."""

from paddle_layers.define import Type, require


def check_labels(label: Type, classes: int, ignore_label: int | None = None) -> None:
    """Refuse labels that have more classes than there are scores, save for a class that is ignored."""
    require(
        label.size <= classes or (ignore_label is not None and ignore_label >= classes),
        "label",
        f"there are {label.size} labels, but {classes} classes have a score",
    )


def check_answers(answers: Type, name: str) -> None:
    """Refuse ids of an input that are more than 0 for no and 1 for yes."""
    require(answers.size <= 2, name, f"there are {answers.size} answers, but only 0 for no and 1 for yes count")

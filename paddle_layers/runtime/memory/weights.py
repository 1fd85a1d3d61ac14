"""Saving and loading of weights: parameters and states are matched by name, or by explicit renames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paddle_layers.config.diagnostics.suggestions import nearest
from paddle_layers.define.errors import brief
from paddle_layers.define.escaping import message_line
from paddle_layers.define.name_patterns import check_names, listed, matching, rename_problem, renamed
from paddle_layers.runtime.memory.blocks import too_large

from .layouts import COUNTER, LAYOUTS, Form
from .parameters import ParameterSet
from .tensorfiles import Tensors, WeightsError, write_tensors
from .weightfiles import DATA, MARK, WeightsFile, open_weights

Shape = tuple[int, ...]
Shapes = Mapping[str, Shape]
Names = Mapping[str, str] | None
"""New names by old ones, if any."""
Forms = Mapping[str, Form]
OURS, TORCH = LAYOUTS
_SHOWN = 20
"""Maximum number of listed problems; the rest is counted."""
_SAME = Form("")


class PatternProblem(NamedTuple):
    """A problem of a pattern: one of `field`, `rename` or `leave_out`, by its position there."""

    field: str
    position: int
    message: str


class PatternError(WeightsError):
    """Patterns of `rename` and `leave_out` that match nothing, or too much: all of the `problems`."""

    def __init__(self, problems: Sequence[PatternProblem]) -> None:
        self.problems = [one._replace(message=message_line(one.message)) for one in problems]
        super().__init__(problems[0].message)

    def __str__(self) -> str:
        """A line for each problem."""
        return "\n".join(one.message for one in self.problems)


class MismatchError(WeightsError):
    """Weights that do not fit the network: `summary`, one of `problems` for each weight, and `help`."""

    def __init__(self, summary: str, problems: Sequence[str], help: str) -> None:
        more = [f"... and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
        self.summary, self.help = summary, message_line(help)
        self.problems = [*map(message_line, problems[:_SHOWN]), *more]
        super().__init__(summary)

    def __str__(self) -> str:
        """A line for each problem."""
        return "\n  ".join([f"{super().__str__()}:", *self.problems]) + f"\n{self.help}"


@dataclass(frozen=True)
class LoadReport:
    """Result of loading weights."""

    loaded: tuple[str, ...]
    """Names of the loaded parameters and states."""
    missing: tuple[str, ...]
    """Names of those that the file lacks or that were left out, which kept their values."""
    unexpected: tuple[str, ...]
    """Names in the file that were ignored."""
    sources: Mapping[str, str]
    """Name in the file of each loaded parameter."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Data type in the file of each loaded parameter, such as `F32` or `BF16`."""

    @property
    def plain(self) -> bool:
        """Whether everything was loaded, and by its own name."""
        return not self.missing and not self.unexpected and all(name == own for name, own in self.sources.items())


def save_weights(path: str, parameters: ParameterSet, forms: Forms, *, rename: Mapping[str, str], layout: str) -> None:
    """Writes all values by name, in our layout or in that of PyTorch. Raises `SaveError`, `WeightsError`."""
    check_layout(layout)
    if layout == TORCH:
        tensors = {}
        for name, parameter in parameters.by_name.items():
            form = forms.get(name, _SAME)
            try:
                if form.missing:
                    raise ValueError(form.missing)
                tensors[_there(name, form)] = form.written(parameter.value)
            except ValueError as error:
                raise WeightsError(f"cannot convert `{name}` to PyTorch's layout: {error}") from None
    else:
        tensors = {name: parameter.value for name, parameter in parameters.by_name.items()}
    problems: list[PatternProblem] = []
    names = _renamed("the network", list(tensors), rename, problems)
    if problems:
        raise PatternError(problems)
    write_weights(path, {own: tensors[name] for own, name in names.items()}, layout=layout, data=parameters.data)


def write_weights(path: str, tensors: Tensors, *, layout: str = OURS, data: str = "") -> None:
    """Writes weights by name, with a mark of our layout, which avoids ambiguity when loading. Raises `SaveError`."""
    facts = MARK if layout == OURS else {"format": "pt"}
    write_tensors(path, tensors, facts | {DATA: data} if data else facts)


def load_weights(
    path: str,
    parameters: ParameterSet,
    forms: Forms,
    *,
    rename: Mapping[str, str],
    leave_out: Iterable[str],
    layout: str | None,
) -> LoadReport:
    """Reads values by name; nothing is changed unless all of them fit. Raises `WeightsError`."""
    known, file = parameters.by_name, open_weights(path)
    wanted = {name: one.shape for name, one in known.items()}
    report = match_weights(file, wanted, forms, rename=rename, leave_out=leave_out, layout=layout)
    try:
        # All checks precede the first assignment: a file that does not fit leaves the net unchanged.
        tensors = file.read(report.sources.values())
    except MemoryError:
        raise WeightsError(f"{path}: cannot allocate memory for its arrays") from None
    for name, source in report.sources.items():
        if problem := too_large(tensors[source], known[name].dtype):
            raise WeightsError(f"{path}: `{source}` {problem}")
    for name, source in report.sources.items():
        read = forms.get(name, _SAME).read if layout == TORCH else np.asarray
        known[name].value = read(tensors[source])
    parameters.data = "" if report.missing else file.data  # a part may be trained for other classes
    return report


def converted(report: LoadReport, dtype: str) -> str:
    """Description of conversions from another precision, such as `, bfloat16 converted to float32 exactly`."""
    names = {"F16": "float16", "BF16": "bfloat16", "F32": "float32", "F64": "float64"}
    found = sorted({names[one] for one in report.types.values() if one in names} - {dtype})
    rounded = [one for one in found if one == "float64"]
    exact = [one for one in found if one != "float64"]
    said = [(exact, "exactly"), (rounded, "rounded")]
    return "".join(
        f", {' and '.join(some)} converted to {dtype}{' with rounding' if how == 'rounded' else ' exactly'}"
        for some, how in said
        if some
    )


def check_layout(layout: str | None) -> None:
    """Raises `WeightsError` for an unknown layout."""
    if layout is not None and layout not in LAYOUTS:
        raise WeightsError(f"unknown `layout` {layout!r}; available: {listed(LAYOUTS)}")


def match_weights(
    file: WeightsFile,
    wanted: Shapes,
    forms: Forms,
    *,
    rename: Mapping[str, str],
    leave_out: Iterable[str],
    layout: str | None,
) -> LoadReport:
    """Matches the weights of a file with the `wanted` ones, by metadata.

    `forms` are those of PyTorch, which the file has with the `layout` "torch". Without a layout they are as here, and
    the file has to provide evidence for that.

    Returns:
        The names that match, are missing and are ignored.

    Raises:
        WeightsError: Mismatches.
    """
    check_layout(layout)
    path, stored = file.path, file.shapes
    if layout == TORCH and file.ours:
        raise WeightsError(
            f'{path}: this file has the layout of this library, not of PyTorch; remove layout: "{TORCH}"'
        )
    there = {name: forms.get(name, _SAME).shape(shape) for name, shape in wanted.items()} if layout == TORCH else wanted
    problems: list[PatternProblem] = []
    left = _left_out(path, leave_out, stored, wanted, problems)
    if layout == TORCH:
        left.update(name for name in stored if name.endswith(COUNTER))
    sources = _renamed(path, [name for name in stored if name not in left], rename, problems)
    if problems:
        raise PatternError(problems)
    if layout == TORCH:
        sources = _named_here(path, sources, wanted, forms)
    sources = {name: source for name, source in sources.items() if name not in left}
    missing = [name for name in wanted if name not in sources and name not in left]
    extra = [name for name in sources if name not in wanted]
    other = [name for name in wanted if name in sources and there[name] != stored[sources[name]]]
    if missing or extra or other:
        raise _MismatchReport(file, wanted, there, forms, sources, layout).error(missing, extra, other)
    loaded, read = tuple(name for name in wanted if name in sources), set(sources.values())
    if layout == TORCH:
        _check_forms(path, loaded, forms)
    elif layout is None and not file.ours:
        _check_evidence(path, loaded, wanted, forms)
    kept = tuple(name for name in wanted if name not in sources)
    unread = tuple(name for name in stored if name not in read)
    types = {name: file.tensors[sources[name]].dtype for name in loaded}
    return LoadReport(loaded, kept, unread, {name: sources[name] for name in loaded}, types)


def _there(name: str, form: Form) -> str:
    """The name of a parameter with PyTorch's last component."""
    layer, own = _stem(name)
    numbered = own[-1:].isdigit()  # one weight per input, which no module of PyTorch has
    return name if numbered or not form.name else f"{layer}.{form.name}"


def _named_here(path: str, sources: Mapping[str, str], wanted: Shapes, forms: Forms) -> dict[str, str]:
    """The names in the file by ours, for those with PyTorch's last component, such as `bn.weight`."""
    ours = {_there(name, forms.get(name, _SAME)): name for name in wanted}
    found: dict[str, str] = {}
    for name, source in sources.items():
        own = name if name in wanted else ours.get(name, name)
        if own in found:
            raise WeightsError(f"{path}: both `{found[own]}` and `{source}` map to `{own}`")
        found[own] = source
    return found


def _check_forms(path: str, loaded: Iterable[str], forms: Forms) -> None:
    """Raises `WeightsError` for a layer that differs in PyTorch, though the shapes are the same."""
    for name in loaded:
        if missing := forms.get(name, _SAME).missing:
            raise WeightsError(f"{path}: `{name}` differs from PyTorch's parameter of this shape: {missing}")


def _check_evidence(path: str, loaded: Iterable[str], wanted: Shapes, forms: Forms) -> None:
    """Raises `WeightsError` if nothing shows that matrices have our layout, and not PyTorch's."""
    turned = [name for name in loaded if forms.get(name, _SAME).transposed]
    # If any transposed matrix is not square, its shape has already shown which layout the file has.
    square = [name for name in turned if forms[name].shape(wanted[name]) == wanted[name]]
    if square and len(square) == len(turned):
        more = f", and {len(square) - 1} more are square" if len(square) > 1 else ""
        raise WeightsError(
            f"{path}: ambiguous layout: `{square[0]}` is {_show(wanted[square[0]])}{more}: a row is an input "
            f'here, an output in PyTorch. Set layout: "{OURS}" or layout: "{TORCH}" in `weights {{ }}` of the training '
            "file, `layout` of `Net.load`, or --from of `paddle-layers weights`"
        )


def _left_out(
    path: str, patterns: Iterable[str], stored: Shapes, wanted: Shapes, problems: list[PatternProblem]
) -> set[str]:
    left: set[str] = set()
    for position, pattern in enumerate(patterns):
        if not isinstance(pattern, str):
            raise TypeError(f"leave_out must be patterns of names, not {brief(pattern)}")
        found = matching(pattern, {**wanted, **stored})
        left.update(found)
        if not found:
            near = _near(pattern, [*wanted, *stored])
            message = f"{path}: no name in the network or the file matches `leave_out: {pattern}`{near}"
            problems.append(PatternProblem("leave_out", position, message))
    return left


def _renamed(
    path: str, names: Sequence[str], rename: Mapping[str, str], problems: list[PatternProblem]
) -> dict[str, str]:
    """The names in the file by those in the network; the first matching rename is used."""
    check_names("rename", rename, "from old to new names")
    if other := [new for new in rename.values() if not isinstance(new, str)]:
        raise TypeError(f"rename must be a dict from old to new names, with strings as values, not {brief(other[0])}")
    wrong = {old: problem for old, new in rename.items() if (problem := rename_problem(old, new))}
    sources: dict[str, list[str]] = {}
    given: dict[str, str] = {}
    """By a new name, the first rename that gives it."""
    used = set()
    for name in names:
        fitting = ((old, renamed(name, old, new)) for old, new in rename.items() if old not in wrong)
        old, own = next(((old, own) for old, own in fitting if own is not None), ("", name))
        sources.setdefault(own, []).append(name)
        if old:
            given.setdefault(own, old)
            used.add(old)
    for own, same in sources.items():
        if len(same) > 1:
            which = f"both `{same[0]}` and `{same[1]}`" if len(same) == 2 else f"all of {listed(same)}"
            wrong.setdefault(given[own], f"{path}: {which} map to `{own}`")
    for old in set(rename).difference(used, wrong):
        wrong[old] = f"{path}: no name matches `rename` from `{old}`{_near(old, names)}"
    problems += [PatternProblem("rename", at, wrong[old]) for at, old in enumerate(rename) if old in wrong]
    return {own: same[0] for own, same in sources.items()}


@dataclass(frozen=True)
class _MismatchReport:
    """Messages for mismatches, and the settings of the training file that would fix them."""

    file: WeightsFile
    wanted: Shapes
    there: Shapes
    """The required shapes in the file's layout."""
    forms: Forms
    sources: Mapping[str, str]
    layout: str | None

    def error(self, missing: Sequence[str], extra: Sequence[str], other: Sequence[str]) -> MismatchError:
        stored, sources = self.file.shapes, self.sources
        problems, meant = [], {}
        for number, name in enumerate(missing):
            shown = number < _SHOWN  # for each of the others, too, all names would be compared
            same = [sources[one] for one in extra if stored[sources[one]] == self.there[name]] if shown else []
            near = nearest(name, same) or next((one for one in same if _stem(one)[1] == _stem(name)[1]), None)
            hint = f"; did you mean `{near}`, which has the same shape?" if near else ""
            problems.append(f"`{name}` {_show(self.there[name])} is not in the file{hint}")
            if near:
                meant[near] = name
        for name in other:
            found = stored[sources[name]]
            problems.append(f"`{name}` is {_show(self.there[name])}, but {_show(found)} in the file{self._why(name)}")
        for name in extra:
            source = sources[name] if sources[name] == name else f"{sources[name]}`, renamed `{name}"
            problems.append(f"`{source}` {_show(stored[sources[name]])} is in the file, but not in the network")
        help_ = self._layout_help(other, extra) + _help(meant, [*missing, *other])
        return MismatchError(f"{self.file.path} does not match the network", problems, help_)

    def _why(self, name: str) -> str:
        """Likely reason for a wrong shape."""
        ours, found = self.wanted[name], self.file.shapes[self.sources[name]]
        if self.layout != TORCH and self._turned(name):
            return ": transposed, as in PyTorch"
        if self.layout == TORCH and found == ours:
            return ": the layout of this library"
        if len(ours) == 4 and found == (*ours[2:], ours[1], ours[0]):
            return ": height, width, channels, filters, as in Keras; apply transpose(3, 2, 0, 1)"
        return ""

    def _turned(self, name: str) -> bool:
        form = self.forms.get(name, _SAME)
        return form.transposed and form.shape(self.wanted[name]) == self.file.shapes[self.sources[name]]

    def _layout_help(self, other: Sequence[str], extra: Sequence[str]) -> str:
        """The layout that the file seems to have, if it is not the specified one."""
        turned = self.layout is None and any(map(self._turned, other))
        counted = self.layout is None and any(self.sources[name].endswith(COUNTER) for name in extra)
        if turned or counted:
            return (
                f'the weights seem to be PyTorch\'s: set layout: "{TORCH}" in `weights {{ }}` of the training file, '
                f"or convert them once with `paddle-layers weights NET FILE -o OURS --from {TORCH}`; "
            )
        shard = self._index_beside()
        return f"the file is one shard of several: load their index, {shard}; " if shard else ""

    def _index_beside(self) -> str:
        """The index of the files that this one belongs to, by their usual names."""
        path = Path(self.file.path)
        stem, _, rest = path.name.partition("-0")
        index = path.with_name(f"{stem}.safetensors.index.json")
        return str(index) if "-of-" in rest and index.is_file() else ""


def _help(meant: Mapping[str, str], unread: Sequence[str]) -> str:
    """The remedy, with the first weight of another name, and the first missing one, as examples."""
    words = []
    for first, second in list(meant.items())[:1]:
        (old, old_end), (new, new_end) = _stem(first), _stem(second)
        pair = (f"{old}.*", f"{new}.*") if old_end == new_end else (first, second)
        words.append(f'rename {{ from: "{pair[0]}" to: "{pair[1]}" }}')
    words += [f'leave_out: "{_stem(name)[0]}.*"' for name in unread[:1]] or ["leave_out"]
    return (
        f"to load them into a changed network, add {' or '.join(words)} to `weights {{ }}` of its training file, or "
        "pass the same to `Net.load`"
    )


def _stem(name: str) -> tuple[str, str]:
    """The layer of a parameter, and the parameter's name there."""
    layer, _, own = name.rpartition(".")
    return layer, own


def _near(pattern: str, names: Sequence[str]) -> str:
    layers = dict.fromkeys(f"{_stem(name)[0]}.*" for name in names)
    near = nearest(pattern, [*layers, *names])
    return f"; did you mean `{near}`?" if near else f"; available: {listed(names) or 'none'}"


def _show(shape: Sequence[int]) -> str:
    return f"({'x'.join(map(str, shape)) or 'scalar'})"

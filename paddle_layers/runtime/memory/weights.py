"""Parameters and states in safetensors files: each finds its weights by name, or the user says otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from paddle_layers.config.diagnostics.suggestions import nearest
from paddle_layers.define.escaping import message_line
from paddle_layers.define.name_patterns import listed, matching, rename_problem, renamed
from paddle_layers.runtime.memory.precision import too_large

from .parameters import ParameterSet
from .tensorfiles import WeightsError, read_shapes, read_tensors, write_tensors

Shapes = Mapping[str, tuple[int, ...]]
_SHOWN = 20
"""Problems that are told one by one."""


class PatternProblem(NamedTuple):
    """What is wrong with a pattern: one of `field`, `rename` or `leave_out`, by its position there."""

    field: str
    position: int
    message: str


class PatternError(WeightsError):
    """Patterns of `rename` and `leave_out` that mean nothing, or too much: all of the `problems`."""

    def __init__(self, problems: Sequence[PatternProblem]) -> None:
        self.problems = [one._replace(message=message_line(one.message)) for one in problems]
        super().__init__(problems[0].message)

    def __str__(self) -> str:
        """A line for each problem."""
        return "\n".join(one.message for one in self.problems)


class MismatchError(WeightsError):
    """Weights that don't fit the network: `summary`, one of `problems` for each weight, and `help`."""

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
    """What was read: names of parameters and states, those that kept their values, and weights that were left out."""

    loaded: tuple[str, ...]
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    sources: Mapping[str, str]
    """The name in the file of each that was read."""

    @property
    def plain(self) -> bool:
        """Whether everything was read, and by its own name."""
        return not self.missing and not self.unexpected and all(name == own for name, own in self.sources.items())


def save_weights(path: str, parameters: ParameterSet) -> None:
    """Write all values by name. Raises `SaveError`."""
    write_tensors(path, {name: parameter.value for name, parameter in parameters.by_name.items()})


def load_weights(
    path: str, parameters: ParameterSet, *, rename: Mapping[str, str], leave_out: Iterable[str]
) -> LoadReport:
    """Read values by name; nothing is changed unless all of them fit. Raises `WeightsError`."""
    known = parameters.by_name
    report = match_weights(path, {name: one.shape for name, one in known.items()}, rename=rename, leave_out=leave_out)
    tensors, _ = read_tensors(path, report.sources.values())
    for name, source in report.sources.items():
        if problem := too_large(tensors[source], known[name].dtype):
            raise WeightsError(f"{path}: `{source}` {problem}")
    for name, source in report.sources.items():
        known[name].value = tensors[source]
    return report


def match_weights(path: str, wanted: Shapes, *, rename: Mapping[str, str], leave_out: Iterable[str]) -> LoadReport:
    """Which weights of a file are for which of the `wanted`, by the file's header alone. Raises `WeightsError`."""
    stored, problems = read_shapes(path), list[PatternProblem]()
    left = _left_out(path, leave_out, stored, wanted, problems)
    sources = _renamed(path, [name for name in stored if name not in left], rename, problems)
    if problems:
        raise PatternError(problems)
    sources = {name: source for name, source in sources.items() if name not in left}
    missing = [name for name in wanted if name not in sources and name not in left]
    extra = [name for name in sources if name not in wanted]
    other = [name for name in wanted if name in sources and wanted[name] != stored[sources[name]]]
    if missing or extra or other:
        raise _mismatch(path, stored, wanted, sources, missing, extra, other)
    loaded, read = tuple(name for name in wanted if name in sources), set(sources.values())
    kept = tuple(name for name in wanted if name not in sources)
    unread = tuple(name for name in stored if name not in read)
    return LoadReport(loaded, kept, unread, {name: sources[name] for name in loaded})


def _left_out(
    path: str, patterns: Iterable[str], stored: Shapes, wanted: Shapes, problems: list[PatternProblem]
) -> set[str]:
    left: set[str] = set()
    for position, pattern in enumerate(patterns):
        found = matching(pattern, {**wanted, **stored})
        left.update(found)
        if not found:
            near = _near(pattern, [*wanted, *stored])
            message = f"{path}: `leave_out` is `{pattern}`, and neither the network nor the file has such a name{near}"
            problems.append(PatternProblem("leave_out", position, message))
    return left


def _renamed(
    path: str, names: Sequence[str], rename: Mapping[str, str], problems: list[PatternProblem]
) -> dict[str, str]:
    """The names in the file by those they have in the network; the first of the renames that fits is taken."""
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
            wrong.setdefault(given[own], f"{path}: {which} are to be read as `{own}`")
    for old in set(rename).difference(used, wrong):
        wrong[old] = f"{path}: `rename` is from `{old}`, and the file has no such name{_near(old, names)}"
    problems += [PatternProblem("rename", at, wrong[old]) for at, old in enumerate(rename) if old in wrong]
    return {own: same[0] for own, same in sources.items()}


def _mismatch(
    path: str,
    stored: Shapes,
    wanted: Shapes,
    sources: Mapping[str, str],
    missing: Sequence[str],
    extra: Sequence[str],
    other: Sequence[str],
) -> MismatchError:
    """The error with all that does not fit, and the words of the training file that would make it fit."""
    problems, meant = [], {}
    for number, name in enumerate(missing):
        shown = number < _SHOWN  # for each of the others, too, all names would be compared
        same = [sources[one] for one in extra if stored[sources[one]] == wanted[name]] if shown else []
        near = nearest(name, same) or next((one for one in same if _stem(one)[1] == _stem(name)[1]), None)
        hint = f"; did you mean `{near}`, which has this shape?" if near else ""
        problems.append(f"`{name}` {_show(wanted[name])} is not in the file{hint}")
        if near:
            meant[near] = name
    problems += [f"`{name}` is {_show(wanted[name])}, and {_show(stored[sources[name]])} in the file" for name in other]
    for name in extra:
        source = sources[name] if sources[name] == name else f"{sources[name]}`, renamed `{name}"
        problems.append(f"`{source}` {_show(stored[sources[name]])} is in the file only")
    return MismatchError(f"{path} holds weights of another network", problems, _help(meant, [*missing, *other]))


def _help(meant: Mapping[str, str], unread: Sequence[str]) -> str:
    """What to write, with the first weight of another name, and the first that is not there, as examples."""
    words = []
    for first, second in list(meant.items())[:1]:
        (old, old_end), (new, new_end) = _stem(first), _stem(second)
        pair = (f"{old}.*", f"{new}.*") if old_end == new_end else (first, second)
        words.append(f'rename {{ from: "{pair[0]}" to: "{pair[1]}" }}')
    words += [f'leave_out: "{_stem(name)[0]}.*"' for name in unread[:1]] or ["leave_out"]
    return (
        f"to start a changed network from them, say what is meant in its training file: {' or '.join(words)} in "
        "`weights { }`; `Net.load` takes the same by keyword"
    )


def _stem(name: str) -> tuple[str, str]:
    """The layer of a parameter, and its name there."""
    layer, _, own = name.rpartition(".")
    return layer, own


def _near(pattern: str, names: Sequence[str]) -> str:
    layers = dict.fromkeys(f"{_stem(name)[0]}.*" for name in names)
    near = nearest(pattern, [*layers, *names])
    return f"; did you mean `{near}`?" if near else f"; there are {listed(names) or 'none'}"


def _show(shape: Sequence[int]) -> str:
    return f"({'x'.join(map(str, shape)) or 'one number'})"

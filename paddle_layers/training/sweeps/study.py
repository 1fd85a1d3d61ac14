"""The study of a sweep: varied settings, Optuna's journal in its folder, and the assignment of trials to processes."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from paddle_layers.define.concurrency import lock_file
from paddle_layers.define.decimals import MANTISSA
from paddle_layers.define.escaping import message_line
from paddle_layers.define.output_folders import LinkError, open_folder

from ..problems import TrainingError
from ..results.run_files import compared, facts_of

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import FrozenTrial

    from paddle_layers.config import Training

_NUMBER = MANTISSA + r"(?:[eE][-+]?[0-9]{1,3})?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(:log)?")
_WHOLE = re.compile(r"[-+]?[0-9]{1,15}")
HOW = "write FIELD=LOW..HIGH, FIELD=LOW..HIGH:log, or FIELD=A,B,C"
JOURNAL, NAME, LOCK = "study.jsonl", "sweep", ".lock"


@dataclass(frozen=True)
class Varied:
    """A field with the ends of its range, or with its choices."""

    field: str
    low: float = 0.0
    high: float = 0.0
    logarithmic: bool = False
    whole: bool = False
    choices: tuple[str, ...] = ()

    def setting(self, value: float | str) -> str:
        """The field with a value in the syntax of `--set`: a sampled number has four digits."""
        return f"{self.field}={f'{value:.4g}' if isinstance(value, float) else value}"

    @property
    def samples(self) -> tuple[str, ...]:
        """Settings that show whether all of it can be set: the choices, or the ends."""
        values = self.choices or ((int(self.low), int(self.high)) if self.whole else (self.low, self.high))
        return tuple(map(self.setting, values))


def parse_varied(texts: Sequence[str]) -> list[Varied]:
    """Parse the fields to vary. Raises `TrainingError`."""
    found = [_parsed(text) for text in texts]
    fields = [one.field for one in found]
    for field in fields:
        if fields.count(field) > 1:
            raise TrainingError(f"duplicate --vary for `{field}`")
    if not found:
        raise TrainingError(f"missing --vary: {HOW}")
    return found


def _parsed(text: str) -> Varied:
    field, sign, value = text.partition("=")
    if not (field.strip() and sign and value.strip()):
        raise TrainingError(f"invalid --vary {text!r}: {HOW}")
    match = _RANGE.fullmatch(value)
    if match is None:
        choices = tuple(one.strip() for one in value.split(","))
        if len(choices) < 2 or "" in choices or len({*choices}) < len(choices):
            raise TrainingError(f"invalid --vary {text!r}, neither a range nor distinct choices: {HOW}")
        return Varied(field, choices=choices)
    low, high, logarithmic = float(match[1]), float(match[2]), match[3] is not None
    if not low < high < float("inf"):
        raise TrainingError(f"invalid --vary {text!r}: the lower bound must be less than the upper bound")
    if logarithmic and low <= 0:
        raise TrainingError(f"invalid --vary {text!r}: the lower bound of a log range must be above 0")
    whole = all(_WHOLE.fullmatch(match[end]) for end in (1, 2))
    return Varied(field, low, high, logarithmic, whole)


@dataclass(frozen=True)
class Sweep:
    """The settings of a sweep; plain strings and numbers, since they are passed to other processes."""

    file: str
    vary: tuple[str, ...]
    folder: str
    watch: str
    mode: str
    trials: int
    seed: int
    device: str = "cpu"
    settings: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()


def trial_folder(sweep: Sweep, number: int) -> Path:
    """The run of a trial."""
    return Path(sweep.folder) / f"trial-{number:04d}"


def open_study(sweep: Sweep) -> Study:
    """The study in the folder, created if it does not exist; all of its trials are checked.

    Raises `TrainingError` for a damaged one, and for one with trials of another sweep.
    """
    study = _load_study(sweep)
    _check_trials(sweep, study)
    return study


def _load_study(sweep: Sweep) -> Study:
    try:
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend
    except ImportError:
        raise TrainingError("sweeps require Optuna 4.0 or later: pip install 'paddle-layers[sweep]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    path = Path(sweep.folder) / JOURNAL
    with open_folder(path.parent) as folder:
        if folder.is_link(JOURNAL):
            raise TrainingError(str(LinkError(path)))
    with reading_journal(sweep):
        storage = JournalStorage(JournalFileBackend(str(path)))
        return optuna.create_study(storage=storage, study_name=NAME, direction=_direction(sweep), load_if_exists=True)


def _direction(sweep: Sweep) -> Literal["minimize", "maximize"]:
    return "minimize" if sweep.mode == "min" else "maximize"


def _check_trials(sweep: Sweep, study: Study) -> None:
    direction = _direction(sweep)
    with reading_journal(sweep):
        if study.direction.name.lower() != direction:
            raise ValueError(f"its direction is {study.direction.name.lower()}, expected {direction}")
        varied = {one.field: _distribution(one) for one in parse_varied(sweep.vary)}
        for trial in study.get_trials(deepcopy=False):
            _check_trial(trial, varied)


@contextlib.contextmanager
def reading_journal(sweep: Sweep) -> Iterator[None]:
    """Context that converts errors of Optuna in foreign or damaged journal lines to a `TrainingError` with the file."""
    path = Path(sweep.folder) / JOURNAL
    try:
        yield
    except (TrainingError, OSError):
        raise
    except Exception as error:  # Optuna has no errors for it: they are of any kind
        what = message_line(str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}")
        raise TrainingError(
            f"cannot read {path} as the journal of this sweep: {what}; choose another --output"
        ) from None


def _check_trial(trial: FrozenTrial, varied: Mapping[str, Any]) -> None:
    """Raises `ValueError` for a trial of another sweep, or with a result that is not a number.

    A killed process may leave a trial without values.
    """
    for field, distribution in trial.distributions.items():
        if distribution != varied.get(field):
            raise ValueError(f"trial {trial.number} varies `{field}` differently from --vary: {distribution}")
        if not distribution._contains(distribution.to_internal_repr(trial.params[field])):
            raise ValueError(f"trial {trial.number} has the invalid value {trial.params[field]!r} for `{field}`")
    if trial.state.name != "COMPLETE":
        return
    if trial.distributions.keys() != varied.keys():
        raise ValueError(f"trial {trial.number} lacks fields of --vary")
    if not isinstance(trial.value, (int, float)) or math.isnan(trial.value):
        raise ValueError(f"trial {trial.number} has the invalid result {trial.value!r}")


def check_same(sweep: Sweep, training: Training) -> None:
    """The folder holds this sweep, or nothing yet. Raises `TrainingError`."""
    folder = Path(sweep.folder)
    others = folder.is_dir() and any(path.name != LOCK for path in folder.iterdir())
    if others and not (folder / JOURNAL).is_file():
        raise TrainingError(f"{folder} is not empty and not a sweep; choose another --output")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open_folder(folder) as own:
            if own.is_link(LOCK):
                raise TrainingError(str(LinkError(folder / LOCK)))
    except OSError as error:
        raise TrainingError(f"cannot create the folder {folder}: {error.strerror}") from None
    facts, _ = facts_of(training, folder, (), data=False)
    fields = hashlib.sha256(repr(sorted(compared(facts.fields).items())).encode()).hexdigest()
    asked: dict[str, Any] = {
        "--vary": sorted(sweep.vary),
        "--watch": sweep.watch,
        "--mode": sweep.mode,
        "training": fields,
    }
    asked["length"] = list(facts.length)
    with _lock(folder / LOCK, wait=True), reading_journal(sweep):
        study = _load_study(sweep)
        before = study.user_attrs
        other = [name for name, value in asked.items() if name in before and before[name] != value]
        if other:
            raise TrainingError(
                f"{folder} contains a sweep with a different {', '.join(other)}; use the same command, or choose "
                "another --output"
            )
        _check_trials(sweep, study)  # after the settings, whose difference explains trials of another sweep
        for name, value in asked.items():
            if name not in before:
                study.set_user_attr(name, value)


def next_trial(sweep: Sweep, study: Study, held: contextlib.ExitStack) -> FrozenTrial | None:
    """A trial that no process works on, created if necessary; None when there are enough. It is `held` then."""
    from optuna.samplers import TPESampler
    from optuna.trial import TrialState

    varied = {one.field: _distribution(one) for one in parse_varied(sweep.vary)}
    # Reading the list and adding to it is one transaction, or two processes would create one trial too many.
    with _lock(Path(sweep.folder) / LOCK, wait=True), reading_journal(sweep):
        there = study.get_trials(deepcopy=False)
        for one in there:
            # A trial is free if its lock is: the system releases the lock of a killed process.
            if one.state.is_finished() or not _hold(sweep, one.number, held):
                continue
            if one.params.keys() == varied.keys():
                return one
            study.tell(one.number, state=TrialState.FAIL)  # its process was killed before all values were sampled
        if len(there) >= sweep.trials:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `constant_liar` is called experimental
            # The seed depends on the number of the trial and not on the process that asks. `constant_liar` lets
            # parallel trials avoid each other's candidates.
            study.sampler = TPESampler(seed=(sweep.seed * 1_000_003 + len(there)) % 2**32, constant_liar=True)
        asked = study.ask(varied)
        _hold(sweep, asked.number, held)
        return study.get_trials(deepcopy=False)[asked.number]


def _hold(sweep: Sweep, number: int, held: contextlib.ExitStack) -> bool:
    """Keep other processes from a trial as long as `held` is open; False where one of them works on it."""
    try:
        held.enter_context(_lock(Path(sweep.folder) / f".{trial_folder(sweep, number).name}.lock"))
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def _lock(path: Path, *, wait: bool = False) -> Iterator[None]:
    """Lock a file until the context or the process ends. Raises `BlockingIOError` when it is locked."""
    with open_folder(path.parent) as folder:
        handle = folder.open(path.name, os.O_RDWR | os.O_CREAT)
    try:
        lock_file(handle, wait=wait)
        yield
    finally:
        os.close(handle)


def _distribution(one: Varied) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if one.choices:
        return CategoricalDistribution(one.choices)
    if one.whole:
        return IntDistribution(int(one.low), int(one.high), log=one.logarithmic)
    return FloatDistribution(one.low, one.high, log=one.logarithmic)


def settings_of(trial: FrozenTrial, varied: Sequence[Varied]) -> tuple[str, ...]:
    """The settings of a trial, which `open_study` has checked; a killed process may have sampled only a part."""
    return tuple(one.setting(trial.params[one.field]) for one in varied if one.field in trial.params)

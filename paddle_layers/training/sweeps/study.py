"""The study of a sweep: Optuna's journal in its folder, and who works on which trial."""

from __future__ import annotations

import contextlib
import hashlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..problems import TrainingError
from ..results.run_files import compared, facts_of
from .space import Varied, parse_varied

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import FrozenTrial

    from paddle_layers.config import Training

JOURNAL, NAME, LOCK = "study.jsonl", "sweep", ".lock"


@dataclass(frozen=True)
class Sweep:
    """What is asked for; plain texts and numbers, since other processes get it."""

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
    """The study in the folder, a new one where there is none. Raises `TrainingError` for a damaged one."""
    try:
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend
    except ImportError:
        raise TrainingError("a sweep takes Optuna 4.0 or later: pip install 'paddle-layers[sweep]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    path = Path(sweep.folder) / JOURNAL
    direction: Literal["minimize", "maximize"] = "minimize" if sweep.mode == "min" else "maximize"
    try:
        storage = JournalStorage(JournalFileBackend(str(path)))
        return optuna.create_study(storage=storage, study_name=NAME, direction=direction, load_if_exists=True)
    except Exception as error:  # whatever Optuna makes of lines that are none of its own
        what = f"{type(error).__name__}: {error}"
        raise TrainingError(f"{path} cannot be read as the journal of a sweep: {what}") from None


def check_same(sweep: Sweep, training: Training) -> None:
    """The folder holds this sweep, or nothing yet. Raises `TrainingError`."""
    folder = Path(sweep.folder)
    others = folder.is_dir() and any(path.name != LOCK for path in folder.iterdir())
    if others and not (folder / JOURNAL).is_file():
        raise TrainingError(f"{folder} holds something else than a sweep; choose another folder with --output")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrainingError(f"the folder {folder} cannot be made: {error.strerror}") from None
    facts, _ = facts_of(training, folder, (), data=False)
    fields = hashlib.sha256(repr(sorted(compared(facts.fields).items())).encode()).hexdigest()
    asked: dict[str, Any] = {
        "--vary": sorted(sweep.vary),
        "--watch": sweep.watch,
        "--mode": sweep.mode,
        "the training": fields,
    }
    asked["the length"] = list(facts.length)
    with _lock(folder / LOCK, wait=True):
        study = open_study(sweep)
        before = study.user_attrs
        other = [name for name, value in asked.items() if name in before and before[name] != value]
        if other:
            raise TrainingError(
                f"{folder} holds a sweep where {', '.join(other)} {'was' if len(other) == 1 else 'were'} another; give "
                "the same command, or choose another folder with --output"
            )
        for name, value in asked.items():
            if name not in before:
                study.set_user_attr(name, value)


def next_trial(sweep: Sweep, study: Study, held: contextlib.ExitStack) -> FrozenTrial | None:
    """A trial that nobody works on, a new one where there is none; None when there are enough. It is `held` then."""
    from optuna.samplers import TPESampler

    with _lock(Path(sweep.folder) / LOCK, wait=True):
        there = study.get_trials(deepcopy=False)
        for one in there:
            if not one.state.is_finished() and _hold(sweep, one.number, held):
                return one
        if len(there) >= sweep.trials:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `constant_liar` is called experimental
            study.sampler = TPESampler(seed=(sweep.seed * 1_000_003 + len(there)) % 2**32, constant_liar=True)
        asked = study.ask({one.field: _distribution(one) for one in parse_varied(sweep.vary)})
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
    try:
        import fcntl
    except ImportError:  # Windows has no such locks: one process at a time
        yield
        return
    with path.open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield


def _distribution(one: Varied) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if one.choices:
        return CategoricalDistribution(one.choices)
    if one.whole:
        return IntDistribution(int(one.low), int(one.high), log=one.logarithmic)
    return FloatDistribution(one.low, one.high, log=one.logarithmic)


def settings_of(trial: FrozenTrial, varied: Sequence[Varied]) -> tuple[str, ...]:
    """What a trial sets. Raises `TrainingError` for the trial of another sweep."""
    if not {one.field for one in varied} <= trial.params.keys():
        raise TrainingError(f"trial {trial.number} of the journal is of another sweep")
    return tuple(one.setting(trial.params[one.field]) for one in varied)

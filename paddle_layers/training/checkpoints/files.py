"""Checkpoints: folders `step-00000500` with the weights, the optimizer states and the position of the training.

A checkpoint is written beside its place and renamed when it is complete, so a folder with that name is always complete.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from paddle_layers.define.output_folders import Folder, existing_folder, make_folder, open_folder
from paddle_layers.runtime.memory.tensorfiles import WeightsError, read_tensors, save_error, write_file, write_tensors
from paddle_layers.runtime.optimise.updater import PENDING

from ..problems import TrainingError
from .state import NEEDED, fault, save_state_files

if TYPE_CHECKING:
    from paddle_layers.runtime import Net

WEIGHTS, OPTIMIZER, FACTS = "weights.safetensors", "optimizer.safetensors", "state.json"
CARRIED = "carried/"
"""Begins the names of rows that go on from batch to batch, beside those of the optimizer's arrays."""
NAME, UNFINISHED = re.compile(r"step-[0-9]{8,}"), re.compile(r"\.step-[0-9]{8,}\.[0-9]+\.tmp")
"""Folders that trainings make; what is called otherwise is somebody else's, and stays."""


def save_checkpoint(
    folder: Path,
    step: int,
    net: Net,
    states: Mapping[str, NDArray[Any]],
    facts: Mapping[str, Any],
    *,
    files: Iterable[str] = (),
    keep: int,
    check: Callable[[], None] = lambda: None,
) -> Path:
    """Write the checkpoint of a step into `folder` and remove all but the newest `keep`.

    `states` are the optimizer's arrays, `facts` anything that JSON can hold, `files` those of the callbacks' states, by
    their paths in the output folder, which is the one above `folder`; `check` raises for weights that must not be
    saved, and is called when pending steps are made. Raises `SaveError` when the disk is full
    or the folder cannot be written; older checkpoints are then untouched.
    """
    name = f"step-{step:08d}"
    scrap = f".{name}.{os.getpid()}.tmp"
    try:
        make_folder(folder)  # not those above it: a training whose folder is removed does not make another
        with open_folder(folder) as own:
            own.remove_tree(scrap)
            try:
                own.make(scrap)
                write_tensors(folder / scrap / OPTIMIZER, states)  # first: saving the weights makes the pending steps
                net.save(str(folder / scrap / WEIGHTS))
                # After the weights, since saving them makes pending optimizer steps, which may overflow.
                check()
                write_file(folder / scrap / FACTS, json.dumps({"step": step, **facts}, indent=1).encode())
                save_state_files(folder.parent, folder / scrap, files)
                # The order after a power failure: contents first, then the name. Without the first sync a complete name
                # could belong to empty files, without the second the rename could be lost although older checkpoints
                # are removed.
                with own.folder(scrap) as whole:
                    whole.sync()
                # `replace` does not overwrite a folder that is not empty: that of an earlier sitting at the same step.
                own.remove_tree(name)
                own.replace(scrap, name)
                own.sync()
            finally:
                own.remove_tree(scrap)
            # Only after the new one is durable.
            for old in _steps(own)[:-keep]:
                own.remove_tree(old)
    except OSError as error:
        raise save_error(folder / name, error) from error
    return folder / name


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in a folder, oldest first."""
    with existing_folder(folder) as own:
        return [folder / name for name in _steps(own)] if own is not None else []


def remove_checkpoints(folder: Path) -> None:
    """Remove all checkpoints, and the folder if nothing else is in it."""
    remove_unfinished(folder)
    with existing_folder(folder) as own:
        if own is None:
            return
        for name in _steps(own):
            own.remove_tree(name)
    with open_folder(folder.parent) as above:
        above.remove_empty(folder.name)


def remove_unfinished(folder: Path) -> None:
    """Remove checkpoints that a killed training was writing; none may be writing now."""
    with existing_folder(folder) as own:
        if own is not None:
            for name in filter(UNFINISHED.fullmatch, own.names()):
                own.remove_tree(name)


def _steps(folder: Folder) -> list[str]:
    """Names of the checkpoints, oldest first."""
    found = [name for name in folder.names() if NAME.fullmatch(name) and folder.is_folder(name)]
    return sorted(found, key=lambda name: int(name.removeprefix("step-")))


def newest_checkpoint(folder: Path) -> Path:
    """The newest checkpoint; `TrainingError` without one."""
    found = checkpoints(folder)
    if not found:
        raise TrainingError(f"no checkpoint to resume from in {folder}; remove --resume to train from scratch")
    return found[-1]


def read_facts(checkpoint: Path, fixed: Mapping[str, Any], *, trained: Sequence[str], batches: int) -> dict[str, Any]:
    """The position of the training. `TrainingError` for a damaged file, or if a fact in `fixed` has changed."""
    path, remedy = checkpoint / FACTS, f"delete {checkpoint} to resume from the previous one"
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise TrainingError(f"cannot read {path}: {error}; {remedy}") from None
    # Unlike a damaged file, a changed setting is the user's decision, so it is checked afterward and has another
    # remedy.
    if not isinstance(facts, dict) or not all(name in facts for name in NEEDED):
        raise TrainingError(f"{path} is not a checkpoint; {remedy}")
    for name, before in (("accumulate", 1), ("monitored_phase", "test")):  # earlier versions did not have them
        facts.setdefault(name, before)
    changed = [
        f"{name} changed from {facts.get(name)} to {now}" for name, now in fixed.items() if facts.get(name) != now
    ]
    if changed:
        raise TrainingError(f"cannot resume from {checkpoint}: {', '.join(changed)}; choose another --output")
    if wrong := fault(facts, batches=batches):
        raise TrainingError(f"{path}: {wrong}; {remedy}")
    _check_trained(checkpoint, facts.get("trained", trained), trained)  # earlier versions have not noted it
    return facts


def _check_trained(checkpoint: Path, before: Sequence[str], now: Sequence[str]) -> None:
    """States of the optimizer are in the order of the trained parameters: the same ones have to be trained."""
    changed = [f"`{name}` is no longer trained" for name in before if name not in now]
    changed += [f"`{name}` was not trained before" for name in now if name not in before]
    if not changed:
        moved = zip(before, now, strict=False)
        changed = [f"`{other}` is where `{name}` was" for name, other in moved if name != other]
    if changed:
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        raise TrainingError(
            f"cannot resume from {checkpoint}: {', '.join(changed[:3])}{more}; to train other parameters, start a new "
            f'training with `weights {{ file: "{checkpoint / WEIGHTS}" }}` and another --output'
        )


def read_states(checkpoint: Path, sizes: Mapping[str, int]) -> dict[str, NDArray[Any]]:
    """The optimizer's arrays and what is carried; `TrainingError` when those are of another optimizer or network."""
    path, remedy = checkpoint / OPTIMIZER, f"delete {checkpoint} to resume from the previous one"
    try:
        found, _ = read_tensors(path)
    except WeightsError as error:
        raise TrainingError(f"{error}; {remedy}") from None
    shapes = {name: array.shape for name, array in found.items() if not name.startswith((PENDING, CARRIED))}
    if {name: (size,) for name, size in sizes.items()} != shapes:
        raise TrainingError(f"{path} belongs to another optimizer or network; resume with the original training file")
    for name, array in found.items():
        if array.dtype.kind != "f" and not name.startswith((PENDING, CARRIED)):
            raise TrainingError(f"{path}: `{name}` is {array.dtype}, expected floats; {remedy}")
    return found

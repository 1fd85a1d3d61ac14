"""Import of Caffe files: network, training file, weights, mean, and a report of the conversion."""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paddle_layers.config.diagnostics.diagnostic import Diagnostic, Source
from paddle_layers.config.diagnostics.report import ConfigError, DiagnosticReport, TooManyFaults
from paddle_layers.config.network import Network
from paddle_layers.define import Type
from paddle_layers.define.escaping import printable_line

from ..imported import NETWORK, REPORT, WEIGHTS, Content, ImportedFiles
from .binary import Weights, read_mean, read_model, weights_of
from .conversion import Conversion
from .layers import Fields, NetState
from .net_pairs import JoinedReport, NetPair
from .network import checked, convert_net, network_text
from .reading import Message, bind, fields_of_text, read_prototxt
from .solver import Solver, check_training, is_solver, states_of

TRAINING, MEAN = "train.textproto", "mean.npy"
"""Files of the folder beside those of every import."""


@dataclass
class CaffeImport(ImportedFiles):
    """Result of an import from Caffe."""

    network: Network | None
    texts: dict[str, str] = field(default_factory=dict)
    """Text files by name."""
    weights: Weights | None = None
    mean: NDArray[np.float32] | None = None
    notes: list[str] = field(default_factory=list)
    """Differences to Caffe and remaining work; also in the report."""

    @property
    def summary(self) -> str:
        """Output of the command: the report, or the contents of a mean."""
        if self.mean is not None and self.network is None:
            return f"mean of shape {'x'.join(map(str, self.mean.shape))}"
        return self.texts[REPORT]

    def files(self) -> dict[str, Content]:
        """Network, training and report, and what there is of weights and mean."""
        found: dict[str, Content] = dict(self.texts)
        if self.weights is not None:
            found[WEIGHTS] = self.weights.arrays
        if self.mean is not None:
            array = io.BytesIO()
            np.save(array, self.mean, allow_pickle=False)
            found[MEAN] = array.getvalue()
        return found


def import_mean(path: str | Path) -> CaffeImport:
    """The mean of a binaryproto, as the transform `mean` reads it. Raises `CaffeError`."""
    return CaffeImport(None, mean=read_mean(Path(path)))


def import_prototxt(
    path: str | Path,
    *,
    weights: str | Path | None = None,
    mean: str | Path | None = None,
    shapes: Mapping[str, Type] | None = None,
) -> CaffeImport:
    """A net, or a solver and the net that it names, with the weights of a caffemodel and the mean of a binaryproto.

    `shapes` are the types of inputs of which the files do not say how large they are. Raises `ConfigError` with
    everything that is not supported, `CaffeError`.
    """
    # First: its shape may determine that of the images.
    array = read_mean(Path(mean)) if mean is not None else None
    report = DiagnosticReport(Source(str(path), read_prototxt(Path(path))))
    reports = [report]
    try:
        found = _Import(reports, dict(shapes or {}), array).run(Path(path), weights)
    except TooManyFaults:
        raise ConfigError(_faults(reports)) from None
    found.mean = array
    return found


def _faults(reports: list[DiagnosticReport]) -> list[Diagnostic]:
    return [fault for report in reports for fault in report.sorted()]


class _Import:
    def __init__(
        self, reports: list[DiagnosticReport], shapes: dict[str, Type], mean: NDArray[np.float32] | None
    ) -> None:
        self.reports, self.shapes, self.mean = reports, shapes, mean
        self.notes: list[str] = []
        """Notes about the files, before there is a conversion."""

    def run(self, path: Path, weights: str | Path | None) -> CaffeImport:
        (report,) = self.reports
        fields = fields_of_text(report)
        self._stop()
        origins = [path.name]
        solver = bind("Solver", fields, 0, report) if is_solver(fields) else None
        net, net_report = (
            (bind("Net", fields, 0, report), report) if solver is None else self._net_of(solver, path, origins)
        )
        if net is None:
            self._stop()
        assert net is not None, "a missing net was reported"
        states = _states(net, solver)
        dims = self.mean.shape if self.mean is not None else None
        whole = convert_net(net, net_report, states, self.shapes, dims)
        whole.notes |= dict.fromkeys(self.notes)
        name = net["name"] or ""
        text = network_text(name, whole, ", ".join(origins)) if not self._failed else ""
        training = Solver(solver, report, whole) if solver is not None else None
        # The solver is converted even if the net has errors, so that those of both files are reported in one run.
        if self._failed:
            if training is not None:
                training.text(name, "", None)  # so that its errors are reported, too
            self._stop()
        # The generated text is checked like any other network file. The weights need the resulting shapes.
        network = checked(text, net_report)
        found = CaffeImport(network, {NETWORK: text})
        if weights is not None:
            # After the network: a caffemodel may be large, and errors in the text are the common case.
            found.weights = weights_of(read_model(Path(weights)), whole.stored, network, Path(weights))
        if training is not None:
            written = training.text(name, ", ".join(origins), _first_weights(found.weights))
            self._stop()
            check_training(written, network, report)
            self._stop()
            found.texts[TRAINING] = written
        elif any(feed.source or feed.transforms for feed in whole.feeds):
            whole.note(
                "sources and transforms of data layers belong in a training file: import the solver to convert them"
            )
        found.notes = [*whole.notes]
        found.texts[REPORT] = report_text(origins, whole, found.weights)
        return found

    def _net_of(self, solver: Message, path: Path, origins: list[str]) -> tuple[Message | None, DiagnosticReport]:
        """The net of a solver: in the solver, or in the files that it names."""
        (report,) = self.reports
        tests = [name for name in ("test_net", "test_net_param") if solver[name]]
        if "net" in solver or "net_param" in solver:
            self.notes += [f"{name}: not imported, since the solver has a net for both phases" for name in tests]
            return (solver["net_param"], report) if "net_param" in solver else self._net_of_file(solver, path, origins)
        if tests:
            return self._net_pair(solver, path, origins)
        if "train_net_param" in solver:
            return solver["train_net_param"], report
        return self._net_of_file(solver, path, origins)

    def _net_pair(self, solver: Message, path: Path, origins: list[str]) -> tuple[Message | None, DiagnosticReport]:
        """The nets of training and test as one: both in the solver, or both in files."""
        (report,) = self.reports
        inline = "train_net_param" in solver
        names = ("train_net_param", "test_net_param") if inline else ("train_net", "test_net")
        missing = next((name for name in names if not solver[name] or name not in solver), None)
        if missing is not None:
            help_ = f"add `{missing}`: both nets are in files, or both in the solver"
            report.add("E105", f"missing `{missing}`", solver.place("test_net"), help=help_)
            return None, report
        tests = solver[names[1]]
        if len(tests) > 1:
            self.notes.append(f"{names[1]}: only the first of {len(tests)} test nets is imported")
        if inline:
            return self._merged(solver["train_net_param"], tests[0], solver, report), report
        files = [file for name in names if (file := self._file_of(solver, name, path)) is not None]
        if len(files) < len(names):
            return None, report
        origins += [file.name for file in files]
        joined = JoinedReport(*(Source(str(file), read_prototxt(file)) for file in files))
        # Errors of the nets are first in the list: those of the solver may follow from them.
        self.reports.insert(0, joined)
        nets = joined.nets()
        return (None if nets is None else self._merged(*nets, solver, joined)), joined

    def _merged(self, train: Message, test: Message, solver: Message, report: DiagnosticReport) -> Message:
        states = (_states(train, solver)[0], _states(test, solver)[1])
        return NetPair(train, test, states).merge(report)

    def _net_of_file(self, solver: Message, path: Path, origins: list[str]) -> tuple[Message | None, DiagnosticReport]:
        (report,) = self.reports
        key = "net" if "net" in solver else "train_net"
        if not solver[key]:
            report.add("E105", "missing `net`", 0, help='add `net: "FILE"`')
            return None, report
        file = self._file_of(solver, key, path)
        if file is None:
            return None, report
        net_report = DiagnosticReport(Source(str(file), read_prototxt(file)))
        self.reports.insert(0, net_report)
        # Errors of the net are first in the list: those of the solver may follow from them.
        origins.append(file.name)
        fields = fields_of_text(net_report)
        self._stop()
        return bind("Net", fields, 0, net_report), net_report

    def _file_of(self, solver: Message, key: str, path: Path) -> Path | None:
        """The file that a field of the solver names; None after a report."""
        report, found = self.reports[-1], solver[key]
        given = found[0] if isinstance(found, list) else found
        # Caffe resolves paths relative to the working directory, usually its own root: a copied solver has the net
        # beside it.
        candidates = [Path(given), path.parent / given, path.parent / Path(given).name]
        file = next((one for one in candidates if os.path.isfile(one)), None)
        if file is None:
            help_ = f"copy it to {path.parent / Path(given).name}, beside the solver"
            report.add("E302", f"network file `{given}` not found", solver.place(key), help=help_)
        return file

    @property
    def _failed(self) -> bool:
        return any(report.failed for report in self.reports)

    def _stop(self) -> None:
        if self._failed:
            raise ConfigError(_faults(self.reports))


def _states(net: Message, solver: Message | None) -> list[NetState]:
    """The states for which rules are evaluated; a net may add levels and stages."""
    own = net["state"]
    states = states_of(solver) if solver is not None else [NetState("train"), NetState("test")]
    return [NetState(one.phase, max(one.level, own["level"]), one.stages | frozenset(own["stage"])) for one in states]


def _first_weights(weights: Weights | None) -> Fields | None:
    if weights is None:
        return None
    return {"file": WEIGHTS, "leave_out": [glob.escape(name) for name in weights.missing]}


def report_text(origins: list[str], whole: Conversion, weights: Weights | None) -> str:
    """Report of conversions, differences and omissions."""
    width = max((len(name) for name in whole.became), default=0)
    lines = [f"{', '.join(origins)}, imported by `paddle-layers import`", "", "Layers"]
    lines += [f"  {name:{width}}  {', '.join(made)}" for name, made in whole.became.items()]
    if whole.notes:
        lines += ["", "Notes", *(f"  {note}" for note in whole.notes)]
    if weights is not None:
        lines += ["", f"Weights: {len(weights.arrays)} parameters and states"]
        lines += [f"  missing in the caffemodel: {name}" for name in weights.missing]
        lines += [f"  unused, not in the net: layer {name}" for name in weights.unread]
    return "".join(f"{printable_line(line)}\n" for line in lines)

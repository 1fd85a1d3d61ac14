"""`python -m tests.gpu`, the program for machines with a card, in the simulator; and what it does when things fail."""

import csv
import importlib.util
import io
import os
import subprocess
import sys
import time
import warnings
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from paddle_layers.runtime import DeviceWarning
from tests.gpu import program
from tests.gpu.children import run_part
from tests.gpu.conformance import allowed
from tests.gpu.measurements import HEAD, write_measurements
from tests.gpu.page import table
from tests.gpu.parts import Measurement, Outcome, Part, Setup, load
from tests.selection import later_unless_changed, with_marks

ROOT = Path(__file__).resolve().parents[2]
STARTING = later_unless_changed(__file__, *map(str, (ROOT / "tests" / "gpu").glob("*.py")))
"""Marks of tests that start processes of the program, which its users see fail where there is a card."""


def behave(item, setup):
    """A part in which everything goes wrong that can; child processes find it here."""
    if item == "raise":
        raise ValueError("it `had` to be")
    if item == "crash":
        os._exit(3)
    if item == "hang":
        time.sleep(600)
    if item == "warn":
        warnings.warn("no CUDA kernel for it", DeviceWarning, stacklevel=1)
    return {"findings": ["far off"] if item == "differ" else [], "process": os.getpid()}


PART = Part(
    "Everything goes wrong",
    lambda _: ["fine", "raise", "differ", "crash", "warn", "fine again"],
    behave,
    lambda facts: [table(["Item"], [[item] for item in facts])],
)


def start(*arguments, **environment):
    command = [sys.executable, "-m", "tests.gpu", *arguments]
    changed = {**os.environ, **environment}
    return subprocess.run(command, cwd=ROOT, env=changed, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.slow
def test_all_parts_at_tiny_sizes_in_the_simulator(tmp_path):
    page = tmp_path / "page.md"
    done = start("--tiny", "--output", page, NUMBA_ENABLE_CUDASIM="1")
    text = page.read_text()
    assert done.returncode == 0, text + page.with_suffix(".log").read_text() + done.stderr
    absent = [] if importlib.util.find_spec("torch") else ["benchmark"]
    for line in done.stdout.splitlines():
        name, _, outcome = line.partition(": ")
        assert outcome.startswith("not run: PyTorch is not installed" if name in absent else "passed"), line
    assert len(done.stdout.splitlines()) == len(program.PARTS)
    for shown in ("simulator", "| relu  |", "| float32   |", "| MLP 4-4-4-10, batch 2"):
        assert shown in text


def test_the_measurements_are_those_of_the_performance_page():
    work = {"alone": {"ours": 1e-3, "torch": 2e-3, "tf32": 1e-3}, "called": {"ours": 1e-3, "torch": 2e-3}}
    layer = {**work, "bytes": 10**6}
    step = {**work, "operations": 10**9}
    facts = {
        "conformance": {"worst": {f"{way} float{bits}": 0.0 for way in ("plain", "tuned") for bits in (32, 64)}},
        "larger": {"worst": {"float32": 0.0, "float64": 0.0}},
        "compiling": {"seconds": 1.0},
        "digits": {"steps": 1350, "first": 0.0, "worst": 0.0, "accuracies": [1, 1], "seconds": [1, 1]},
        "memory": {"bytes": [1, 1, 1]},
    }
    outcomes = [load(program.PARTS[name]).measurements({"item": found}) for name, found in facts.items()]
    rates = {"gpu": "one", "copy": 1.0, "float32": 1.0, "tf32": 1.0}
    network = {"kind": "network", "rows": {"outputs": step, "step": step}}
    layers = {"kind": "layer", "rows": {"forward": layer, "forward and backward": layer}}
    benchmark = load(program.PARTS["benchmark"]).measurements({"1": rates, "2": network, "3": layers})
    written = {(row.benchmark, row.metric, row.unit) for rows in (*outcomes, benchmark) for row in rows}
    with (ROOT / "docs" / "development" / "benchmarks" / "gpu.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        assert written == {(row["benchmark"], row["metric"], row["unit"]) for row in reader}
        assert tuple(reader.fieldnames) == HEAD


def test_a_measurement_is_written_with_gpu_commit_and_versions(tmp_path):
    rows = [("GPU", "NVIDIA H100, 81559 MiB"), ("Commit", "abc"), ("torch", "2.11.0")]
    relu = Measurement("GPU layers", "relu", "forward", "ms", "1", "2", "PyTorch, TF32", "2.00")
    outcomes = {"environment": Outcome(facts={"facts": {"rows": rows}}), "benchmark": Outcome(measurements=[relu])}
    write_measurements(tmp_path / "gpu.csv", outcomes, "run it", datetime(2026, 11, 26, 13, 5, tzinfo=UTC))
    line = (tmp_path / "gpu.csv").read_text().splitlines()[1]
    run = "2026-11-26 13:05,abc,GPU: NVIDIA H100,,GPU layers"
    assert line == f'{run},relu,forward,ms,1,2,"PyTorch 2.11.0, TF32",2.00,run it'


@with_marks(STARTING)
def test_without_a_card_it_says_so_and_fails(tmp_path):
    page = tmp_path / "page.md"
    done = start("--output", page, CUDA_VISIBLE_DEVICES="", NUMBA_ENABLE_CUDASIM="0")
    assert done.returncode == 1
    assert "**device** failed: `DeviceError: " in page.read_text()
    assert page.read_text().count("Not run: there is no device to run it on.") == len(program.PARTS) - 1
    assert "Traceback" in page.with_suffix(".log").read_text()


@with_marks(STARTING)
def test_a_part_that_fails_is_recorded_and_the_others_go_on(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    here = "tests.cuda.test_gpu_program"
    parts = {"environment": "tests.gpu.environment", "missing": "tests.gpu.missing", "wrong": here}
    monkeypatch.setattr(program, "PARTS", parts)
    page = tmp_path / "page.md"
    assert program.run(Setup(tiny=True), [], 300, page, "the command") is False
    text = page.read_text()
    assert "| Everything goes wrong | 4 of 6 failed |" in text
    assert "* **raise** failed: `ValueError: it 'had' to be`" in text
    assert "* **crash** failed: `the process ended with the status 3; see the log`" in text
    assert "* **differ**: far off" in text
    assert "* **warn**: DeviceWarning: no CUDA kernel for it" in text
    assert "ModuleNotFoundError: No module named 'tests.gpu.missing'" in text
    assert "fine again |" in text
    log = page.with_suffix(".log").read_text()
    assert "ValueError: it `had` to be" in log
    assert "ModuleNotFoundError" in log


@with_marks(STARTING)
def test_a_part_that_hangs_is_stopped():
    hanging = PART._replace(items=lambda _: ["fine", "hang", "fine again"], share=1.0)
    outcome = run_part("tests.cuda.test_gpu_program", hanging, Setup(), time.monotonic() + 3, io.StringIO())
    assert outcome.left[-2:] == ["hang", "fine again"]  # and "fine" before them where processes start slowly
    assert not outcome.failed
    assert str(outcome).endswith("of 3 not run: no time left")


@with_marks(STARTING)
def test_items_are_shared_among_processes():
    shared = PART._replace(items=lambda _: ["1", "2", "3"], children=2)
    outcome = run_part("tests.cuda.test_gpu_program", shared, Setup(), time.monotonic() + 60, io.StringIO())
    assert list(outcome.facts) == ["1", "2", "3"]
    assert outcome.facts["1"]["process"] == outcome.facts["3"]["process"] != outcome.facts["2"]["process"]


@pytest.mark.parametrize(
    ("rounding", "may_differ"), [(0.0, 2e-5), (2e-6, 2e-5), (1e-5, 4e-5), (1e-2, 1e-4), (float("nan"), 1e-4)]
)
def test_a_device_may_round_as_much_as_the_cpu_where_terms_cancel_out(rounding, may_differ):
    exact = np.array([0.5, 1.0])
    assert allowed(np.array([0.5, 1.0 + rounding]), exact, "float32") == pytest.approx(may_differ)
    assert allowed(exact, exact, "float64") == 1e-12

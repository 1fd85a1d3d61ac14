"""Whole networks beside PyTorch and onnxruntime on this machine's CPU, as ratios: above 1, this library is faster.

    python -m tests.benchmarks.bench_networks [NAME ...] [--rounds 7] [--threads N] [--inference] [--compile] [--memory]
        [--undisturbed] [--lengths]

The networks are the configs in docs/examples/models; the other side is the same config as torch modules (twins.py)
with equal weights, whose scores are compared first. A training step is forward, cross entropy, backward and SGD with
momentum. torch runs as it comes, with channels_last images, and, with `--compile`, by torch.compile; the ratio is to
its best. Transformers have two blocks of the published width, so that a step takes seconds, and sequences of equal
length; with `--lengths` of 1 to 512 tokens, which torch pads. A batch of one is the test phase up to the scores,
onnxruntime beside it. Sides take turns in blocks within one process; figures are medians of blocks, or,
`--undisturbed`, tenth percentiles of single calls. With one thread the processor's time counts, so that others may use
the machine, unless `--undisturbed`. `--memory` is the peak of a training step above an idle process, each side in a
process of its own.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

import paddle_layers as pl
from paddle_layers.define import registries
from paddle_layers.runtime.optimise.updater import Updater
from paddle_layers.training.inference.outputs import part_for

from .bench_kernels import set_threads
from .ours import MOMENTUM, RATE, Run
from .timing import Timed, compare, undisturbed
from .twins import Twin, copy_weights, distance, lengths_mask, padded

MODELS = Path(__file__).parents[2] / "docs" / "examples" / "models"
BATCHES = {"mlp": 128, "lenet": 64, "alexnet": 16, "vgg16": 4, "resnet50": 4}
"""Samples of a training batch; 8 for the others."""
WITHOUT_TWINS = ("lstm", "t5", "two_tower")
"""Configs with layers that no twin has; for LSTMs see bench_recurrent."""
LANGUAGE = ("bert", "gpt2", "llama")
TRANSFORMERS = (*LANGUAGE, "vit_b16")
LENGTH, LONGEST, BLOCKS = 128, 512, 2
"""Tokens of a sequence, with `--lengths` at most so many; blocks of a transformer."""
BLOCK = 0.3
"""Seconds of a block, at least one step."""
NEAR = 2e-4
"""Largest difference of the scores, as a share of the largest."""


class Model:
    """A config, its net and its twin, with the same weights."""

    def __init__(self, path: Path, rows: int, lengths: bool = False) -> None:
        text = path.read_text()
        if path.stem in TRANSFORMERS:
            text = re.sub(r"times: \d+", f"times: {BLOCKS}", text)
        self.network = pl.loads(text)
        self.twin = Twin(self.network)
        self.feed(rows, lengths)
        self.net = pl.Net(self.network, keep=[self.twin.last])
        found = distance(self.net, self.twin, self.feeds)
        if found > NEAR:
            raise SystemExit(f"{path.stem}: both sides differ by {found:.1e}: nothing is timed")
        self.trained = self.net_without_kept_values()

    def net_without_kept_values(self) -> pl.Net:
        """A net as `train` makes it: the gradient of the scores takes over their memory."""
        net = pl.Net(self.network)
        for name, parameter in net.parameters.items():
            parameter.value[:] = self.net.parameters[name].value
        return net

    def feed(self, rows: int, lengths: bool = False) -> None:
        """A batch of so many samples, for both sides."""
        rng = np.random.default_rng(0)
        counts = rng.integers(1, LONGEST + 1, rows) if lengths else np.full(rows, LENGTH)
        starts = np.append(0, np.cumsum(counts))
        data = {node.name: node.output_types[0] for node in self.network.nodes if not node.definition.inputs}
        self.feeds: dict[str, Any] = {}
        for name, type_ in data.items():
            count = starts[-1] if type_.level else rows
            ids = type_.kind == "INT"
            array = rng.integers(0, type_.size, count) if ids else rng.standard_normal((count, *type_.dims), np.float32)
            self.feeds[name] = pl.Sequences(array, starts) if type_.level else array
        self.inputs = [padded(self.feeds[name]) for name in self.twin.fed]
        # torch ignores the label of padding.
        self.label = padded(self.feeds[self.twin.label], -100)
        self.twin.mask = lengths_mask(self.feeds[self.twin.fed[0]])

    @property
    def scored(self) -> dict[str, Any]:
        """The feeds without labels."""
        return {name: self.feeds[name] for name in self.twin.fed}


def our_step(model: Model) -> Run:
    """A training step of this library, as `train` makes it."""
    sgd = registries["optimizer"]["sgd"]
    updater = Updater(sgd, sgd.bind({"momentum": MOMENTUM}), model.trained)
    updater.update_in_backward(model.trained)

    def run() -> float:
        updater.begin_step(RATE, 1)
        model.trained.forward(model.feeds, step=0)
        model.trained.backward()
        updater.step(RATE, 1)
        return model.trained.loss

    return run


def torch_step(model: Model, inputs: Sequence[torch.Tensor], module: Any) -> Run:
    """A training step of torch."""
    optimizer = torch.optim.SGD(model.twin.parameters(), RATE, momentum=MOMENTUM, fused=True)

    def run() -> float:
        optimizer.zero_grad(set_to_none=True)
        loss = module(*inputs, label=model.label)
        loss.backward()
        optimizer.step()
        return float(loss.item())

    return run


def training(path: Path, rows: int, compiled: bool, lengths: bool) -> dict[str, Run]:
    """Sides of a training step by name."""
    model = Model(path, rows, lengths)
    sides = {"ours": our_step(model), "eager": torch_step(model, model.inputs, model.twin)}
    if model.inputs[0].ndim == 4:
        last = Model(path, rows)
        last.twin = last.twin.to(memory_format=torch.channels_last)
        sides["channels_last"] = torch_step(last, in_channels_last(last.inputs), last.twin)
    if compiled:
        again = Model(path, rows, lengths)
        sides["compile"] = torch_step(again, again.inputs, torch.compile(again.twin))
    return sides


def in_channels_last(images: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Images in the other layout."""
    return [image.to(memory_format=torch.channels_last) for image in images]


def scoring_net(model: Model) -> pl.Net:
    """The layers that the scores rest on, as `predict` runs them, with the model's weights."""
    net = pl.Net(part_for(model.network.select("test"), [model.twin.last]))
    for name, parameter in net.parameters.items():
        parameter.value[:] = model.net.parameters[name].value
    scores, expected = net.forward(model.scored, phase="test")[model.twin.last], model.net.value(model.twin.last)
    if isinstance(scores, pl.Sequences):
        scores, expected = scores.data, expected.data
    if not np.allclose(scores, expected, rtol=NEAR, atol=NEAR * np.abs(expected).max()):
        raise SystemExit(f"{model.network.name}: the scores of the part are others: nothing is timed")
    return net


def single(path: Path) -> dict[str, Run]:
    """Sides of the scores of a batch of one."""
    import onnxruntime

    model = Model(path, 1)
    net, feeds, inputs = scoring_net(model), model.scored, model.inputs
    twin = model.twin.eval()
    sides = {"ours": lambda: net.forward(feeds, phase="test"), "eager": scoring(twin, inputs)}
    if inputs[0].ndim == 4:
        last = Twin(model.network).eval()
        copy_weights(model.net, last)
        last = last.to(memory_format=torch.channels_last)
        sides["channels_last"] = scoring(last, in_channels_last(inputs))
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the newer exporter needs one more package; sizes are constants of the trace
        torch.onnx.export(twin, tuple(inputs), file, input_names=twin.fed, dynamo=False)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(file.getvalue(), options)
    arrays = {name: tensor.numpy() for name, tensor in zip(twin.fed, inputs, strict=True)}
    sides["onnxruntime"] = lambda: session.run(None, arrays)
    return sides


def scoring(module: Twin, inputs: Sequence[torch.Tensor]) -> Run:
    """The scores of a sample by torch."""

    def run() -> Any:
        with torch.inference_mode():
            return module(*inputs)

    return run


def peak(path: Path, rows: int, side: str) -> float:
    """MiB that three training steps need above the idle process, in a process of its own."""
    program = [sys.executable, "-m", "tests.benchmarks.bench_networks", "--peak", side, path.stem, str(rows)]
    return float(subprocess.run(program, check=True, capture_output=True, text=True).stdout)


def print_peak(side: str, name: str, rows: int) -> None:
    """What the process of `peak` prints."""
    model = Model(MODELS / f"{name}.textproto", 1)
    if side == "ours":  # compiles and loads the kernels
        our_step(model)()
        model.trained.close()
        model.trained = model.net_without_kept_values()
    model.feed(rows)
    idle = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts here
    step = our_step(model) if side == "ours" else torch_step(model, model.inputs, model.twin)
    for _ in range(3):
        step()
    print((resident("VmHWM") - idle) / 1024)


def resident(entry: str) -> int:
    """KiB of memory of this process, now (`VmRSS`) or at most so far (`VmHWM`)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(entry))


def line(name: str, kind: str, sides: Mapping[str, Run], options: argparse.Namespace) -> str:
    """A row of the table."""
    timed = {side: Timed(run, lambda: None) for side, run in sides.items()}
    if options.undisturbed:
        seconds = undisturbed(timed, rounds=options.rounds, seconds=BLOCK)
    else:
        clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
        seconds = compare(timed, rounds=options.rounds, seconds=BLOCK, clock=clock)
    ours = seconds.pop("ours")
    runtime = seconds.pop("onnxruntime", None)
    best = min(seconds, key=lambda side: seconds[side])
    text = f"{name:14}{kind:12}{ours * 1e3:9.3f}{seconds[best] * 1e3:10.3f} {best:14}{seconds[best] / ours:6.2f}"
    return text + (f"{runtime / ours:13.2f}" if runtime is not None else "")


def main() -> None:
    if sys.argv[1:2] == ["--peak"]:
        print_peak(sys.argv[2], sys.argv[3], int(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="models; all if none")
    parser.add_argument("--rounds", type=int, default=7, help="blocks of each side")
    parser.add_argument("--threads", type=int, default=0, help="threads of all sides; what each chooses if 0")
    parser.add_argument("--inference", action="store_true", help="a batch of one only")
    parser.add_argument("--compile", action="store_true", help="torch.compile beside the others")
    parser.add_argument("--memory", action="store_true", help="peak memory of a training step as well")
    parser.add_argument(
        "--lengths", action="store_true", help="training of transformers on sequences of 1 to 512 tokens"
    )
    parser.add_argument("--undisturbed", action="store_true", help="tenth percentiles of single calls")
    options = parser.parse_args()
    if options.threads:
        set_threads(options.threads)
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads; milliseconds\n")
    print(f"{'':26}{'ours':>9}{'torch':>10} {'its best':14}{'ratio':>6}{'onnxruntime':>13}")
    for path in sorted(MODELS.glob("*.textproto")):
        if options.names and path.stem not in options.names:
            continue
        if path.stem in WITHOUT_TWINS or (options.lengths and path.stem not in LANGUAGE):
            continue
        rows = BATCHES.get(path.stem, 8)
        if not options.inference:
            print(
                line(path.stem, f"step of {rows}", training(path, rows, options.compile, options.lengths), options),
                flush=True,
            )
        if not options.lengths:
            print(line(path.stem, "batch of 1", single(path), options), flush=True)
        if options.memory:
            mine, theirs = peak(path, rows, "ours"), peak(path, rows, "torch")
            print(f"{path.stem:14}{'peak, MiB':12}{mine:9.0f}{theirs:10.0f}{mine / theirs:21.2f}", flush=True)


if __name__ == "__main__":
    main()

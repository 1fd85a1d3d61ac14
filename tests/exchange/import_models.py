"""PyTorch models of the usual kinds, small, and their ONNX files by both exporters."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import onnx
import torch
from torch import nn
from torch.nn import functional


class Residual(nn.Module):
    def __init__(self, channels, filters, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, filters, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(filters)
        self.conv2 = nn.Conv2d(filters, filters, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(filters)
        self.short = None
        if stride != 1 or channels != filters:
            self.short = nn.Sequential(nn.Conv2d(channels, filters, 1, stride, bias=False), nn.BatchNorm2d(filters))

    def forward(self, x):
        y = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
        return functional.relu(y + (x if self.short is None else self.short(x)))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 4, 5, 2, 2), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        self.layer1, self.layer2 = Residual(4, 4, 1), Residual(4, 6, 2)
        self.pool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(6, 5)

    def forward(self, x):
        return self.fc(torch.flatten(self.pool(self.layer2(self.layer1(self.stem(x)))), 1))


class Excite(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, 2, 1), nn.Conv2d(2, channels, 1)

    def forward(self, x):
        return x * functional.hardsigmoid(self.up(functional.relu(self.down(functional.adaptive_avg_pool2d(x, 1)))))


class Inverted(nn.Module):
    def __init__(self, channels, wide, act, stride):
        super().__init__()
        self.expand, self.bn1 = nn.Conv2d(channels, wide, 1, bias=False), nn.BatchNorm2d(wide)
        self.deep = nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False)
        self.bn2, self.act = nn.BatchNorm2d(wide), act
        self.excite = Excite(wide)
        self.narrow, self.bn3 = nn.Conv2d(wide, channels, 1, bias=False), nn.BatchNorm2d(channels)
        self.around = stride == 1

    def forward(self, x):
        y = self.act(self.bn2(self.deep(self.act(self.bn1(self.expand(x))))))
        y = self.bn3(self.narrow(self.excite(y)))
        return x + y if self.around else y


class MobileNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, 2, 1)
        self.blocks = nn.Sequential(
            Inverted(4, 8, nn.ReLU6(), 1), Inverted(4, 8, nn.Hardswish(), 2), Inverted(4, 6, nn.SiLU(), 1)
        )
        self.drop, self.head = nn.Dropout(0.2), nn.Linear(4, 5)

    def forward(self, x):
        x = self.blocks(functional.hardswish(self.stem(x)))
        return self.head(self.drop(x.mean([2, 3])))


class Encoder(nn.Module):
    """A block of BERT, with embeddings before it and a classifier of the first row behind it."""

    def __init__(self, width=8, heads=2, norm_first=False):
        super().__init__()
        self.heads, self.norm_first = heads, norm_first
        self.words, self.places = nn.Embedding(11, width), nn.Embedding(6, width)
        self.norm0 = nn.LayerNorm(width)
        self.query, self.key, self.value = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.out, self.norm1 = nn.Linear(width, width), nn.LayerNorm(width)
        self.wide, self.narrow, self.norm2 = nn.Linear(width, 16), nn.Linear(16, width), nn.LayerNorm(width)
        self.scores = nn.Linear(width, 3)

    def attend(self, x):
        n, t, c = x.shape
        q, k, v = (m(x).view(n, t, self.heads, -1).transpose(1, 2) for m in (self.query, self.key, self.value))
        p = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(c // self.heads), -1)
        return self.out((p @ v).transpose(1, 2).reshape(n, t, c))

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))[None]
        x = self.norm0(x)
        x = self.norm1(x + self.attend(x))
        x = self.norm2(x + self.narrow(functional.gelu(self.wide(x))))
        return self.scores(torch.tanh(x[:, 0]))


class Fused(Encoder):
    """The same by PyTorch's own attention, causal, normalised before; the mean of all rows is classified."""

    def __init__(self):
        super().__init__()
        self.packed = nn.Linear(8, 24)

    def forward(self, ids):
        x = self.words(ids) * 2.0
        n, t, c = x.shape
        q, k, v = self.packed(self.norm0(x)).view(n, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(n, t, c))
        x = x + self.narrow(functional.gelu(self.wide(self.norm1(x))))
        return self.scores(self.norm2(x).mean(1))


class Multihead(nn.Module):
    """`nn.MultiheadAttention` over rows of numbers."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        return self.norm(x + self.attention(x, x, x, need_weights=False)[0])


class Recurrent(nn.Module):
    """A classifier of texts by LSTM, GRU or RNN."""

    def __init__(self, kind, *, both=False, layers=1, last="state"):
        super().__init__()
        self.words = nn.Embedding(11, 6)
        self.cells = kind(6, 5, layers, batch_first=True, bidirectional=both)
        self.scores, self.last = nn.Linear(10 if both else 5, 3), last

    def forward(self, ids):
        rows, state = self.cells(self.words(ids))
        state = state[0] if isinstance(state, tuple) else state
        if self.last == "state":
            found = torch.cat([state[-2], state[-1]], 1) if self.cells.bidirectional else state[-1]
        elif self.last == "mean":
            found = rows.mean(1)
        elif self.last == "max":
            found = rows.max(1).values
        else:
            found = rows[:, -1]
        return functional.log_softmax(self.scores(found), -1)


class Texts(nn.Module):
    """A convolution over the words of a text (Kim 2014)."""

    def __init__(self):
        super().__init__()
        self.words, self.conv, self.scores = nn.Embedding(11, 6), nn.Conv1d(6, 5, 3, padding=1), nn.Linear(5, 3)

    def forward(self, ids):
        return self.scores(functional.relu(self.conv(self.words(ids).transpose(1, 2))).max(2).values)


class Unet(nn.Module):
    """Down and up again, with a way around."""

    def __init__(self):
        super().__init__()
        self.first, self.down = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 6, 3, 2, 1)
        self.up, self.last = nn.ConvTranspose2d(6, 4, 2, 2), nn.Conv2d(8, 2, 3, padding=1)

    def forward(self, x):
        x = functional.leaky_relu(self.first(x), 0.1)
        y = functional.elu(self.down(x))
        y = functional.interpolate(self.up(y), size=(20, 18), mode="nearest")
        return torch.sigmoid(self.last(torch.cat([x, y], 1)))


class Layers(nn.Module):
    """PyTorch's own encoder; the layers are copies, so their weights are equal before training."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu")
        self.words, self.layers, self.scores = nn.Embedding(11, 8), nn.TransformerEncoder(layer, 2), nn.Linear(8, 3)

    def forward(self, ids):
        return self.scores(self.layers(self.words(ids)).mean(1))


def images(n=3):
    return torch.randn(n, 3, 20, 18)


def ids(n=3, t=5):
    return torch.randint(0, 11, (n, t))


MODELS = {
    "resnet": (ResNet, images),
    "mobilenet": (MobileNet, images),
    "bert": (Encoder, ids),
    "fused": (Fused, ids),
    "multihead": (Multihead, lambda n=3: torch.randn(n, 4, 8)),
    "lstm": (lambda: Recurrent(nn.LSTM), ids),
    "lstm-both": (lambda: Recurrent(nn.LSTM, both=True), ids),
    "lstm-deep": (lambda: Recurrent(nn.LSTM, both=True, layers=2, last="mean"), ids),
    "gru": (lambda: Recurrent(nn.GRU, last="row"), ids),
    "rnn": (lambda: Recurrent(nn.RNN, last="max"), ids),
    "texts": (Texts, ids),
    "encoder": (Layers, ids),
    "unet": (Unet, images),
    "mlp": (lambda: nn.Sequential(nn.Flatten(), nn.Linear(1080, 4), nn.GELU(), nn.Linear(4, 2), nn.Softmax(1)), images),
}


def model_of(name):
    """A model in the test phase, whose averages have moved, and an input."""
    torch.manual_seed(3)
    make, feed = MODELS[name]
    model = make()
    with torch.no_grad():
        for part in model.modules():
            if isinstance(part, (nn.BatchNorm2d, nn.LayerNorm)):
                part.weight.uniform_(0.5, 1.5)
                part.bias.normal_(0, 0.3)
        model.train()
        model(feed(6))
    return model.eval(), feed()


def _strip(path):
    """Leave out where in a program each node was written."""
    model = onnx.load(path)
    parts = [model, model.graph, *model.graph.node, *model.graph.value_info, *model.graph.input, *model.graph.output]
    for part in [*parts, *model.graph.initializer]:
        del part.metadata_props[:]
        part.ClearField("doc_string")
    onnx.save(model, path)


def save(name, path: Path, *, dynamo: bool, axes=("N",)):
    """Write the ONNX file; gives the model and its input. `axes` are dynamic."""
    model, x = model_of(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if dynamo:
            dims = dict.fromkeys(range(len(axes)), torch.export.Dim.AUTO)
            program = torch.onnx.export(model, (x,), dynamo=True, dynamic_shapes=({**dims},), verbose=False)
            program.save(str(path))
            _strip(path)
        else:
            torch.onnx.export(
                model, (x,), str(path), dynamo=False, opset_version=17, input_names=["x"], output_names=["y"],
                dynamic_axes={"x": dict(enumerate(axes)), "y": {0: "N"}},
            )  # fmt: skip
    return model, x


def store(folder: Path):
    """Write the models that the tests keep, for where PyTorch is not installed."""
    import numpy as np

    for name in MODELS:
        for dynamo in (False, True) if name in ("resnet", "bert", "lstm") else (False,):
            path = folder / f"{name}{'-dynamo' if dynamo else ''}.onnx"
            open_steps = MODELS[name][1] is ids and name != "encoder"  # the older exporter fixes the steps there
            model, x = save(name, path, dynamo=dynamo, axes=("N", "T") if open_steps else ("N",))
            with torch.no_grad():
                np.savez(path.with_suffix(".npz"), x=x.numpy(), y=model(x).numpy())


if __name__ == "__main__":
    store(Path(__file__).parents[1] / "onnx_models")

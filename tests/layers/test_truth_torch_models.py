"""The configs of transformers in docs/examples/models at small sizes: scores and gradients of Hugging Face's models."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle_layers as pl

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

MODELS = Path(__file__).resolve().parents[2] / "docs" / "examples" / "models"
# Both sides compute in float64, but Hugging Face's norms, softmax and angles in part in float32.
NEAR = {"rtol": 1e-5, "atol": 3e-6}
STARTS = np.array([0, 5, 6, 13])


def smaller(name: str, changes: Mapping[str, Any]) -> pl.Network:
    """The config of a model with other sizes and two blocks, without dropout."""
    text = re.sub(r" drop_rate: [\d.]+", "", (MODELS / f"{name}.textproto").read_text())
    text = re.sub(r"times: \d+", "times: 2", text)
    for old, new in changes.items():
        assert re.search(rf"\b{old}\b", text), old
        text = re.sub(rf"\b{old}\b", str(new), text)
    return pl.loads(text)


def stirred(model: Any) -> Any:
    """Random numbers in all parameters: biases start with 0, and gains with 1."""
    torch.manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.3 * torch.randn_like(parameter) + (parameter == 1))
    return model.double().eval()


def compare(
    network: pl.Network, model: Any, names: Callable[[str], str], feeds: dict[str, Any], scores: Callable[[], Any],
    labels: Any,
) -> None:  # fmt: skip
    """Equal scores, and equal gradients of all parameters, in float64; `names` finds a parameter there."""
    there = dict(model.named_parameters())
    with pl.Net(network, dtype="float64", keep=["scores"]) as net:
        for name, parameter in net.parameters.items():
            parameter.value[...] = as_here(name, there[names(name)], parameter.value.shape)
        net.forward(feeds, phase="train")
        found = rows_of(net.value("scores"))
        net.backward()
        expected = scores()
        loss = torch.nn.functional.cross_entropy(expected, torch.from_numpy(labels))
        loss.backward()
        np.testing.assert_allclose(found.reshape(expected.shape), expected.detach().numpy(), **NEAR)
        assert net.loss == pytest.approx(loss.item(), rel=1e-6)
        for name, parameter in net.parameters.items():
            gradient = as_here(name, there[names(name)].grad, parameter.value.shape)
            np.testing.assert_allclose(parameter.gradient, gradient, **NEAR, err_msg=name)


def rows_of(value: Any) -> Any:
    """The rows of a value, of all sequences."""
    return value.data if isinstance(value, pl.Sequences) else value


def as_here(name: str, tensor: Any, shape: tuple[int, ...]) -> Any:
    """A tensor in the form that it has here: Linear has a row for each output."""
    values = tensor.detach().numpy()
    return values.T if name.endswith(".weight") and values.ndim == 2 else values.reshape(shape)


def language_feeds(rng: np.random.Generator, names: tuple[str, str]) -> dict[str, Any]:
    """Sequences of three lengths."""
    return {name: pl.Sequences(rng.integers(0, 29, STARTS[-1]), STARTS) for name in names}


def each_sequence(run: Callable[[slice], Any]) -> Any:
    """The scores of all sequences, one after the other: without padding there as well."""
    return torch.cat([run(slice(*pair))[0] for pair in pairwise(STARTS)])


def renamed(name: str, blocks: str, parts: Mapping[str, str], others: Mapping[str, str]) -> str:
    """The name of a parameter there, from those of the parts of a block and of the layers around the blocks."""
    layer, _, parameter = name.rpartition(".")
    parameter = {"gain": "weight", "table": "weight"}.get(parameter, parameter)
    if found := re.fullmatch(r"blocks\.(\d+)\.(\w+)", layer):
        return f"{blocks}.{found[1]}.{parts[found[2]]}.{parameter}"
    return f"{others[layer]}.{parameter}"


def test_gpt2() -> None:
    config = transformers.GPT2Config(
        vocab_size=29, n_positions=32, n_embd=16, n_layer=2, n_head=4, n_inner=24, bos_token_id=0, eos_token_id=0,
        attn_implementation="eager",
    )  # fmt: skip
    model = stirred(transformers.GPT2LMHeadModel(config))
    # Its Conv1D has the weight as `fc` does, and one for queries, keys and values.
    state = {}
    for name, values in model.state_dict().items():
        if ".c_attn." in name:
            parts = zip(("query", "key", "value"), values.chunk(3, dim=-1), strict=True)
            state |= {name.replace("c_attn", part): value for part, value in parts}
        else:
            state[name] = values
    names = {
        "norm1": "ln_1", "query": "attn.query", "key": "attn.key", "value": "attn.value", "out_proj": "attn.c_proj",
        "norm2": "ln_2", "ffn_in": "mlp.c_fc", "ffn_out": "mlp.c_proj",
    }  # fmt: skip
    around = {"embedding": "transformer.wte", "position": "transformer.wpe", "norm": "transformer.ln_f"}
    network = smaller("gpt2", {"50257": 29, "768": 16, "3072": 24, "1024": 32, "heads = 12": "heads = 4"})
    feeds = language_feeds(np.random.default_rng(0), ("tokens", "next"))
    with pl.Net(network, dtype="float64", keep=["scores"]) as net:
        for name, parameter in net.parameters.items():
            parameter.value[...] = state[renamed(name, "transformer.h", names, around)].numpy()
        net.forward(feeds, phase="train")
        found = rows_of(net.value("scores"))
        ids = torch.from_numpy(feeds["tokens"].data)
        expected = each_sequence(lambda rows: model(ids[None, rows]).logits)
        np.testing.assert_allclose(found, expected.detach().numpy(), **NEAR)
        loss = torch.nn.functional.cross_entropy(expected, torch.from_numpy(feeds["next"].data))
        loss.backward()
        net.backward()
        assert net.loss == pytest.approx(loss.item(), rel=1e-6)
        tied = model.transformer.wte.weight.grad.numpy()
        np.testing.assert_allclose(net.parameters["embedding.table"].gradient, tied, **NEAR)


def test_bert() -> None:
    config = transformers.BertConfig(
        vocab_size=29, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24,
        max_position_embeddings=32, attn_implementation="eager",
    )  # fmt: skip
    model = stirred(transformers.BertForMaskedLM(config))
    parts = {part: f"attention.self.{part}" for part in ("query", "key", "value")} | {
        "out_proj": "attention.output.dense", "norm1": "attention.output.LayerNorm", "ffn_in": "intermediate.dense",
        "ffn_out": "output.dense", "norm2": "output.LayerNorm",
    }  # fmt: skip
    embeddings, head = "bert.embeddings", "cls.predictions"
    others = {
        "words": f"{embeddings}.word_embeddings", "types": f"{embeddings}.token_type_embeddings",
        "position": f"{embeddings}.position_embeddings", "norm": f"{embeddings}.LayerNorm",
        "transform": f"{head}.transform.dense", "transform_norm": f"{head}.transform.LayerNorm", "scores": head,
    }  # fmt: skip
    network = smaller("bert", {"30522": 29, "768": 16, "3072": 24, "512": 32, "heads = 12": "heads = 4"})
    rng = np.random.default_rng(1)
    feeds = language_feeds(rng, ("tokens", "masked"))
    feeds["masked"].data[::2] = -100
    feeds["segments"] = pl.Sequences(rng.integers(0, 2, STARTS[-1]), STARTS)
    ids, types = (torch.from_numpy(feeds[name].data) for name in ("tokens", "segments"))
    compare(
        network, model, lambda name: renamed(name, "bert.encoder.layer", parts, others), feeds,
        lambda: each_sequence(lambda rows: model(ids[None, rows], token_type_ids=types[None, rows]).logits),
        feeds["masked"].data,
    )  # fmt: skip


def test_llama() -> None:
    config = transformers.LlamaConfig(
        vocab_size=29, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=24, rms_norm_eps=1e-5, attn_implementation="eager",
    )  # fmt: skip
    model = stirred(transformers.LlamaForCausalLM(config))
    parts = {"query": "self_attn.q_proj", "key": "self_attn.k_proj", "value": "self_attn.v_proj"} | {
        "out_proj": "self_attn.o_proj", "norm1": "input_layernorm", "norm2": "post_attention_layernorm",
        "gate": "mlp.gate_proj", "ffn_in": "mlp.up_proj", "ffn_out": "mlp.down_proj",
    }  # fmt: skip
    others = {"embedding": "model.embed_tokens", "norm": "model.norm", "scores": "lm_head"}
    changes = {"32000": 29, "512": 16, "1408": 24, "head_size = 64": "head_size = 4", "heads = 8": "heads = 4"}
    feeds = language_feeds(np.random.default_rng(2), ("tokens", "next"))
    ids = torch.from_numpy(feeds["tokens"].data)
    compare(
        smaller("llama", changes), model, lambda name: renamed(name, "model.layers", parts, others), feeds,
        lambda: each_sequence(lambda rows: model(ids[None, rows]).logits), feeds["next"].data,
    )  # fmt: skip


def test_vit() -> None:
    config = transformers.ViTConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24, image_size=12, patch_size=4,
        layer_norm_eps=1e-6, num_labels=7, attn_implementation="eager",
    )  # fmt: skip
    model = stirred(transformers.ViTForImageClassification(config))
    parts = {part: f"attention.{part[0]}_proj" for part in ("query", "key", "value", "out_proj")}
    parts |= {"norm1": "layernorm_before", "norm2": "layernorm_after", "ffn_in": "mlp.fc1", "ffn_out": "mlp.fc2"}
    others = {"patches": "vit.embeddings.patch_embeddings.projection", "norm": "vit.layernorm", "scores": "classifier"}
    exact = {"position.table": "vit.embeddings.position_embeddings", "class.token": "vit.embeddings.cls_token"}
    changes = {"768": 16, "3072": 24, "224, 224": "12, 12", "filter_size: 16 stride: 16": "filter_size: 4 stride: 4"}
    network = smaller("vit_b16", changes | {"197": 10, "1000": 7, "heads = 12": "heads = 4"})
    rng = np.random.default_rng(3)
    feeds = {"image": rng.standard_normal((3, 3, 12, 12)), "label": rng.integers(0, 7, 3)}
    compare(
        network, model, lambda name: exact.get(name) or renamed(name, "vit.layers", parts, others), feeds,
        lambda: model(torch.from_numpy(feeds["image"])).logits, feeds["label"],
    )  # fmt: skip

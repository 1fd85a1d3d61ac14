"""The last batch of data has fewer samples than those before: `predict` and `generate` give the same for it."""

import numpy as np
import pytest

import paddle_layers as pl

COMPILED = True

CLASSES = """
layer { name: "x" type: "data" data { shape: 4 } }
layer { name: "l" type: "data" data { data_type: INT size: 300 } }
layer { name: "s" type: "fc" input: "x" fc { size: 300 } }
layer { name: "p" type: "softmax" input: "s" }
layer { name: "cost" type: "cross_entropy" input: "p" input: "l" }
"""
WORDS = """
layer { name: "src" type: "data" data { shape: 3 } }
layer { name: "before" type: "data" data { data_type: INT size: 6 seq_nested_level: 1 } }
layer { name: "words" type: "data" data { data_type: INT size: 6 seq_nested_level: 1 } }
layer { name: "e" type: "embedding" input: "before" embedding { size: 4 } }
layer { name: "w" type: "expand" input: "src" input: "e" }
layer { name: "m" type: "concat" input: "e" input: "w" }
layer { name: "q" type: "simple_gru" input: "m" simple_gru { size: 4 } }
layer { name: "s" type: "fc" input: "q" fc { size: 6 } }
layer { name: "p" type: "softmax" input: "s" }
layer { name: "cost" type: "cross_entropy" input: "p" input: "words" }
"""
TRAINING = """
net { %s }
steps: 1 batch_size: %d optimizer { type: "sgd" learning_rate: 0.1 }
source { type: "npz" npz { file: "d.npz" } } output: "out"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("d.npz", x=np.zeros(1))


def write(network, batch_size, more=""):
    """A training file and random weights."""
    rng = np.random.default_rng(0)
    with open("t.textproto", "w", encoding="utf-8") as file:
        file.write(TRAINING % (network, batch_size) + more)
    with pl.Net(pl.loads(network)) as net:
        for parameter in net.parameters.values():
            parameter.value = rng.normal(size=parameter.shape) * 1.5
        net.save("w.safetensors")


def test_probabilities_of_the_last_batch_add_up_to_one():
    write(CLASSES, 128)
    x = np.random.default_rng(0).normal(size=(133, 4))
    found = pl.predict("t.textproto", {"x": x}, weights="w.safetensors").values["p"]
    np.testing.assert_allclose(found.sum(1), 1, rtol=1e-5)


def test_generated_texts_do_not_depend_on_the_batch_of_their_sample():
    write(WORDS, 8, 'generate { words: "before" begin: 0 max_length: 4 beam_size: 1 }')
    src = np.random.default_rng(0).normal(size=(11, 3)).astype("f")

    def texts(samples):
        found = pl.generate("t.textproto", {"src": samples}, weights="w.safetensors").texts
        return [(text[0].words, round(text[0].score, 3)) for text in found]

    assert texts(src) == [texts(src[at : at + 1])[0] for at in range(11)]

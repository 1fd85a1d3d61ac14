"""Keras' models of the usual kinds, small, and the ONNX files that Keras makes of them with tf2onnx.

Needs TensorFlow, Keras and tf2onnx: `python -m tests.exchange.keras_models` writes what the tests keep.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
STORED = Path(__file__).parents[1] / "onnx_models" / "keras"
WORDS, STEPS = 11, 6


def classifier(cells, *, steps=None, mask=False, kind="int32"):
    """Texts: words, cells, three classes."""
    import keras
    from keras import layers

    ids = keras.Input((steps,), dtype=kind, name="ids")
    rows = layers.Embedding(WORDS, 4, mask_zero=mask)(ids)
    for one in cells:
        rows = one(rows)
    return keras.Model(ids, layers.Dense(3, activation="softmax")(rows))


def gru(**settings):
    from keras import layers

    return layers.GRU(3, **settings)


def deep():
    """Two layers, the first in both directions, over texts filled up with 0."""
    from keras import layers

    return classifier([layers.Bidirectional(gru(return_sequences=True)), gru(reset_after=False)], mask=True)


def lstm():
    """Over texts filled up with 0, from the end too."""
    from keras import layers

    return classifier([layers.Bidirectional(layers.LSTM(3))], mask=True)


def plain():
    """A plain recurrence, whose input nobody said to be whole numbers."""
    from keras import layers

    return classifier([layers.SimpleRNN(3)], steps=STEPS, kind="float32")


def block(rows, *, mask=None, causal=False, act="relu"):
    """Attention and two maps, each with what was there added, then normalised."""
    from keras import layers

    found = layers.MultiHeadAttention(2, 2)(rows, rows, attention_mask=mask, use_causal_mask=causal)
    rows = layers.LayerNormalization(epsilon=1e-6)(rows + layers.Dropout(0.1)(found))
    found = layers.Dense(4)(layers.Dense(8, activation=act)(rows))
    return layers.LayerNormalization(epsilon=1e-6)(rows + layers.Dropout(0.1)(found))


def embedded(ids):
    """Words and their places."""
    import keras
    from keras import layers

    class Places(layers.Layer):
        def __init__(self):
            super().__init__()
            self.words, self.places = layers.Embedding(WORDS, 4), layers.Embedding(STEPS, 4)

        def build(self, shape):
            self.words.build(shape)
            self.places.build(shape)

        def call(self, given):
            return self.words(given) + self.places(keras.ops.arange(keras.ops.shape(given)[-1]))

    return Places()(ids)


def encoder():
    """As BERT: words, places, segments, a mask of padding, the first row classified; gelu by the error function."""
    import keras
    from keras import layers

    names = ("ids", "segments", "mask")
    ids, segments, mask = (keras.Input((None,), dtype="int32", name=name) for name in names)
    rows = layers.LayerNormalization(epsilon=1e-12)(embedded(ids) + layers.Embedding(2, 4)(segments))
    seen = keras.ops.cast(mask, "bool")[:, None, :]
    for _ in range(2):
        rows = block(rows, mask=seen, act="gelu")
    return keras.Model([ids, segments, mask], layers.Dense(2)(layers.Dense(4, activation="tanh")(rows[:, 0, :])))


def decoder(steps=None):
    """Rows see those before alone; the mean of all is classified."""
    import keras
    from keras import layers

    ids = keras.Input((steps,), dtype="int32", name="ids")
    return keras.Model(ids, layers.Dense(2)(layers.GlobalAveragePooling1D()(block(embedded(ids), causal=True))))


def masked():
    """Attention and a mean that leave padding out: `Add` hands the mask on, which `+` does not."""
    import keras
    from keras import layers

    ids = keras.Input((None,), dtype="int32", name="ids")
    rows = layers.Embedding(WORDS, 4, mask_zero=True)(ids)
    rows = layers.LayerNormalization()(layers.Add()([rows, layers.MultiHeadAttention(2, 2)(rows, rows)]))
    return keras.Model(ids, layers.Dense(2)(layers.GlobalAveragePooling1D()(rows)))


def images():
    """Convolutions, channels last."""
    import keras
    from keras import layers

    image = keras.Input((9, 8, 3), name="image")
    found = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(4, 3, padding="same")(image)))
    found = layers.DepthwiseConv2D(3, padding="same")(layers.MaxPooling2D()(found))
    return keras.Model(image, layers.Dense(3)(layers.GlobalAveragePooling2D()(layers.ReLU(6.0)(found))))


MODELS = {
    "gru": lambda: classifier([gru()]),
    "gru-before": lambda: classifier([gru(reset_after=False, activation="relu", use_bias=False)], steps=STEPS),
    "gru-deep": deep,
    "lstm": lstm,
    "rnn": plain,
    "encoder": encoder,
    "decoder": decoder,
    "decoder-steps": lambda: decoder(STEPS),
    "masked": masked,
    "images": images,
}
PADDED = ("gru-deep", "lstm", "masked", "encoder")
"""Models that leave out what texts are filled up with."""


def arrays(name, inputs):
    """An array for each input; of texts, the second is short in models that know of it."""
    source = np.random.default_rng(5)
    found = {}
    for one in inputs:
        shape = [3, *(size or STEPS for size in one.shape[1:])]
        high = 2 if one.name == "segments" else WORDS
        array = source.integers(1, high, shape) if len(shape) == 2 else source.standard_normal(shape)
        array = np.ones_like(array) if one.name == "mask" else array
        if name in PADDED:
            array[1, 4:] = 0
        found[one.name] = array.astype(one.dtype)
    return found


def save(name, path):
    """Write the ONNX file as Keras does; gives the inputs and what Keras makes of them."""
    import keras

    keras.utils.set_random_seed(3)
    model = MODELS[name]()
    source = np.random.default_rng(4)
    model.set_weights([one + source.normal(0, 0.3, one.shape) ** 2 for one in model.get_weights()])
    feeds = arrays(name, model.inputs)
    wanted = model.predict([feeds[one.name] for one in model.inputs], verbose=0)
    model.export(str(path), format="onnx", verbose=False)
    return feeds, wanted


def store(folder: Path):
    """Write all, with inputs and outputs beside them."""
    folder.mkdir(exist_ok=True)
    for name in MODELS:
        path = folder / f"{name}.onnx"
        feeds, wanted = save(name, path)
        np.savez(path.with_suffix(".npz"), **{f"x.{key}": one for key, one in feeds.items()}, y=wanted)


if __name__ == "__main__":
    store(STORED)

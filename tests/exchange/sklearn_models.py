"""Pipelines of scikit-learn of the usual kinds, small, and the ONNX files that skl2onnx makes of them.

Needs scikit-learn and skl2onnx: `python -m tests.exchange.sklearn_models` writes what the tests keep.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

STORED = Path(__file__).parents[1] / "onnx_models" / "sklearn"


def pipelines():
    """Pipelines by name, with what they learn from."""
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    source = np.random.default_rng(0)
    x = source.normal(2, 3, (60, 4)).astype(np.float32)
    classes = source.integers(0, 3, 60)
    names, two = np.array(["ape", "bee", "cat"])[classes], classes > 0
    real = x @ source.normal(size=(4, 2))
    network = {"hidden_layer_sizes": (5,), "max_iter": 40, "random_state": 0}
    return x, {
        "logistic": (make_pipeline(StandardScaler(), LogisticRegression()), names),
        "logistic-two": (make_pipeline(StandardScaler(), LogisticRegression()), two),
        "network": (make_pipeline(StandardScaler(), MLPClassifier(**network)), names),
        "network-two": (make_pipeline(StandardScaler(), MLPClassifier(activation="tanh", **network)), two),
        "network-real": (make_pipeline(StandardScaler(), MLPRegressor(**network)), real),
        "linear": (make_pipeline(StandardScaler(), LinearRegression()), real[:, 0]),
    }


def store(folder: Path):
    """Write all, with rows and what scikit-learn makes of them."""
    from skl2onnx import to_onnx

    folder.mkdir(exist_ok=True)
    warnings.simplefilter("ignore")
    x, found = pipelines()
    for name, (pipeline, y) in found.items():
        pipeline.fit(x, y)
        (folder / f"{name}.onnx").write_bytes(to_onnx(pipeline, x[:1]).SerializeToString())
        wanted = pipeline.predict_proba(x[:7]) if hasattr(pipeline, "predict_proba") else pipeline.predict(x[:7])
        np.savez(folder / f"{name}.npz", X=x[:7], y=wanted.astype(np.float32))


if __name__ == "__main__":
    store(STORED)

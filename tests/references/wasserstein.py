"""Costs of carrying one distribution to another: Sinkhorn's iterations with matrices of logarithms."""

import numpy as np

LEAST = 1e-30


def factors(inputs, attributes):
    """Logarithms of both factors of the plan for all rows, and the distances."""
    x, target = (np.log(np.maximum(inputs[name], LEAST)) for name in ("x", "target"))
    distances = np.reshape(attributes["distances"], (x.shape[1], x.shape[1]))
    kernel = -attributes["sharpness"] * distances
    f = np.zeros_like(x)
    g = target - np.logaddexp.reduce(f[:, :, None] + kernel, axis=1)
    for _ in range(attributes["iterations"]):
        f = x - np.logaddexp.reduce(g[:, None, :] + kernel, axis=2)
        g = target - np.logaddexp.reduce(f[:, :, None] + kernel, axis=1)
    return f, g, distances


def wasserstein_loss(inputs, params, attributes):
    f, g, distances = factors(inputs, attributes)
    plan = np.exp(f[:, :, None] + g[:, None, :] - attributes["sharpness"] * distances)
    return {"cost": (plan * distances).sum(axis=(1, 2))}


def wasserstein_gradient(inputs, params, attributes, gradients):
    f, _, _ = factors(inputs, attributes)
    potential = f / attributes["sharpness"]
    return {"x": gradients["cost"][:, None] * (potential - potential.mean(axis=1, keepdims=True))}


REFERENCES = {"wasserstein_loss": wasserstein_loss}
REFERENCES_OF_GRADIENTS = {"wasserstein_loss": wasserstein_gradient}

"""Optimizers: what one weight does in one step. `rate` is the learning rate times the parameter's `lr_mult`.

Each `@step` gives the new weight, then its new states, which start at zero. Each `@lazy_update` says the same of a
gradient of zero, or of `penalty * value`, in a form in which many steps can be made at once.
"""

from __future__ import annotations

import math

from paddle_layers.define import AdaptiveStep, Float, State, lazy_update, optimizer, step


@optimizer("sgd", elsewhere={"Caffe": "SGD", "Mocha": "SGD", "Paddle": "momentum", "Keras": "SGD", "PyTorch": "SGD"})
class Sgd:
    """Gradient descent with momentum: v = momentum * v + rate * gradient; w -= v.

    The form of Caffe: a change of the rate does not change the steps that are already on their way. `momentum: 0` is
    plain gradient descent.
    """

    momentum = Float("share of the last step that is kept", default=0.9, min=0, below=1)
    velocity = State("the running step")


@step(Sgd)
def sgd_step(i, value, gradient, rate, velocity, momentum):
    v = momentum * velocity[i] + rate * gradient[i]
    return value[i] - v, v


@lazy_update(Sgd)
def sgd_lazy(rate, penalty, momentum):
    return (1 - rate * penalty, -momentum), (rate * penalty, momentum)


@optimizer("nesterov", elsewhere={"Caffe": "Nesterov", "Mocha": "Nesterov", "KUnet": "nesterov"})
class Nesterov:
    """Momentum that looks ahead: v' = momentum * v + rate * gradient; w -= (1 + momentum) * v' - momentum * v.

    Sutskever et al. 2013, in the form of Caffe.
    """

    momentum = Float("share of the last step that is kept", default=0.9, min=0, below=1)
    velocity = State("the running step")


@step(Nesterov)
def nesterov_step(i, value, gradient, rate, velocity, momentum):
    v = momentum * velocity[i] + rate * gradient[i]
    return value[i] - (1.0 + momentum) * v + momentum * velocity[i], v


@lazy_update(Nesterov)
def nesterov_lazy(rate, penalty, momentum):
    return (1 - (1 + momentum) * rate * penalty, -(momentum**2)), (rate * penalty, momentum)


@optimizer(
    "adagrad",
    elsewhere={"Caffe": "AdaGrad", "Paddle": "adagrad", "KUnet": "adagrad", "Keras": "Adagrad", "PyTorch": "Adagrad"},
)
class AdaGrad:
    """Steps divided by the root of all squared gradients so far: h += g²; w -= rate * g / (sqrt(h) + epsilon).

    Duchi et al. 2011, in the form of Caffe; Paddle puts epsilon (1e-6) under the root. Mocha's Adagrad is another rule:
    it divides a whole parameter by one number.
    """

    epsilon = Float("keeps the division finite", default=1e-8, above=0, aliases=("delta",))
    squares = State("sum of the squared gradients")


@step(AdaGrad)
def adagrad_step(i, value, gradient, rate, squares, epsilon):
    h = squares[i] + gradient[i] * gradient[i]
    return value[i] - rate * gradient[i] / (math.sqrt(h) + epsilon), h


@lazy_update(AdaGrad)
def adagrad_lazy():
    return (1, 0), (0, 1)


@optimizer(
    "rmsprop", elsewhere={"Caffe": "RMSProp", "Paddle": "decayed_adagrad", "Keras": "RMSprop", "PyTorch": "RMSprop"}
)
class RmsProp:
    """Steps divided by the root of a moving average of squared gradients.

    h = decay * h + (1 - decay) * g²; w -= rate * g / (sqrt(h) + epsilon). Tieleman and Hinton 2012, in the form of
    Caffe; Paddle's `decayed_adagrad` has `decay` 0.95 and epsilon (1e-6) under the root, and its `rmsprop` subtracts
    the squared average gradient, too.
    """

    decay = Float("share of the average that is kept", default=0.99, min=0, below=1, aliases=("rms_decay", "rho"))
    epsilon = Float("keeps the division finite", default=1e-8, above=0, aliases=("delta",))
    squares = State("moving average of the squared gradients")


@step(RmsProp)
def rmsprop_step(i, value, gradient, rate, squares, decay, epsilon):
    h = decay * squares[i] + (1.0 - decay) * gradient[i] * gradient[i]
    return value[i] - rate * gradient[i] / (math.sqrt(h) + epsilon), h


@lazy_update(RmsProp)
def rmsprop_lazy(decay):
    return (1, 0), (0, decay)


@optimizer("adam", elsewhere={"Caffe": "Adam", "Mocha": "Adam", "Paddle": "adam", "Keras": "Adam", "PyTorch": "Adam"})
class Adam:
    """Averages of the gradient and of its square, both corrected for their start at zero.

    m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * g²;
    w -= rate * sqrt(1 - beta2^t) / (1 - beta1^t) * m / (sqrt(v) + epsilon).
    Kingma and Ba 2015, the faster form at the end of their section 2, as in Caffe and Paddle.
    """

    beta1 = Float("share of the average gradient that is kept", default=0.9, min=0, below=1)
    beta2 = Float("share of the average square that is kept", default=0.999, min=0, below=1)
    epsilon = Float("keeps the division finite", default=1e-8, above=0)
    mean = State("moving average of the gradients")
    squares = State("moving average of the squared gradients")


@step(Adam)
def adam_step(i, value, gradient, rate, count, mean, squares, beta1, beta2, epsilon):
    m = beta1 * mean[i] + (1.0 - beta1) * gradient[i]
    v = beta2 * squares[i] + (1.0 - beta2) * gradient[i] * gradient[i]
    scale = rate * math.sqrt(1.0 - beta2**count) / (1.0 - beta1**count)
    return value[i] - scale * m / (math.sqrt(v) + epsilon), m, v


@lazy_update(Adam)
def adam_lazy(rate, count, beta1, beta2, epsilon):
    scale = rate * math.sqrt(1 - beta2**count) / (1 - beta1**count)
    return AdaptiveStep(scale, epsilon, mean=beta1, squares=beta2)


@optimizer("adamw")
class AdamW:
    """Adam with a decay of the weights that does not pass through the averages.

    As `adam`, but epsilon is added to the corrected root, and w -= rate * weight_decay * w. Loshchilov and Hutter
    2019, in the form of PyTorch. A regularizer of the training file is added to the gradient as for every optimizer.
    """

    beta1 = Float("share of the average gradient that is kept", default=0.9, min=0, below=1)
    beta2 = Float("share of the average square that is kept", default=0.999, min=0, below=1)
    epsilon = Float("keeps the division finite", default=1e-8, above=0)
    weight_decay = Float("share of a weight that a step of rate 1 takes away", default=0.01, min=0)
    mean = State("moving average of the gradients")
    squares = State("moving average of the squared gradients")


@step(AdamW)
def adamw_step(i, value, gradient, rate, count, mean, squares, beta1, beta2, epsilon, weight_decay):
    m = beta1 * mean[i] + (1.0 - beta1) * gradient[i]
    v = beta2 * squares[i] + (1.0 - beta2) * gradient[i] * gradient[i]
    root = math.sqrt(v / (1.0 - beta2**count)) + epsilon
    return value[i] - rate * (m / (1.0 - beta1**count) / root + weight_decay * value[i]), m, v


@lazy_update(AdamW)
def adamw_lazy(rate, count, beta1, beta2, epsilon, weight_decay):
    correction = math.sqrt(1 - beta2**count)  # of the root; both sides of the fraction are multiplied by it
    scale = rate * correction / (1 - beta1**count)
    return AdaptiveStep(scale, epsilon * correction, mean=beta1, squares=beta2, value=1 - rate * weight_decay)

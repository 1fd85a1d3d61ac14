"""Optimizers: the update of one weight in one step. `rate` is the learning rate times the parameter's `lr_mult`.

Each `@step` returns the new weight, then its new states, which start at zero; if there is a `@direction`, that returns
the states, and the step only the weight. Each `@lazy_update` describes the same for a gradient of zero, or of
`penalty * value`, in a form that combines many steps into one.
"""

from __future__ import annotations

import math

from paddle_layers.define import AdaptiveStep, Float, State, direction, lazy_update, optimizer, step


@optimizer(
    "sgd",
    elsewhere={"Caffe": "SGD", "Mocha": "SGD", "Paddle": "momentum", "Keras": "SGD", "PyTorch": "SGD"},
    terms=("stochastic gradient descent", "SGD", "momentum", "gradient descent"),
)
class Sgd:
    """Stochastic gradient descent (SGD) with momentum: v = momentum * v + rate * gradient; w -= v.

    The form of Caffe: a change of the learning rate does not affect the velocity. `momentum: 0` is plain gradient
    descent.
    """

    momentum = Float("momentum coefficient", default=0.9, min=0, below=1)
    velocity = State("velocity")


@step(Sgd)
def sgd_step(i, value, gradient, rate, velocity, momentum):
    v = momentum * velocity[i] + rate * gradient[i]
    return value[i] - v, v


@lazy_update(Sgd)
def sgd_lazy(rate, penalty, momentum):
    return (1 - rate * penalty, -momentum), (rate * penalty, momentum)


@optimizer(
    "nesterov",
    elsewhere={"Caffe": "Nesterov", "Mocha": "Nesterov", "KUnet": "nesterov"},
    terms=("Nesterov momentum", "Nesterov accelerated gradient", "NAG"),
)
class Nesterov:
    """SGD with Nesterov momentum: v' = momentum * v + rate * gradient; w -= (1 + momentum) * v' - momentum * v.

    Sutskever et al. 2013, in the form of Caffe.
    """

    momentum = Float("momentum coefficient", default=0.9, min=0, below=1)
    velocity = State("velocity")


@step(Nesterov)
def nesterov_step(i, value, gradient, rate, velocity, momentum):
    v = momentum * velocity[i] + rate * gradient[i]
    return value[i] - (1.0 + momentum) * v + momentum * velocity[i], v


@lazy_update(Nesterov)
def nesterov_lazy(rate, penalty, momentum):
    return (1 - (1 + momentum) * rate * penalty, -(momentum**2)), (rate * penalty, momentum)


@optimizer(
    "torch_momentum",
    elsewhere={"Paddle": "torch_momentum"},
    terms=("SGD with momentum in the form of PyTorch", "dampening"),
)
class TorchMomentum:
    """SGD with momentum in the form of PyTorch: v = momentum * v + (1 - dampening) * gradient; w -= rate * v.

    The first v is the gradient itself, and a change of the learning rate applies to the whole velocity, as in PyTorch's
    SGD. With a constant rate, `dampening: 0` is `sgd`, and a dampening equal to the momentum is Paddle's
    `torch_momentum`, whose steps are as long as those without momentum.
    """

    momentum = Float("momentum coefficient", default=0.9, min=0, below=1)
    dampening = Float("dampening of all gradients but the first", default=0.0, min=0, below=1)
    velocity = State("momentum buffer")


@step(TorchMomentum)
def torch_momentum_step(i, value, gradient, rate, count, velocity, momentum, dampening):
    # PyTorch initializes the buffer with the first gradient, undamped.
    share = 1.0 if count <= 1.0 else 1.0 - dampening
    v = momentum * velocity[i] + share * gradient[i]
    return value[i] - rate * v, v


@lazy_update(TorchMomentum)
def torch_momentum_lazy(rate, count, penalty, momentum, dampening):
    share = penalty * (1 if count <= 1 else 1 - dampening)
    return (1 - rate * share, -rate * momentum), (share, momentum)


@optimizer(
    "adagrad",
    elsewhere={"Caffe": "AdaGrad", "Paddle": "adagrad", "KUnet": "adagrad", "Keras": "Adagrad", "PyTorch": "Adagrad"},
    terms=("AdaGrad",),
)
class AdaGrad:
    """AdaGrad: steps divided by the root of the sum of squared gradients: h += g²; w -= rate * g / (sqrt(h) + epsilon).

    Duchi et al. 2011, in the form of Caffe; Paddle has epsilon (1e-6) under the root. Mocha's Adagrad is another rule:
    it divides a whole parameter by one value.
    """

    epsilon = Float("epsilon for numerical stability", default=1e-8, above=0, aliases=("delta",))
    squares = State("sum of the squared gradients")


@step(AdaGrad)
def adagrad_step(i, value, gradient, rate, squares, epsilon):
    h = squares[i] + gradient[i] * gradient[i]
    return value[i] - rate * gradient[i] / (math.sqrt(h) + epsilon), h


@lazy_update(AdaGrad)
def adagrad_lazy():
    return (1, 0), (0, 1)


@optimizer("rmsprop", elsewhere={"Caffe": "RMSProp", "Keras": "RMSprop", "PyTorch": "RMSprop"}, terms=("RMSprop",))
class RmsProp:
    """RMSprop: steps divided by the root of a moving average of squared gradients.

    h = decay * h + (1 - decay) * g²; w -= rate * g / (sqrt(h) + epsilon). Tieleman and Hinton 2012, in the form of
    Caffe; `decayed_adagrad` has epsilon under the root, `centered_rmsprop` divides by the standard deviation of the
    gradients.
    """

    decay = Float("decay of the moving average", default=0.99, min=0, below=1, aliases=("rms_decay", "rho"))
    epsilon = Float("epsilon for numerical stability", default=1e-8, above=0, aliases=("delta",))
    squares = State("moving average of the squared gradients (second moment)")


@step(RmsProp)
def rmsprop_step(i, value, gradient, rate, squares, decay, epsilon):
    h = decay * squares[i] + (1.0 - decay) * gradient[i] * gradient[i]
    return value[i] - rate * gradient[i] / (math.sqrt(h) + epsilon), h


@lazy_update(RmsProp)
def rmsprop_lazy(decay):
    return (1, 0), (0, decay)


@optimizer("decayed_adagrad", elsewhere={"Paddle": "decayed_adagrad"}, terms=("AdaGrad with decay",))
class DecayedAdaGrad:
    """AdaGrad with decay: h = decay * h + (1 - decay) * g²; w -= rate * g / sqrt(h + epsilon).

    The form of Paddle. `rmsprop` is the same with epsilon outside of the root.
    """

    decay = Float("decay of the moving average", default=0.95, min=0, below=1, aliases=("rho",))
    epsilon = Float("epsilon for numerical stability", default=1e-6, above=0)
    squares = State("moving average of the squared gradients (second moment)")


@step(DecayedAdaGrad)
def decayed_adagrad_step(i, value, gradient, rate, squares, decay, epsilon):
    h = decay * squares[i] + (1.0 - decay) * gradient[i] * gradient[i]
    return value[i] - rate * gradient[i] / math.sqrt(h + epsilon), h


@lazy_update(DecayedAdaGrad)
def decayed_adagrad_lazy(decay):
    return (1, 0), (0, decay)


@optimizer("centered_rmsprop", elsewhere={"Paddle": "rmsprop"}, terms=("centered RMSprop",))
class CenteredRmsProp:
    """Centered RMSprop: steps divided by the moving standard deviation of the gradients.

    w -= rate * g / (sqrt(variance) + epsilon), where variance = average of g² - (average of g)², both moving averages
    with `decay`: Graves 2013, PyTorch's RMSprop with `centered`. The variance itself is the state, so that rounding
    cannot make it negative. Paddle's `rmsprop` has epsilon (1e-6) under the root.
    """

    decay = Float("decay of the moving averages", default=0.95, min=0, below=1, aliases=("rho",))
    epsilon = Float("epsilon for numerical stability", default=1e-6, above=0)
    mean = State("moving average of the gradients (first moment)")
    variance = State("moving variance of the gradients")


@step(CenteredRmsProp)
def centered_rmsprop_step(i, value, gradient, rate, mean, variance, decay, epsilon):
    away = gradient[i] - mean[i]
    v = decay * (variance[i] + (1.0 - decay) * away * away)
    return value[i] - rate * gradient[i] / (math.sqrt(v) + epsilon), mean[i] + (1.0 - decay) * away, v


@optimizer(
    "adadelta",
    elsewhere={
        "Caffe": "AdaDelta", "Mocha": "Adadelta", "Paddle": "adadelta", "Keras": "Adadelta", "PyTorch": "Adadelta"
    }, terms=("Adadelta",))  # fmt: skip
class AdaDelta:
    """Adadelta: steps scaled by the ratio of moving averages of updates and gradients.

    h = decay * h + (1 - decay) * g²; d = g * sqrt((u + epsilon) / (h + epsilon)); u = decay * u + (1 - decay) * d²; w
    -= rate * d. Zeiler 2012, whose rule has no learning rate: set `learning_rate: 1`. The steps do not depend on the
    gradient scale. The form of Caffe and PyTorch; Mocha and Paddle ignore `lr_mult`.
    """

    decay = Float("decay of the moving averages", default=0.95, min=0, below=1, aliases=("rho",))
    epsilon = Float(
        "epsilon under the square roots; determines the size of the first steps",
        default=1e-6,
        above=0,
        aliases=("delta",),
    )
    squares = State("moving average of the squared gradients (second moment)")
    moves = State("moving average of the squared updates")


@step(AdaDelta)
def adadelta_step(i, value, gradient, rate, squares, moves, decay, epsilon):
    h = decay * squares[i] + (1.0 - decay) * gradient[i] * gradient[i]
    d = gradient[i] * math.sqrt((moves[i] + epsilon) / (h + epsilon))
    return value[i] - rate * d, h, decay * moves[i] + (1.0 - decay) * d * d


@lazy_update(AdaDelta)
def adadelta_lazy(decay):
    if decay == 0:  # the columns would say that no step reads the states
        return None
    return (1, 0, 0), (0, decay, 0), (0, 0, decay)


@optimizer(
    "adam",
    elsewhere={"Caffe": "Adam", "Mocha": "Adam", "Paddle": "adam", "Keras": "Adam", "PyTorch": "Adam"},
    terms=("Adam",),
)
class Adam:
    """Adam: moving averages of the gradient and of its square, with bias correction.

    m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * g²; w -= rate * sqrt(1 - beta2^t) / (1 - beta1^t) * m
    / (sqrt(v) + epsilon). Kingma and Ba 2015, the faster form at the end of their section 2, as in Caffe and Paddle.
    """

    beta1 = Float("decay of the first moment", default=0.9, min=0, below=1)
    beta2 = Float("decay of the second moment", default=0.999, min=0, below=1)
    epsilon = Float("epsilon for numerical stability", default=1e-8, above=0)
    mean = State("moving average of the gradients (first moment)")
    squares = State("moving average of the squared gradients (second moment)")


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


@optimizer(
    "adamw",
    elsewhere={"Keras": "AdamW", "PyTorch": "AdamW"},
    terms=("AdamW", "decoupled weight decay"),
)
class AdamW:
    """AdamW: Adam with decoupled weight decay.

    As `adam`, but epsilon is added to the bias-corrected root, and w -= rate * weight_decay * w. Loshchilov and Hutter
    2019, in the form of PyTorch. A regularizer of the training file is added to the gradient as for every optimizer.
    """

    beta1 = Float("decay of the first moment", default=0.9, min=0, below=1)
    beta2 = Float("decay of the second moment", default=0.999, min=0, below=1)
    epsilon = Float("epsilon for numerical stability", default=1e-8, above=0)
    weight_decay = Float("weight decay, relative to the learning rate", default=0.01, min=0)
    mean = State("moving average of the gradients (first moment)")
    squares = State("moving average of the squared gradients (second moment)")


@step(AdamW)
def adamw_step(i, value, gradient, rate, count, mean, squares, beta1, beta2, epsilon, weight_decay):
    m = beta1 * mean[i] + (1.0 - beta1) * gradient[i]
    v = beta2 * squares[i] + (1.0 - beta2) * gradient[i] * gradient[i]
    correction = math.sqrt(1.0 - beta2**count)  # of the root; both sides of the fraction are multiplied by it
    scale = rate * correction / (1.0 - beta1**count)
    return value[i] - scale * m / (math.sqrt(v) + epsilon * correction) - rate * weight_decay * value[i], m, v


@lazy_update(AdamW)
def adamw_lazy(rate, count, beta1, beta2, epsilon, weight_decay):
    correction = math.sqrt(1 - beta2**count)  # of the root; both sides of the fraction are multiplied by it
    scale = rate * correction / (1 - beta1**count)
    return AdaptiveStep(scale, epsilon * correction, mean=beta1, squares=beta2, value=1 - rate * weight_decay)


@optimizer("adamax", elsewhere={"Paddle": "adamax", "Keras": "Adamax", "PyTorch": "Adamax"}, terms=("Adamax",))
class Adamax:
    """Adamax: Adam with the exponentially weighted infinity norm instead of the second moment.

    m = beta1 * m + (1 - beta1) * g; u = max(beta2 * u, |g|); w -= rate / (1 - beta1^t) * m / (u + epsilon). Kingma and
    Ba 2015, section 7.1, with the epsilon of Keras; Paddle has none. The state is u² instead of u.
    """

    beta1 = Float("decay of the first moment", default=0.9, min=0, below=1)
    beta2 = Float("decay of the infinity norm", default=0.999, min=0, below=1)
    epsilon = Float("epsilon for numerical stability", default=1e-8, above=0)
    mean = State("moving average of the gradients (first moment)")
    squares = State("square of the exponentially weighted infinity norm")


@step(Adamax)
def adamax_step(i, value, gradient, rate, count, mean, squares, beta1, beta2, epsilon):
    m = beta1 * mean[i] + (1.0 - beta1) * gradient[i]
    u = max(beta2 * beta2 * squares[i], gradient[i] * gradient[i])
    return value[i] - rate / (1.0 - beta1**count) * m / (math.sqrt(u) + epsilon), m, u


@lazy_update(Adamax)
def adamax_lazy(rate, count, beta1, beta2, epsilon):
    return AdaptiveStep(rate / (1 - beta1**count), epsilon, mean=beta1, squares=beta2 * beta2)


@optimizer("lion", elsewhere={"Keras": "Lion"}, terms=("Lion",))
class Lion:
    """Lion: sign of an interpolated momentum, with decoupled weight decay.

    w -= rate * (sign(beta1 * m + (1 - beta1) * g) + weight_decay * w); m = beta2 * m + (1 - beta2) * g. Chen et al.
    2023. The learning rate should be 3 to 10 times smaller than Adam's, the weight decay larger by the same factor.
    """

    beta1 = Float("weight of the moving average in the update", default=0.9, min=0, below=1)
    beta2 = Float("decay of the first moment", default=0.99, min=0, below=1)
    weight_decay = Float("weight decay, relative to the learning rate", default=0.0, min=0)
    mean = State("moving average of the gradients (first moment)")


@step(Lion)
def lion_step(i, value, gradient, rate, mean, beta1, beta2, weight_decay):
    c = beta1 * mean[i] + (1.0 - beta1) * gradient[i]
    # As `np.sign`: zero stays zero and NaN stays NaN; a comparison alone would give -1.
    sign = 1.0 if c > 0 else -1.0 if c < 0 else c
    return value[i] - rate * (sign + weight_decay * value[i]), beta2 * mean[i] + (1.0 - beta2) * gradient[i]


@optimizer(
    "lamb",
    elsewhere={"Keras": "Lamb"},
    terms=("LAMB", "layer-wise adaptive learning rate"),
)
class Lamb:
    """LAMB: Adam with layer-wise adaptation of the step to the norm of the parameter, for very large batches.

    r = Adam's corrected mean / (root of the corrected square + epsilon) + weight_decay * w; w -= rate * |w| / |r| * r,
    with the norms of the whole parameter; if one of them is zero, w -= rate * r. You et al. 2020, without limits of the
    norm.
    """

    beta1 = Float("decay of the first moment", default=0.9, min=0, below=1)
    beta2 = Float("decay of the second moment", default=0.999, min=0, below=1)
    epsilon = Float("epsilon for numerical stability", default=1e-6, above=0)
    weight_decay = Float("weight decay", default=0.01, min=0)
    mean = State("moving average of the gradients (first moment)")
    squares = State("moving average of the squared gradients (second moment)")


@direction(Lamb)
def lamb_direction(i, value, gradient, count, mean, squares, beta1, beta2, epsilon, weight_decay):
    m = beta1 * mean[i] + (1.0 - beta1) * gradient[i]
    v = beta2 * squares[i] + (1.0 - beta2) * gradient[i] * gradient[i]
    root = math.sqrt(v / (1.0 - beta2**count)) + epsilon
    return m / (1.0 - beta1**count) / root + weight_decay * value[i], m, v


@step(Lamb)
def lamb_step(i, value, gradient, rate, value_norm, gradient_norm):
    ratio = 1.0
    if value_norm[0] > 0 and gradient_norm[0] > 0:
        ratio = value_norm[0] / gradient_norm[0]
    return value[i] - rate * ratio * gradient[i]

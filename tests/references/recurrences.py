"""References of recurrent layers and of their steps: a loop over rows, matrices inside."""

import itertools

import numpy as np

SQUASHES = {
    "tanh": np.tanh,
    "sigmoid": lambda v: 1.0 / (1.0 + np.exp(-v)),
    "relu": lambda v: np.maximum(v, 0.0),
    "linear": lambda v: v,
}


def along(inputs, attributes, units, step):
    """What `step(row, states)` gives for every row in the order of its sequence."""
    starts = inputs["x.starts"][-1]
    y, ends = np.zeros((len(inputs["x"]), units)), []
    given = [inputs.get(name) for name in ("initial", "initial_state")]
    for place, (first, last) in enumerate(itertools.pairwise(starts)):
        states = [np.zeros(units) if rows is None else rows[place] for rows in given]
        rows = range(first, last)
        for t in reversed(rows) if attributes["reverse"] else rows:
            states = step(inputs["x"][t], states)
            y[t] = states[0]
        ends.append(states[-1])
    return {"y": y, "last_state": np.array(ends).reshape(-1, units)}


def lstm_cell(sums, bias, c, attributes):
    """Output and state."""
    act, gate, shown = (SQUASHES[attributes[name]] for name in ("act", "gate_act", "state_act"))
    K = c.shape[-1]
    p_i, p_f, p_o = bias[4 * K :].reshape(3, K) if attributes["peepholes"] else np.zeros((3, K))
    s_a, s_i, s_f, s_o = np.split(sums + bias[: 4 * K], 4, axis=-1)
    new = act(s_a) * gate(s_i + p_i * c) + c * gate(s_f + p_f * c)
    return gate(s_o + p_o * new) * shown(new), new


def gru_cell(sums, weight, bias, h, attributes):
    """Output."""
    act, gate = (SQUASHES[attributes[name]] for name in ("act", "gate_act"))
    W_u, W_r, W_c = np.split(weight, 3, axis=1)
    s_u, s_r, s_c = np.split(sums + bias[: sums.shape[-1]], 3, axis=-1)
    u, r = gate(s_u + h @ W_u), gate(s_r + h @ W_r)
    recalled = r * (h @ W_c + bias[sums.shape[-1] :]) if attributes["reset_after"] else (r * h) @ W_c
    return (1 - u) * h + u * act(s_c + recalled)


def recurrent(inputs, params, attributes):
    act = SQUASHES[attributes["act"]]

    def step(row, states):
        return [act(row + states[0] @ params["weight"] + params["bias"])]

    return along(inputs, attributes, inputs["x"].shape[1], step)


def lstmemory(inputs, params, attributes):
    def step(row, states):
        return lstm_cell(row + states[0] @ params["weight"], params["bias"], states[1], attributes)

    return along(inputs, attributes, inputs["x"].shape[1] // 4, step)


def grumemory(inputs, params, attributes):
    def step(row, states):
        return [gru_cell(row, params["weight"], params["bias"], states[0], attributes)]

    return along(inputs, attributes, inputs["x"].shape[1] // 3, step)


def mdlstmemory(inputs, params, attributes):
    """Point by point, over images that are turned so that the recurrence begins at the top on the left."""
    act, gate, shown = (SQUASHES[attributes[name]] for name in ("act", "gate_act", "state_act"))
    axes = [axis for axis, name in ((2, "reverse_y"), (3, "reverse")) if attributes[name]]
    x = np.flip(inputs["x"], axes)
    K = x.shape[1] // 5
    bias, (p_i, p_f, p_g, p_o) = params["bias"][: 5 * K], params["bias"][5 * K :].reshape(4, K)
    y, c = (np.zeros((len(x), K, x.shape[2] + 1, x.shape[3] + 1)) for _ in range(2))  # zeros above and on the left
    for n, h, w in np.ndindex(len(x), *x.shape[2:]):
        above, left = c[n, :, h, w + 1], c[n, :, h + 1, w]
        sums = x[n, :, h, w] + (y[n, :, h, w + 1] + y[n, :, h + 1, w]) @ params["weight"] + bias
        s_a, s_i, s_f, s_g, s_o = np.split(sums, 5)
        new = act(s_a) * gate(s_i + p_i * (above + left))
        new = new + gate(s_f + p_f * above) * above + gate(s_g + p_g * left) * left
        y[n, :, h + 1, w + 1], c[n, :, h + 1, w + 1] = gate(s_o + p_o * new) * shown(new), new
    return {"y": np.flip(y[:, :, 1:, 1:], axes)}


def lstm_step(inputs, params, attributes):
    y, state = lstm_cell(inputs["x"], params["bias"], inputs["previous"], attributes)
    return {"y": y, "state": state}


def gru_step(inputs, params, attributes):
    return {"y": gru_cell(inputs["x"], params["weight"], params["bias"], inputs["previous"], attributes)}


REFERENCES = {
    "recurrent": recurrent,
    "lstmemory": lstmemory,
    "grumemory": grumemory,
    "mdlstmemory": mdlstmemory,
    "lstm_step": lstm_step,
    "gru_step": gru_step,
}
